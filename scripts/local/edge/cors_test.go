package edge

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
)

// wantsToPut are the headers of a browser that asks whether a page may send a file.
var wantsToPut = map[string]string{
	"Access-Control-Request-Method":  "PUT",
	"Access-Control-Request-Headers": "if-none-match,x-amz-checksum-sha256",
}

// TestPagesOfTheAppSendFiles wants that browsers let pages of an app on this machine send files and read refusals, and
// other pages nothing.
func TestPagesOfTheAppSendFiles(t *testing.T) {
	e := engine.Shared(t)
	server := serve(t, e)
	body := []byte("a file")
	signed := presignPut(t, e, newKey(), body)
	_, target, _ := strings.Cut(strings.TrimPrefix(signed.URL, "http://"), "/")
	unsigned, _, _ := strings.Cut(target, "?")
	for _, c := range []struct {
		name, origin, method, target string
		headers                      map[string]string
		status                       int
		allowed                      bool
	}{
		{"a preflight", "http://localhost:8704", "OPTIONS", target, wantsToPut, 200, true},
		{"a preflight of another site", "https://example.org", "OPTIONS", target, wantsToPut, 403, false},
		{"a preflight for another method", "http://localhost:8704", "OPTIONS", target,
			map[string]string{"Access-Control-Request-Method": "DELETE"}, 403, false},
		{"a preflight for another header", "http://localhost:8704", "OPTIONS", target, map[string]string{
			"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization",
		}, 403, false},
		{"an unsigned PUT", "http://localhost:8704", "PUT", unsigned, nil, 403, true},
		{"a PUT", "http://localhost:8704", "PUT", target, nil, 200, true},
		{"the same PUT again", "http://localhost:8704", "PUT", target, nil, 412, true},
		{"the same PUT from another site", "https://example.org", "PUT", target, nil, 412, false},
		{"another path of the upload host", "http://localhost:8704", "OPTIONS", "v1/upload-sessions", wantsToPut, 418, false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+"/"+c.target, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if c.method == "PUT" {
			for name, values := range signed.SignedHeader {
				request.Header[name] = values
			}
		}
		for name, value := range c.headers {
			request.Header.Set(name, value)
		}
		request.Header.Set("Origin", c.origin)
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		says := expect.Body(t, response)
		if response.StatusCode != c.status {
			t.Errorf("%s: %s %s", c.name, response.Status, says)
		}
		want := ""
		if c.allowed {
			want = c.origin
		}
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: allows %q", c.name, got)
		}
	}
}
