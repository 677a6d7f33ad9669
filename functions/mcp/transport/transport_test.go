package transport_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

// echo is the argument of the only tool, and what it answers.
type echo struct {
	Text string `json:"text"`
}

// newHandler serves a tool of the SDK as the host does.
func newHandler(change ...func(*transport.Handler)) *transport.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echo) (
		*mcp.CallToolResult, echo, error) {
		return nil, in, nil
	})
	h := &transport.Handler{
		SDK: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless:                  true,
			JSONResponse:               true,
			DisableLocalhostProtection: true,
		}),
		Methods: []string{"initialize", "ping", "server/discover", "tools/list", "tools/call"},
		MaxBody: limits.MCPBody,
	}
	for _, f := range change {
		f(h)
	}
	return h
}

// answer is an answer with what JSON-RPC says in it.
type answer struct {
	*httptest.ResponseRecorder
	ID     json.RawMessage
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// reason returns the code of the service in an error.
func (a answer) reason() string {
	var data struct{ Code string }
	if json.Unmarshal(a.Error.Data, &data) != nil {
		return ""
	}
	return data.Code
}

// post sends a message as a client of an older revision does; headers are names and values, and an empty value removes
// the header.
func post(t *testing.T, h http.Handler, body string, headers ...string) (a answer) {
	t.Helper()
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for n := 0; n < len(headers); n += 2 {
		if headers[n+1] == "" {
			r.Header.Del(headers[n])
		} else {
			r.Header.Add(headers[n], headers[n+1])
		}
	}
	a.ResponseRecorder = httptest.NewRecorder()
	h.ServeHTTP(a, r)
	if a.Body.Len() == 0 {
		return a
	}
	if err := json.Unmarshal(a.Body.Bytes(), &a); err != nil || !json.Valid(a.Body.Bytes()) {
		t.Fatalf("%d %q is no JSON: %v", a.Code, a.Body, err)
	}
	return a
}

// wantRefused checks that an answer is a JSON-RPC error as JSON.
func wantRefused(t *testing.T, a answer, status, code int, reason string) {
	t.Helper()
	if a.Code != status || a.Error.Code != code || a.reason() != reason || a.Result != nil {
		t.Errorf("answered %d %s; want %d, %d and %s", a.Code, a.Body, status, code, reason)
	}
	if got := a.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("the refusal has the type %q", got)
	}
}

// wantResult checks that a call succeeded, with the id that it had.
func wantResult(t *testing.T, a answer, id string) {
	t.Helper()
	if a.Code != http.StatusOK || a.Result == nil || string(a.ID) != id {
		t.Errorf("answered %d %s; want a result with the id %s", a.Code, a.Body, id)
	}
}

const (
	ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"<b>"}}}`
)

func TestBadArgumentsAreAnErrorOfTheTool(t *testing.T) {
	a := post(t, newHandler(), strings.Replace(call, `"<b>"`, "1", 1))
	wantResult(t, a, "7")
	var result struct{ IsError bool }
	if err := json.Unmarshal(a.Result, &result); err != nil || !result.IsError {
		t.Errorf("the result is %s", a.Result)
	}
}

func TestParametersThatTheProtocolDoesNotHaveAreInvalid(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, body := range []string{
		with(`"method":"tools/call"`, `"params":{"name":"other"}`),
		with(`"method":"initialize"`, `"params":{"protocolVersion":1}`),
		with(`"method":"initialize"`),
		with(`"method":"tools/call"`, `"params":{"name":1}`),
		with(`"method":"tools/call"`, `"params":{"name":["`+long+`"]}`),
		with(`"method":"tools/call"`, `"params":{"name":"`+long+`"}`),
		with(`"method":"tools/list"`, `"params":{"cursor":"a"}`),
	} {
		a := post(t, newHandler(), body)
		wantRefused(t, a, http.StatusBadRequest, transport.CodeInvalidParams, "invalid_params")
		if string(a.ID) != "1" || a.Body.Len() > 2000 {
			t.Errorf("%.100s is answered %.300s", body, a.Body)
		}
	}
}

// sdk has a handler whose SDK gives one answer.
func sdk(answer string) *transport.Handler {
	return newHandler(func(h *transport.Handler) {
		h.SDK = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(answer))
		})
	})
}

func TestWhatTheSDKHasToAnswerForIsAnInternalError(t *testing.T) {
	a := post(t, sdk(`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"at line 5"}}`), call)
	wantRefused(t, a, http.StatusInternalServerError, transport.CodeServer, "internal_error")
	if strings.Contains(a.Body.String(), "line 5") || string(a.ID) != "7" {
		t.Errorf("answered %s", a.Body)
	}
}

func TestErrorsWithDataPassAsTheyAre(t *testing.T) {
	for data, status := range map[string]int{
		`-32000,"message":"m","data":{"code":"artifact_not_found"}`:         http.StatusNotFound,
		`-32000,"message":"m","data":{"code":"write_allowance_exceeded"}`:   http.StatusTooManyRequests,
		`-32601,"message":"m","data":{"code":"method_not_found"}`:           http.StatusNotFound,
		`-32603,"message":"m","data":{"code":"internal_error"}`:             http.StatusInternalServerError,
		`-32602,"message":"m","data":{"code":"invalid_params"}`:             http.StatusBadRequest,
		`-32021,"message":"m","data":{"requiredCapabilities":{"roots":{}}}`: http.StatusBadRequest,
	} {
		body := `{"jsonrpc":"2.0","id":7,"error":{"code":` + data + `}}`
		if a := post(t, sdk(body), call); a.Code != status || a.Body.String() != body {
			t.Errorf("%s is answered %d %s", body, a.Code, a.Body)
		}
	}
}

func TestAnUnknownMethodIsNotFound(t *testing.T) {
	for _, method := range []string{"resources/subscribe", "logging/setLevel", "completion/complete", "nothing", "PING"} {
		a := post(t, newHandler(), with(`"method":"`+method+`"`))
		wantRefused(t, a, http.StatusNotFound, transport.CodeMethodNotFound, "method_not_found")
	}
}

func TestMessagesThatWaitForNoResultAreAccepted(t *testing.T) {
	h := newHandler(func(h *transport.Handler) { h.SDK = nil })
	for name, body := range map[string]string{
		"a notification":          `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"an unknown notification": `{"jsonrpc":"2.0","method":"notifications/nothing","params":{}}`,
		"tools/call without id":   `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`,
		"a result":                `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"an error":                `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}`,
	} {
		if a := post(t, h, body); a.Code != http.StatusAccepted || a.Body.Len() != 0 {
			t.Errorf("%s: answered %d %s", name, a.Code, a.Body)
		}
	}
}

func TestAnyAcceptIsAnsweredInJSON(t *testing.T) {
	for _, accept := range []string{"", "application/json", "text/event-stream", "*/*", "text/html"} {
		a := post(t, newHandler(), call, "Accept", "", "Accept", accept)
		wantResult(t, a, "7")
		if got := a.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("%q is answered with the type %q", accept, got)
		}
	}
}

func TestAnotherContentTypeIsRefused(t *testing.T) {
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		a := post(t, newHandler(), ping, "Content-Type", "", "Content-Type", media)
		wantRefused(t, a, http.StatusBadRequest, transport.CodeInvalidParams, "content_type_must_be_json")
	}
	wantResult(t, post(t, newHandler(), ping, "Content-Type", "", "Content-Type", "Application/JSON; charset=utf-8"), "1")
}

// TestT81WhatIsNoPlainRequestOfAClientIsRefused has the cases that need no token.
func TestT81WhatIsNoPlainRequestOfAClientIsRefused(t *testing.T) {
	for origin, status := range map[string]int{
		"null":                     http.StatusForbidden,
		"http://evil.example":      http.StatusForbidden,
		"http://localhost.example": http.StatusForbidden,
		"file://":                  http.StatusForbidden,
		"https://":                 http.StatusForbidden,
		"%":                        http.StatusForbidden,
		"https://claude.ai":        http.StatusOK,
		"http://localhost:6274":    http.StatusOK,
		"http://[::1]:6274":        http.StatusOK,
	} {
		if a := post(t, newHandler(), ping, "Origin", origin); a.Code != status {
			t.Errorf("%s: answered %d %s", origin, a.Code, a.Body)
		}
	}
	h := newHandler(func(h *transport.Handler) { h.SDK = nil })
	a := post(t, h, ping, "Origin", "https://a.example", "Origin", "https://b.example")
	wantRefused(t, a, http.StatusForbidden, transport.CodeServer, "forbidden")
	for _, body := range []string{`[` + ping + `]`, ` [` + ping + `,` + call + `]`, `[]`} {
		for _, revision := range append([]string{""}, transport.Handshakes...) {
			a := post(t, h, body, "Mcp-Protocol-Version", revision)
			wantRefused(t, a, http.StatusBadRequest, transport.CodeInvalidParams, "batch_not_supported")
		}
	}
	large := strings.Replace(call, "<b>", strings.Repeat("a", 13<<20), 1)
	wantRefused(t, post(t, h, large), http.StatusRequestEntityTooLarge, transport.CodeInvalidParams, "request_too_large")
}

func TestWhoMayNotSendLearnsNothingOfTheMessage(t *testing.T) {
	h := newHandler(func(h *transport.Handler) {
		h.Authorize = func(r *http.Request, m transport.Message) (context.Context, *transport.Failure) {
			return r.Context(), &transport.Failure{
				Status:    http.StatusUnauthorized,
				Code:      transport.CodeServer,
				Reason:    "invalid_token",
				Challenge: "Bearer",
			}
		}
	})
	for _, body := range []string{
		call, "{", "[]", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, strings.Repeat(" ", limits.MCPBody+1),
	} {
		a := post(t, h, body)
		wantRefused(t, a, http.StatusUnauthorized, transport.CodeServer, "invalid_token")
		if a.Header().Get("WWW-Authenticate") != "Bearer" || a.ID != nil {
			t.Errorf("%.60s is answered %v %s", body, a.Header(), a.Body)
		}
	}
}

func TestAScreenedRequestIsNotRead(t *testing.T) {
	h := newHandler(func(h *transport.Handler) {
		h.Screen = func(*http.Request) *transport.Failure {
			return &transport.Failure{Status: http.StatusUnauthorized, Code: transport.CodeServer, Reason: "invalid_token"}
		}
		h.Authorize = func(*http.Request, transport.Message) (context.Context, *transport.Failure) { panic("asked") }
	})
	a := post(t, h, strings.Repeat(" ", limits.MCPBody+1))
	wantRefused(t, a, http.StatusUnauthorized, transport.CodeServer, "invalid_token")
}

func TestSessionsAreSentBackAndNeverMade(t *testing.T) {
	if got := post(t, newHandler(), ping, "Mcp-Session-Id", "mine").Header().Get("Mcp-Session-Id"); got != "mine" {
		t.Errorf("the session comes back as %q", got)
	}
	if got := post(t, newHandler(), initialize("2025-06-18")).Header().Get("Mcp-Session-Id"); got != "" {
		t.Errorf("initialize begins the session %q", got)
	}
}

// given answers the parameters of a call, which has to have some.
func given(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
	if params == nil {
		return nil, &transport.Failure{Status: http.StatusBadRequest, Code: transport.CodeInvalidParams, Reason: "none"}
	}
	return map[string]any{"given": params}, nil
}

func TestOwnMethodsAreAnsweredWithoutTheSDK(t *testing.T) {
	h := newHandler(func(h *transport.Handler) {
		h.SDK = nil
		h.Own = map[string]transport.Method{"skills/list": given}
	})
	a := post(t, h, `{"jsonrpc":"2.0","id":"s","method":"skills/list","params":{"a":1}}`, "Mcp-Session-Id", "mine")
	if wantResult(t, a, `"s"`); a.Header().Get("Mcp-Session-Id") != "mine" {
		t.Error("the session is not sent back")
	}
	if diff := cmp.Diff(`{"given":{"a":1}}`, string(a.Result)); diff != "" {
		t.Error(diff)
	}
	a = post(t, h, `{"jsonrpc":"2.0","id":"s","method":"skills/list"}`)
	wantRefused(t, a, http.StatusBadRequest, transport.CodeInvalidParams, "none")
}

func TestAnAnswerLargerThanAFunctionMayGiveIsRefused(t *testing.T) {
	large := `{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("a", transport.MaxAnswer) + `"}`
	a := post(t, sdk(large), call)
	if wantRefused(t, a, http.StatusBadRequest, transport.CodeServer, "answer_too_large"); string(a.ID) != "7" {
		t.Errorf("the id is %s", a.ID)
	}
}

func TestAStreamPassesAsItComes(t *testing.T) {
	const first, last = "event: message\ndata: {}\n\n", "event: message\ndata: {\"id\":7}\n\n"
	w := httptest.NewRecorder()
	h := newHandler(func(h *transport.Handler) {
		h.SDK = http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
			to.Header().Set("Content-Type", "text/event-stream")
			to.Write([]byte(first))
			http.NewResponseController(to).Flush()
			if got := w.Body.String(); got != first || !w.Flushed {
				t.Errorf("the client has %q of the stream", got)
			}
			to.Write([]byte(last))
		})
	})
	r := httptest.NewRequest("POST", "/", strings.NewReader(call))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Session-Id", "mine")
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.String() != first+last {
		t.Errorf("answered %d %q", w.Code, w.Body)
	}
	expect.Results(t, w.Header().Get, map[string]string{
		"Content-Type":   "text/event-stream; charset=utf-8",
		"Cache-Control":  "no-cache, no-transform",
		"Mcp-Session-Id": "mine",
	})
}
