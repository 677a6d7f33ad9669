package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
)

// functionVariable makes this test binary a function.
const functionVariable = "VITRINE_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if os.Getenv(functionVariable) != "" {
		lambda.Start(answerByPath)
		return
	}
	os.Exit(m.Run())
}

const large = 7 << 20 // more than any answer that is not streamed

// answerByPath is a function behind a REST API.
func answerByPath(_ context.Context, e events.APIGatewayProxyRequest) (any, error) {
	out := &events.APIGatewayProxyStreamingResponse{
		StatusCode:        200,
		Headers:           map[string]string{"X-Two": "0", "WWW-Authenticate": "renamed"},
		MultiValueHeaders: map[string][]string{"x-two": {"1", "2"}},
		Cookies:           []string{"c=1"},
	}
	switch e.Path {
	case "/whole":
		return events.APIGatewayProxyResponse{StatusCode: 200, Body: "whole"}, nil
	case "/fail":
		return nil, errors.New("it went wrong")
	case "/range":
		out.StatusCode = 206
		out.Headers["Content-Length"] = "5"
		out.Body = strings.NewReader("01234")
	case "/head":
		out.Headers["Content-Length"] = "1000"
	case "/nuls":
		out.Body = bytes.NewReader(make([]byte, 64))
	case "/large":
		out.Body = io.LimitReader(zeros{}, large)
	case "/end":
		out.Body = &ending{zeros{}, time.AfterFunc(time.Hour, func() { os.Exit(1) })}
	case "/gate", "/break":
		reader, writer := io.Pipe()
		out.Body = reader
		go func() {
			io.WriteString(writer, "first")
			response, err := http.Get(e.QueryStringParameters["gate"])
			if err == nil {
				response.Body.Close()
			}
			if e.Path == "/break" {
				err = errors.New("it went wrong")
			}
			writer.CloseWithError(err)
		}()
	}
	return out, nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// ending ends the process when the runtime stops asking for an endless body, because the runtime is
// then stuck in a write.
type ending struct {
	io.Reader
	stuck *time.Timer
}

func (e *ending) Read(b []byte) (int, error) {
	e.stuck.Reset(200 * time.Millisecond)
	return e.Reader.Read(b)
}

// streaming returns a server of a streaming gateway before this test binary.
func streaming(t *testing.T) *httptest.Server {
	t.Helper()
	f := runtime.New(runtime.Config{
		Name:        "content",
		Program:     os.Args[0],
		Environment: map[string]string{functionVariable: "1"},
		Timeout:     time.Minute,
		Processes:   2,
		Log:         t.Output(),
	})
	t.Cleanup(f.Close)
	server := httptest.NewServer(New(Config{
		API:      restAPI("/{proxy+}"),
		Function: func(*template.Function) Function { return f },
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil)),
	}))
	t.Cleanup(server.Close)
	return server
}

func TestStreamedAnswers(t *testing.T) {
	s := streaming(t)
	for name, c := range map[string]struct {
		method, path string
		status       int
		length       string // Content-Length
		body         string
	}{
		"a range":           {"GET", "/range", 206, "5", "01234"},
		"HEAD":              {"HEAD", "/head", 200, "1000", ""},
		"nothing":           {"GET", "/nothing", 200, "", ""},
		"a body of NULs":    {"GET", "/nuls", 200, "", strings.Repeat("\x00", 64)},
		"above the buffer":  {"GET", "/large", 200, "", strings.Repeat("\x00", large)},
		"JSON is no stream": {"GET", "/whole", 502, "", `{"message":"Internal server error"}`},
		"a failed function": {"GET", "/fail", 502, "", `{"message":"Internal server error"}`},
		"no route":          {"GET", "/", 403, "", `{"message":"Missing Authentication Token"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != c.status || string(body) != c.body {
				t.Errorf("%s, %d bytes, %v", response.Status, len(body), err)
			}
			h := response.Header
			if c.length != "" && h.Get("Content-Length") != c.length {
				t.Errorf("the length is %q", h.Get("Content-Length"))
			}
			if c.status < 300 && (len(h["X-Two"]) != 2 || h.Get("Set-Cookie") != "c=1" ||
				h.Get("X-Amzn-Remapped-Www-Authenticate") != "renamed" || h.Get("WWW-Authenticate") != "" ||
				h.Get("Content-Type") != "application/json") {
				t.Errorf("the headers are %v", h)
			}
		})
	}
}

func TestAStreamIsPassedOnPieceByPieceAndCutWhenItBreaks(t *testing.T) {
	s := streaming(t)
	for path, whole := range map[string]bool{"/gate": true, "/break": false} {
		passes := make(chan bool)
		gate := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-passes }))
		defer gate.Close()
		response, err := http.Get(s.URL + path + "?gate=" + gate.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		first := make([]byte, 5)
		// the function waits at the gate
		if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "first" {
			t.Errorf("%q, %v", first, err)
		}
		passes <- true
		rest, err := io.ReadAll(response.Body)
		if (err == nil) != whole || len(rest) != 0 {
			t.Errorf("%s: %q, %v", path, rest, err)
		}
	}
}

// TestAFunctionThatEndsCutsAClientThatReadsNothing has the gateway in a write that waits for the
// client when the function ends.
func TestAFunctionThatEndsCutsAClientThatReadsNothing(t *testing.T) {
	s := streaming(t)
	gateway, left := s.Config.Handler, make(chan any, 1)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			why := recover()
			left <- why
			panic(why)
		}()
		gateway.ServeHTTP(w, r)
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /end HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case why := <-left:
		if err, _ := why.(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("the gateway ends with %v", why)
		}
	case <-time.After(30 * time.Second): // a bound for the failure alone
		t.Error("the gateway waits for a client that reads nothing, although the function has ended")
	}
}
