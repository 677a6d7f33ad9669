package lambdahttp

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"vitrine/scripts/testkit/expect"
)

// These tests cover what the library gets wrong in its default use.

func TestRow1PathsStayPaths(t *testing.T) {
	for _, c := range []struct{ rawPath, path string }{
		{"/a#b", "/a#b"}, {"/q?x=1", "/q?x=1"}, {"/100%", "/100%"}, {"/%41", "/%41"}, {"/a b/é", "/a b/é"},
		{"//evil.example/x", "//evil.example/x"},
		{"/a/../b", "/a/../b"}, {"", "/"}, {"*", "/*"}, {"/a\x00b\u2028", "/a\x00b\u2028"}, {"/a;b,c:@", "/a;b,c:@"},
	} {
		e := httpAPIEvent("GET", c.rawPath)
		e.RawQuery = "page=2#x"
		r, err := e.request(t.Context())
		if err != nil || r.URL.Path != c.path || r.URL.RawQuery != "page=2%23x" || r.URL.Fragment != "" || r.URL.Host != "" {
			t.Errorf("%q: %+v, %v", c.rawPath, r.URL, err)
		}
	}
	for _, c := range []struct{ sent, path, escaped string }{
		{"/a%23b", "/a#b", "/a%23b"}, {"/a#b", "/a#b", "/a%23b"}, {"/a?b", "/a?b", "/a%3Fb"}, {"/a%2Fb", "/a/b", "/a%2Fb"},
		{"/%2541", "/%41", "/%2541"},
		{"//evil.example/x", "//evil.example/x", "//evil.example/x"}, {"/%ff", "/\xff", "/%ff"},
	} {
		e := restEvent("GET", c.sent)
		r, err := e.request(t.Context())
		if err != nil || r.URL.Path != c.path || r.URL.EscapedPath() != c.escaped || r.URL.RawQuery != "" {
			t.Errorf("%q: %+v, %v", c.sent, r.URL, err)
		}
	}
}

func TestRow2HeadersWithCommasStayWhole(t *testing.T) {
	sent := map[string]string{
		"accept":        "text/html,application/xml;q=0.9",
		"if-none-match": `"a,b"`,
		"date":          "Sat, 21 Nov 2026 10:15:30 GMT",
		"range":         "bytes=0-1,5-6",
		"authorization": "Bearer one,Bearer two",
		"x-signature":   "a=1, b=2",
	}
	e := httpAPIEvent("GET", "/")
	e.Headers = sent
	r := expect.Value(e.request(t.Context()))(t)
	for name, value := range sent {
		if got := r.Header.Values(name); len(got) != 1 || got[0] != value {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRow4TheFirstStatusCountsAndTheHeadersAsTheyAreThen(t *testing.T) {
	h := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("X-Before", "1")
		w.WriteHeader(http.StatusCreated)
		w.Header().Set("X-After", "1")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "made")
		w.Header().Set("X-Late", "1")
		w.WriteHeader(http.StatusBadGateway)
	}
	for _, mode := range []Mode{Buffered, Stream} {
		got := invoke(t, http.HandlerFunc(h), mode, restEvent("GET", "/"))
		if got.Status != 201 || got.Body != "made" || got.Header.Get("X-Before") == "" ||
			got.Header.Get("X-After")+got.Header.Get("X-Late") != "" {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}

func TestRow5QueriesAndHeadersHaveOneOrder(t *testing.T) {
	e := restEvent("GET", "/")
	e.Queries = map[string][]string{"z": {"26", "1"}, "a": {"é", ""}, "m": {"1&2"}, "b": {"x"}, "c": {"x"}}
	e.AllHeaders = map[string][]string{"X-A": {"1", "2"}, "x-a": {"3"}, "X-a": {"4"}}
	for range 50 {
		r, err := e.request(t.Context())
		if err != nil || r.URL.RawQuery != "a=%C3%A9&a=&b=x&c=x&m=1%262&z=26&z=1" ||
			fmt.Sprint(r.Header["X-A"]) != "[1 2 4 3]" {
			t.Fatal(r.URL.RawQuery, r.Header, err)
		}
	}
	e.Queries, e.Query = nil, map[string]string{"z": "26", "a": "1"}
	if r, err := e.request(t.Context()); err != nil || r.URL.RawQuery != "a=1&z=26" {
		t.Error(r.URL, err)
	}
}

func TestRow6NothingIsStrippedFromPaths(t *testing.T) {
	for _, path := range []string{"/v1/x", "/v1beta/x", "/live/v1/x", "/$default/x"} {
		for _, e := range []event{httpAPIEvent("GET", path), restEvent("GET", path)} {
			if r, err := e.request(t.Context()); err != nil || r.URL.Path != path {
				t.Errorf("%s became %v, %v", path, r.URL, err)
			}
		}
	}
}

func TestRow7APanicIsA500AndTheProcessLives(t *testing.T) {
	logged := captureLog(t)
	for name, h := range map[string]http.HandlerFunc{
		"at once": func(http.ResponseWriter, *http.Request) { panic("boom") },
		"after a header": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", "x")
			w.WriteHeader(200)
			panic("boom")
		},
		"an abort": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", "x")
			panic(http.ErrAbortHandler)
		},
		"a wrong status": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(99) },
		"a short body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			w.WriteHeader(200)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range []event{httpAPIEvent("GET", "/"), restEvent("GET", "/")} {
				for _, mode := range []Mode{Buffered, Stream} {
					if name == "a short body" && mode == Stream && !e.ofHTTPAPI() {
						continue // its status has gone out: TestAnAnswerThatBreaksOffEndsInAnError
					}
					got := invoke(t, h, mode, e)
					if got.Status != 500 || got.Header.Get("ETag") != "" ||
						got.Body != `{"error":{"code":"internal_error","message":"internal_error","request_id":"gateway-1"}}` {
						t.Errorf("%s: %+v", mode, got)
					}
				}
			}
		})
	}
	if text := logged.String(); !strings.Contains(text, "panic: boom") || !strings.Contains(text, "repair_test.go") {
		t.Errorf("the log does not say it: %s", text)
	}
}

func TestRow7ABufferedAnswerThatBrokeOffIsA500(t *testing.T) {
	h := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "client-chose-it")
		io.WriteString(w, "half of")
		panic(http.ErrAbortHandler)
	}
	got := invoke(t, http.HandlerFunc(h), Stream, httpAPIEvent("GET", "/"))
	if got.Status != 500 || got.Header.Get("X-Request-Id") != "client-chose-it" ||
		got.Body != `{"error":{"code":"internal_error","message":"internal_error","request_id":"client-chose-it"}}` {
		t.Errorf("%+v, want 500 with the client's request ID", got)
	}
}

func TestRow8NothingOfTheGatewayIsPutIntoHeaders(t *testing.T) {
	t.Setenv("GO_API_HOST", "https://evil.example") // a setting of the library
	for _, e := range []event{httpAPIEvent("GET", "/"), restEvent("GET", "/")} {
		r, err := e.request(t.Context())
		if err != nil || len(r.Header) != 0 || r.URL.Host != "" || r.Host != e.Context.DomainName {
			t.Errorf("%+v, %v, want the event's host and no header", r, err)
		}
	}
}

func TestRow9AllBytesComeThrough(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, body := range map[string]string{
		"every byte":       string(every),
		"text":             "é\u2028<&>\x00\"\\ among enough that needs no escape",
		"a half character": "\xc3",
		"gzip":             "\x1f\x8b\x08",
		"nothing":          "",
	} {
		h := func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain") // does not depend on the bytes
			io.Copy(w, r.Body)
		}
		for _, e := range []event{httpAPIEvent("POST", "/"), restEvent("POST", "/")} {
			e.Body, e.IsBase64 = encode64(body), true
			for _, mode := range []Mode{Buffered, Stream} {
				got := invoke(t, http.HandlerFunc(h), mode, e)
				if got.Body != body || got.Base64 && (name == "text" || name == "nothing") {
					t.Errorf("%s, %s: %+v", name, mode, got)
				}
			}
		}
	}
}

func TestCookiesComeAndGo(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.Cookies() {
			http.SetCookie(w, &http.Cookie{Name: c.Name, Value: c.Value + ",x", Path: "/"})
		}
		w.Header().Add("Vary", "Cookie")
		w.Header().Add("Vary", "Accept")
	}
	v2, v1 := httpAPIEvent("GET", "/"), restEvent("GET", "/")
	v2.Cookies, v2.Headers["cookie"] = []string{"a=1", "b=2"}, "a=1; b=2"
	v1.AllHeaders["Cookie"] = []string{"a=1; b=2"}
	for _, e := range []event{v2, v1} {
		for _, mode := range []Mode{Buffered, Stream} {
			got := invoke(t, http.HandlerFunc(h), mode, e)
			if fmt.Sprint(got.Header["Set-Cookie"]) != `[a="1,x"; Path=/ b="2,x"; Path=/]` ||
				strings.Join(got.Header["Vary"], ", ") != "Cookie, Accept" {
				t.Errorf("%s: %v", mode, got.Header)
			}
		}
	}
	out := expect.Value(adapter{handler: http.HandlerFunc(h), mode: Buffered}.serve(t.Context(), v2))(t)
	answer := out.(events.APIGatewayV2HTTPResponse)
	if len(answer.Cookies) != 2 || answer.Headers["Set-Cookie"] != "" {
		t.Errorf("the gateway is told %q and headers %q", answer.Cookies, answer.Headers)
	}
}

func TestTheChallengeIsSentTwice(t *testing.T) {
	const challenge = `Bearer resource_metadata="https://api.vitrine.example/.well-known/oauth-protected-resource"`
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/open" {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	if got := invoke(t, http.HandlerFunc(h), Buffered, httpAPIEvent("GET", "/")); got.Header.Get(
		"WWW-Authenticate") != challenge || got.Header.Get(Challenge) != challenge {
		t.Errorf("%+v, want the challenge twice", got)
	}
	if got := invoke(t, http.HandlerFunc(h), Buffered, httpAPIEvent("GET", "/open")); got.Header.Get(Challenge) != "" {
		t.Errorf("%+v, want no challenge", got)
	}
}
