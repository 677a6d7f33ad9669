package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
)

// fakeFunction keeps its event and returns a fixed answer.
type fakeFunction struct {
	event  []byte
	answer string
	err    error
}

func (f *fakeFunction) Invoke(_ context.Context, event []byte) ([]byte, error) {
	f.event = event
	return []byte(f.answer), f.err
}

func (f *fakeFunction) Stream(context.Context, []byte) (*runtime.Answer, error) { return nil, f.err }

func httpAPI(routes ...*template.Route) *template.API {
	return &template.API{
		ID:     "api1",
		Name:   "shop",
		Stage:  "$default",
		Routes: routes,
	}
}

func restAPI(routes ...*template.Route) *template.API {
	return &template.API{
		ID:     "rest1",
		Name:   "shop",
		REST:   true,
		Stage:  "live",
		Routes: routes,
	}
}

// catchAll is a route for all requests.
func catchAll() *template.Route {
	return &template.Route{Key: "$default", Method: "ANY", Timeout: time.Minute}
}

func at(method, path string) *template.Route {
	return &template.Route{
		Key:     path,
		Method:  method,
		Path:    path,
		Timeout: time.Minute,
	}
}

// serve answers one request with a gateway in front of a function.
func serve(a *template.API, f Function, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g := New(Config{API: a, Function: func(*template.Function) Function { return f }, Log: slog.New(slog.DiscardHandler)})
	g.ServeHTTP(w, r)
	return w
}

func TestTheMostSpecificRouteIsTaken(t *testing.T) {
	var routes []*template.Route
	for _, key := range []string{"$default", "ANY /{proxy+}", "GET /a/{id}", "ANY /a/{id}", "GET /a/b", "POST /a/{rest+}",
		"ANY /", "GET /a/{id}/c"} {
		r := catchAll()
		r.Key = key
		if key != "$default" {
			r.Method, r.Path, _ = strings.Cut(key, " ")
		}
		routes = append(routes, r)
	}
	for request, want := range map[string]struct{ http, rest string }{
		"GET /":         {"ANY /", "ANY /"},
		"GET /a/b":      {"GET /a/b", "GET /a/b"},
		"PUT /a/b":      {"ANY /a/{id}", ""},
		"GET /a/x":      {"GET /a/{id}", "GET /a/{id}"},
		"PUT /a/x":      {"ANY /a/{id}", "ANY /a/{id}"},
		"POST /a/x/y":   {"POST /a/{rest+}", "POST /a/{rest+}"},
		"GET /a/x/y":    {"ANY /{proxy+}", ""},
		"GET /a/x/c":    {"GET /a/{id}/c", "GET /a/{id}/c"},
		"GET /a/x/":     {"ANY /{proxy+}", "GET /a/{id}"},
		"GET /a/x%2Fc":  {"GET /a/{id}/c", "GET /a/{id}"},
		"GET /other":    {"ANY /{proxy+}", "ANY /{proxy+}"},
		"GET //":        {"ANY /{proxy+}", "ANY /"},
		"DELETE /x/y/z": {"ANY /{proxy+}", "ANY /{proxy+}"},
	} {
		method, path, _ := strings.Cut(request, " ")
		x := exchange{r: httptest.NewRequest(method, "http://h"+path, nil)}
		for kind, c := range map[string]struct {
			api  *template.API
			want string
		}{"HTTP": {httpAPI(routes...), want.http}, "REST": {restAPI(routes[1:]...), want.rest}} {
			x.gateway = &gateway{Config: Config{API: c.api}}
			got := ""
			if r, _ := newTable(c.api).match(method, x.path()); r != nil {
				got = r.Key
			}
			if got != c.want {
				t.Errorf("%s: %s leads to %q, want %q", kind, request, got, c.want)
			}
		}
	}
}

func TestWhatTheGatewayRefuses(t *testing.T) {
	ok := &fakeFunction{answer: `{"statusCode":200}`}
	small := httptest.NewRequest("GET", "/a", nil)
	long := httptest.NewRequest("GET", "/a", nil)
	long.Header.Set("X-Long", strings.Repeat("x", 10300))
	body := func(n int) *http.Request {
		return httptest.NewRequest("POST", "/a", bytes.NewReader(make([]byte, n)))
	}
	for name, c := range map[string]struct {
		request    *http.Request
		function   Function
		path       string
		http, rest string
	}{
		"no route": {small, ok, "/b", `404 {"message":"Not Found"}`,
			`403 {"message":"Missing Authentication Token"}`},
		"long headers": {long, ok, "/a", `431 {"message":"Request Header Fields Too Large"}`,
			`431 {"message":"Request Header Fields Too Large"}`},
		"a body": {body(10 << 20), ok, "/a", `200 `, `200 `},
		"a large body": {body(10<<20 + 1), ok, "/a", `413 {"message":"Request Entity Too Large"}`,
			`413 {"message":"HTTP content length exceeded 10485760 bytes."}`},
		"a large event": {small, &fakeFunction{err: runtime.ErrEventTooLarge}, "/a", `413 {"message":"Request Too Long"}`,
			`413 {"message":"Request Too Long"}`},
		"too many at once": {small, &fakeFunction{err: runtime.ErrThrottled}, "/a", `503 {"message":"Service Unavailable"}`,
			`429 {"message":"Too Many Requests"}`},
		"a slow function": {small, &fakeFunction{err: errTimeout}, "/a", `503 {"message":"Service Unavailable"}`,
			`504 {"message":"Endpoint request timed out"}`},
		"a failed function": {small, &fakeFunction{err: &runtime.Failure{Type: "a", Message: "b"}}, "/a",
			`500 {"message":"Internal Server Error"}`, `502 {"message":"Internal server error"}`},
		"no answer": {small, &fakeFunction{}, "/a", `500 {"message":"Internal Server Error"}`,
			`502 {"message":"Internal server error"}`},
		"no status": {small, &fakeFunction{answer: `{"body":"x"}`}, "/a", `200 {"body":"x"}`,
			`502 {"message":"Internal server error"}`},
		"a status of 99": {small, &fakeFunction{answer: `{"statusCode":99}`}, "/a",
			`500 {"message":"Internal Server Error"}`, `502 {"message":"Internal server error"}`},
		"a header of lists": {small, &fakeFunction{answer: `{"statusCode":200,"headers":{"a":[]}}`}, "/a",
			`500 {"message":"Internal Server Error"}`, `502 {"message":"Internal server error"}`},
		"a prelude": {small, &fakeFunction{answer: "{\"statusCode\":200}\x00\x00\x00\x00\x00\x00\x00\x00x"}, "/a",
			`500 {"message":"Internal Server Error"}`, `502 {"message":"Internal server error"}`},
		"just a text": {small, &fakeFunction{answer: `"hello"`}, "/a", `200 hello`,
			`502 {"message":"Internal server error"}`},
	} {
		for kind, api := range map[string]*template.API{
			"HTTP": httpAPI(at("ANY", c.path)),
			"REST": restAPI(at("ANY", c.path)),
		} {
			want := map[string]string{"HTTP": c.http, "REST": c.rest}[kind]
			r := c.request.Clone(t.Context())
			if c.request.Body != nil && c.request.ContentLength > 0 {
				r.Body = io.NopCloser(bytes.NewReader(make([]byte, c.request.ContentLength)))
			}
			w := serve(api, c.function, r)
			if got := fmt.Sprint(w.Code, " ", w.Body); got != want {
				t.Errorf("%s, %s: %s, want %s", name, kind, got, want)
			}
		}
	}
}

func TestAFunctionHasTheTimeOfItsIntegration(t *testing.T) {
	route := catchAll()
	route.Timeout = time.Millisecond
	w := serve(httpAPI(route), new(slowFunction), httptest.NewRequest("GET", "/", nil))
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
	api := restAPI(at("GET", "/a"))
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
