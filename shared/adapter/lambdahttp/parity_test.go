package lambdahttp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/lambdatest"
	"vitrine/scripts/testkit/output"
)

// TestAnswersAreThoseOfNetHTTP gives the same handlers to a server of net/http and to the adapter.
func TestAnswersAreThoseOfNetHTTP(t *testing.T) {
	captureLog(t)
	for name, h := range map[string]http.HandlerFunc{
		"nothing":         func(http.ResponseWriter, *http.Request) {},
		"an unnamed type": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hi") },
		"a type after a status": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			io.WriteString(w, "%PDF-1.7")
		},
		"no type at all": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "x")
		},
		"an encoding": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, "\x1b\x01")
		},
		"a 204 with a body": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			_, err := io.WriteString(w, "x")
			want(t, err, http.ErrBodyNotAllowed)
		},
		"a 304 with a body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "7")
			w.WriteHeader(304)
			_, err := io.WriteString(w, "x")
			want(t, err, http.ErrBodyNotAllowed)
		},
		"more than it says": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			io.WriteString(w, "abc")
			_, err := io.WriteString(w, "d")
			want(t, err, http.ErrContentLength)
		},
		"a header over two lines": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Name", "a\r\nSet-Cookie: b")
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusSeeOther)
		},
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
		"a file": func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, testFiles, "file.txt")
		},
		"a hint first": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(202) },
		"a long body":  func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("long ", 10_000)) },
		"text that a second encoding makes too long": func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, strings.Repeat(`\"a\",`, 700_000))
		},
		"a body in parts": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 10 {
				fmt.Fprintln(w, i)
				w.(http.Flusher).Flush()
			}
		},
		"what was asked": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s %q %v", r.Method, r.RequestURI, r.Host, r.Header["X-Sent"], r.Header["Host"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(h)
			defer server.Close()
			for _, method := range []string{"GET", "HEAD"} {
				wanted := ask(t, server.URL, method)
				wantParity(t, h, server.URL, method, wanted)
			}
		})
	}
}

// wantParity checks the answers to events of both kinds in both modes against that of net/http.
func wantParity(t *testing.T, h http.Handler, url, method, want string) {
	for _, e := range []event{httpAPIEvent(method, "/a b"), restEvent(method, "/a%20b")} {
		e.Context.DomainName = strings.TrimPrefix(url, "http://")
		for _, mode := range []Mode{Buffered, Stream} {
			sent := map[string]string{"x-sent": "1, 2", "host": e.Context.DomainName, "user-agent": "test"}
			if e.ofHTTPAPI() {
				e.Headers = sent
			} else {
				e.AllHeaders = map[string][]string{"X-Sent": {sent["x-sent"]}, "Host": {sent["host"]}}
			}
			if got := invoke(t, h, mode, e).String(); got != want {
				t.Errorf("%s, version %q, %s:\ngot  %s\nwant %s", method, e.Version, mode, got, want)
			}
		}
	}
}

var testFiles = fstest.MapFS{"file.txt": {Data: []byte("the text of a file")}}

func ask(t *testing.T, base, method string) string {
	t.Helper()
	r := expect.Value(http.NewRequest(method, base+"/a%20b", nil))(t)
	r.Header.Set("X-Sent", "1, 2")
	resp := expect.Value(http.DefaultTransport.RoundTrip(r))(t)
	defer resp.Body.Close()
	body := expect.Value(io.ReadAll(resp.Body))(t)
	return lambdatest.Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(body)}.String()
}

func want(t *testing.T, got, want error) {
	if !errors.Is(got, want) {
		t.Errorf("the handler is told %v, want %v", got, want)
	}
}

func encode64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// captureLog captures what the adapter logs, until the test ends.
func captureLog(t *testing.T) *output.Buffer {
	var b output.Buffer
	before := slog.Default()
	slog.SetDefault(NewLog(&b))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &b
}
