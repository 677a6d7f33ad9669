package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
)

// env is a client with a program that forwards to a fake host.
type env struct {
	*Server
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error
}

// newEnv starts a program. host answers what is forwarded; nil: nobody is signed in.
func newEnv(t *testing.T, host http.HandlerFunc) *env {
	t.Helper()
	e := &env{done: make(chan error, 1)}
	e.Server = &Server{
		Host: &Host{
			Access: func(context.Context, secret.Text) (Access, error) {
				return Access{}, failure.New(failure.Auth, "not_authenticated", "nobody is signed in")
			},
			HTTP: http.DefaultClient,
		},
		SignIn: "vitrine mcp login",
		Log:    t.Logf,
		Publish: func(_ context.Context, in Arguments, folders []string) (Published, error) {
			value, err := json.Marshal(map[string]any{"path": in.Path, "folders": folders})
			return Published{Value: value, Line: "the link"}, err
		},
		Places: Places{Allowed: []string{t.TempDir()}},
	}
	if host != nil {
		s := httptest.NewServer(host)
		t.Cleanup(s.Close)
		e.Host.Access = func(_ context.Context, refused secret.Text) (Access, error) {
			return Access{s.URL, "token" + refused}, nil
		}
	}
	return e
}

func (e *env) start(t *testing.T) *env {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	e.in, e.out = stdin, bufio.NewReaderSize(stdout, MaxMessage)
	go func() {
		err := e.Serve(t.Context(), in, out)
		out.Close()
		e.done <- err
	}()
	return e
}

func (e *env) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(e.in, text); err != nil {
		t.Fatal(err)
	}
}

// next is the next line, which has to be a JSON object.
func (e *env) next(t *testing.T) string {
	t.Helper()
	line, err := e.out.ReadString('\n')
	if err != nil || members(json.RawMessage(line)) == nil {
		t.Fatalf("it writes %.200q, error %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// end ends the input. The program must have nothing left to say.
func (e *env) end(t *testing.T) {
	t.Helper()
	e.in.Close()
	if rest, _ := io.ReadAll(e.out); len(rest) > 0 {
		t.Errorf("at the end it writes %.200s", rest)
	}
	if err := <-e.done; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func wantParts(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%.300s has no %s", got, p)
		}
	}
}

func TestWhatIsNoMessageIsRefusedAndTheNextOneAnswered(t *testing.T) {
	e := newEnv(t, nil).start(t)
	for _, tt := range []struct{ name, line, want string }{
		{"no JSON", "{", `"code":-32700`},
		{"text", "hello", `"code":-32700`},
		{"NUL", "\x00", `"code":-32700`},
		{"two objects", "{} {}", `"code":-32700`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"code":-32600`},
		{"a number", "7", `"code":-32600`},
		{"17 MiB", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 17<<20) + `"}`, `"code":-32600`},
	} {
		e.send(t, tt.line+"\n")
		t.Log(tt.name)
		wantParts(t, e.next(t), `"id":null`, tt.want)
		e.send(t, `{"jsonrpc":"2.0","id":"a","method":"ping"}`+"\r\n\n")
		wantParts(t, e.next(t), `"id":"a"`, `"result":{}`)
	}
	e.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n")
	e.end(t)
}

func TestALineThatEndsWithTheInputIsAnswered(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`: `"result":{}`,
		`{"jsonrpc":"2.0","id":1,"meth`:            `"code":-32700`,
	} {
		e := newEnv(t, nil).start(t)
		e.send(t, line)
		e.in.Close()
		wantParts(t, e.next(t), want)
		e.end(t)
	}
}

// TestRequestsAreForwardedUnchanged also holds the headers of each revision to what the host gets.
func TestRequestsAreForwardedUnchanged(t *testing.T) {
	e := newEnv(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		if h.Get("Authorization") != "Bearer token" || h.Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", h)
		}
		var m struct{ ID json.RawMessage }
		_ = json.Unmarshal(body, &m)
		answer, _ := encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
			"protocolVersion": "2025-11-25", "body": string(body),
			"headers": h.Get("Mcp-Protocol-Version") + "|" + h.Get("Mcp-Method") + "|" + h.Get("Mcp-Name"),
		}})
		w.Write(append(answer, "\n "...))
	}).start(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, tt := range []struct{ line, headers string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, "||"},
		{`{ "jsonrpc": "2.0", "id": 2, "method": "resources/list", "more": 1.50 }`, "2025-11-25||"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"whoami",` + meta + `}}`, "2026-07-28|tools/call|whoami"},
		{`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"a://ü",` + meta + `}}`,
			"2026-07-28|resources/read|=?base64?YTovL8O8?="},
		{`{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{` + meta + `}}`, "2026-07-28|server/discover|"},
	} {
		e.send(t, tt.line+"\n")
		var got struct {
			Result struct{ Body, Headers string }
		}
		err := json.Unmarshal([]byte(e.next(t)), &got)
		if err != nil || got.Result.Body != tt.line || got.Result.Headers != tt.headers {
			t.Errorf("%s arrives as %+v", tt.line, got)
		}
	}
	e.end(t)
}

func TestAnswersComeAsTheyAreReadyAndCancelledOnesDoNot(t *testing.T) {
	slow, began := make(chan struct{}), make(chan struct{}, 2)
	e := newEnv(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := parse(body)
		if m.method == "slow" {
			began <- struct{}{}
			select {
			case <-slow:
			case <-r.Context().Done():
			}
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"text":%q}}`, m.id, strings.Repeat("y", 4<<20))
	}).start(t)
	e.send(t, `{"jsonrpc":"2.0","id":1,"method":"slow"}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"slow"}`+"\n")
	<-began
	<-began
	e.send(t, `{"jsonrpc":"2.0","id":3,"method":"fast"}`+"\n")
	wantParts(t, e.next(t)[:40], `"id":3`)
	e.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
	close(slow)
	wantParts(t, e.next(t)[:40], `"id":2`)
	e.end(t)
}

func TestWhatIsNoAnswerOfTheProtocolIsAFailureWithANextStep(t *testing.T) {
	for _, tt := range []struct {
		name string
		host http.HandlerFunc
		want string
	}{
		{"a gateway", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			io.WriteString(w, `{"message":"Internal Server Error"}`)
		}, "answers 502"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<p>") }, "answers 200"},
		{"a cut answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			io.WriteString(w, "{")
		}, "no response from"},
		{
			"a token that is refused twice", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
			"vitrine mcp login",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnv(t, tt.host).start(t)
			e.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami"}}`+"\n")
			wantParts(t, e.next(t), `"isError":true`, tt.want, `\"hint\":`)
			e.end(t)
		})
	}
}

func TestARefusalWithoutAnIDGetsThatOfItsRequest(t *testing.T) {
	e := newEnv(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(403)
		io.WriteString(w, "{\n\"jsonrpc\":\"2.0\",\n\"error\":{\"code\":-32000,\"message\":\"no\"}}")
	}).start(t)
	e.send(t, `{"jsonrpc":"2.0","id":"x","method":"ping"}`+"\n")
	wantParts(t, e.next(t), `{"id":"x","jsonrpc":"2.0","error":{"code":-32000`)
	e.end(t)
}

func TestTheToolIsAddedToTheLastPageAndNothingElseChanges(t *testing.T) {
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"ttlMs":5,"tools":[{"name":"b"}, {"name":"a"}],"x":[1.50]}}`: `{"jsonrpc":"2.0","id":1,` +
			`"result":{"ttlMs":5,"tools":[{"name":"b"},{"name":"a"},TOOL],"x":[1.50]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`:                  `{"jsonrpc":"2.0","id":1,"result":{"tools":[TOOL]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"n"}}`: `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":"n"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"tools"}}`:   `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"tools"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":null}}`:                `{"jsonrpc":"2.0","id":1,"result":{"tools":null}}`,
	} {
		e := newEnv(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) }).start(t)
		e.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n")
		if got := e.next(t); got != strings.Replace(want, "TOOL", string(tool), 1) {
			t.Errorf("%s becomes %s", answer, got)
		}
		e.end(t)
	}
}

func TestAPanicEndsItsAnswerAlone(t *testing.T) {
	e := newEnv(t, nil)
	e.Publish = func(context.Context, Arguments, []string) (Published, error) { panic("broken") }
	e.start(t)
	e.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_path","arguments":{"path":"x"}}}`+"\n")
	wantParts(t, e.next(t), `"id":1`, `"code":-32603`)
	e.send(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	wantParts(t, e.next(t), `"id":2`, `"result"`)
	e.end(t)
}

func TestArgumentsThatDoNotFitAreRefused(t *testing.T) {
	e := newEnv(t, nil).start(t)
	for _, args := range []string{
		"", `{}`, `{"path":""}`, `{"path":7}`, `{"path":"x","more":1}`, `{"path":"x","artifact_id":"art_x"}`, `[]`, `"x"`,
		"null",
	} {
		params := `{"name":"publish_path","arguments":` + args + `}`
		if args == "" {
			params = `{"name":"publish_path"}`
		}
		e.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+"}\n")
		wantParts(t, e.next(t), `"isError":true`, `\"code\":\"invalid_request\"`, `\"hint\":`)
	}
	e.end(t)
}

func TestAFailedPublishIsAResult(t *testing.T) {
	e := newEnv(t, nil)
	e.Publish = func(context.Context, Arguments, []string) (Published, error) {
		return Published{}, errors.New("unknown")
	}
	e.start(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	e.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_path",`+meta+
		`,"arguments":{"path":"x"}}}`+"\n")
	wantParts(t, e.next(t), `"isError":true`, `"resultType":"complete"`, `\"message\":\"unknown\"`)
	e.end(t)
}
