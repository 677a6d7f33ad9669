package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
	"vitrine/scripts/testkit/expect"
)

// fakeFunction keeps its event and gives a fixed answer, or err. It streams nothing but err.
type fakeFunction struct {
	event  []byte
	answer string
	err    error
}

func (f *fakeFunction) Invoke(_ context.Context, event []byte) ([]byte, error) {
	f.event = event
	return []byte(f.answer), f.err
}

func (f *fakeFunction) Stream(_ context.Context, event []byte) (*runtime.Answer, error) {
	f.event = event
	return nil, f.err
}

func httpAPI() *template.API {
	return &template.API{
		ID:     "api1",
		Name:   "shop",
		Stage:  "$default",
		Routes: []*template.Route{{Path: "$default", Timeout: time.Minute}},
	}
}

func restAPI(paths ...string) *template.API {
	a := &template.API{
		ID:    "rest1",
		Name:  "shop",
		REST:  true,
		Stage: "live",
	}
	for _, path := range paths {
		a.Routes = append(a.Routes, &template.Route{Path: path, Timeout: time.Minute})
	}
	return a
}

// serve answers one request with a gateway in front of a function.
func serve(a *template.API, f Function, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g := New(Config{API: a, Function: func(*template.Function) Function { return f }, Log: slog.New(slog.DiscardHandler)})
	g.ServeHTTP(w, r)
	return w
}

func TestTheMostSpecificRouteIsTaken(t *testing.T) {
	g := New(Config{API: restAPI("/", "/{proxy+}", "/r/{proxy+}")}).(*gateway)
	for path, want := range map[string]string{
		"/":       "/ ",
		"/a":      "/{proxy+} a",
		"/a/b%2F": "/{proxy+} a/b%2F",
		"/r":      "/{proxy+} r",
		"/r/":     "/{proxy+} r/",
		"/r/a/b":  "/r/{proxy+} a/b",
		"/rr/a":   "/{proxy+} rr/a",
	} {
		if r, proxy := g.match(path); r == nil || r.Path+" "+proxy != want {
			t.Errorf("%s leads to %+v with %q, want %q", path, r, proxy, want)
		}
	}
}

func TestWhatTheGatewayRefuses(t *testing.T) {
	small := func() *http.Request { return httptest.NewRequest("GET", "/a", nil) }
	long := func() *http.Request {
		r := small()
		r.Header.Set("X-Long", strings.Repeat("x", 10300))
		return r
	}
	body := func() *http.Request {
		return httptest.NewRequest("POST", "/a", bytes.NewReader(make([]byte, 10<<20+1)))
	}
	const none = `502 {"message":"Internal server error"}`
	for name, c := range map[string]struct {
		request    func() *http.Request
		err        error
		http, rest string
	}{
		"long headers": {long, nil, `431 {"message":"Request Header Fields Too Large"}`,
			`431 {"message":"Request Header Fields Too Large"}`},
		"a large body": {body, nil, `413 {"message":"Request Entity Too Large"}`,
			`413 {"message":"HTTP content length exceeded 10485760 bytes."}`},
		"a large event": {small, runtime.ErrEventTooLarge, `413 {"message":"Request Too Long"}`,
			`413 {"message":"Request Too Long"}`},
		"too many at once": {small, runtime.ErrThrottled, `503 {"message":"Service Unavailable"}`,
			`429 {"message":"Too Many Requests"}`},
		"a slow function": {small, errTimeout, `503 {"message":"Service Unavailable"}`,
			`504 {"message":"Endpoint request timed out"}`},
		"a failed function": {small, &runtime.Failure{Type: "a", Message: "b"},
			`500 {"message":"Internal Server Error"}`, none},
	} {
		for a, want := range map[*template.API]string{httpAPI(): c.http, restAPI("/a"): c.rest} {
			w := serve(a, &fakeFunction{err: c.err}, c.request())
			if got := fmt.Sprint(w.Code, " ", w.Body); got != want {
				t.Errorf("%s by %s: %s, want %s", name, a.ID, got, want)
			}
		}
	}
}

func TestAnswersThatAreNoneAreRefused(t *testing.T) {
	for _, answer := range []string{
		"",
		`"hello"`,
		`{"body":"x"}`,
		`{"statusCode":99}`,
		`{"statusCode":200,"headers":{"a":[]}}`,
		`{"statusCode":200,"body":"!","isBase64Encoded":true}`,
		"{\"statusCode\":200}\x00\x00\x00\x00\x00\x00\x00\x00x",
	} {
		w := serve(httpAPI(), &fakeFunction{answer: answer}, httptest.NewRequest("GET", "/", nil))
		if w.Code != 500 || w.Body.String() != `{"message":"Internal Server Error"}` {
			t.Errorf("%q: %d %s", answer, w.Code, w.Body)
		}
	}
	for prelude, want := range map[string]string{
		`{"statusCode":200}`:        "ended before its prelude",
		"hello" + string(delimiter): "no JSON object",
		strings.Repeat("x", 1<<17):  "its prelude has no end",
	} {
		_, _, err := Streamed(strings.NewReader(prelude))
		expect.Error(t, err, want)
	}
}

func TestAFunctionHasTheTimeOfItsIntegration(t *testing.T) {
	a := httpAPI()
	a.Routes[0].Timeout = time.Millisecond
	w := serve(a, new(slowFunction), httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// slowFunction never answers.
type slowFunction struct{ fakeFunction }

func (*slowFunction) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestARESTAPIRefusesAsItsTemplateSays(t *testing.T) {
	api := restAPI("/a")
	api.Refusals = map[string]template.Refusal{
		"DEFAULT_4XX": {Headers: map[string]string{"Cache-Control": "no-store"},
			Body: `{"id":"$context.requestId"}`},
		"MISSING_AUTHENTICATION_TOKEN": {Status: 404},
	}
	for name, c := range map[string]struct {
		path         string
		err          error
		status       int
		cache, wants string
	}{
		"by kind":         {"/b", nil, 404, "", `{"message":"Missing Authentication Token"}`},
		"by its first 4":  {"/a", runtime.ErrThrottled, 429, "no-store", `{"id":"ID"}`},
		"not by template": {"/a", errors.New("x"), 502, "", `{"message":"Internal server error"}`},
	} {
		w := serve(api, &fakeFunction{err: c.err}, httptest.NewRequest("GET", c.path, nil))
		body := strings.ReplaceAll(w.Body.String(), w.Header().Get("x-amzn-RequestId"), "ID")
		if w.Code != c.status || w.Header().Get("Cache-Control") != c.cache || body != c.wants {
			t.Errorf("%s: %d %q %s", name, w.Code, w.Header().Get("Cache-Control"), body)
		}
	}
}
