package loopback

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

// visit requests an address and returns the response's status, header and body.
func visit(t *testing.T, method, address, host string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, expect.Body(t, resp)
}

func listen(t *testing.T) *Listener {
	t.Helper()
	l, err := Listen("s")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOneCallback(t *testing.T) {
	l := listen(t)
	if !regexp.MustCompile(`^http://127\.0\.0\.1:[1-9][0-9]*/callback$`).MatchString(l.RedirectURI()) {
		t.Fatalf("redirect URI %s", l.RedirectURI())
	}
	type seen struct {
		status int
		header http.Header
		body   string
	}
	shown := make(chan seen, 1)
	go func() {
		status, header, body := visit(t, "GET", l.RedirectURI()+"?code=c&state=s", "")
		shown <- seen{status, header, body}
	}()
	q, err := l.Wait(t.Context())
	if err != nil || q.Get("code") != "c" || q.Get("state") != "s" {
		t.Fatalf("parameters %v, error %v", q, err)
	}
	if resp, err := http.Get(l.RedirectURI() + "?code=second&state=s"); err == nil {
		resp.Body.Close()
		t.Errorf("a second callback was answered with %d", resp.StatusCode)
	}
	l.Close(Page{Done: true, Heading: "Signed in", Text: "as ada@example.com"})
	got := <-shown
	if got.status != 200 || !strings.Contains(got.body, "Signed in") || !strings.Contains(got.body, "ada@example.com") {
		t.Errorf("the browser shows %d %s", got.status, got.body)
	}
	expect.Results(t, got.header.Get, map[string]string{
		"Content-Security-Policy": policy,
		"Cache-Control":           "no-store",
		"Referrer-Policy":         "no-referrer",
		"X-Content-Type-Options":  "nosniff",
		"X-Frame-Options":         "DENY",
	})
}

func TestOtherRequestsAreNoCallback(t *testing.T) {
	l := listen(t)
	address, _ := url.Parse(l.RedirectURI())
	root := "http://" + address.Host
	for _, tt := range []struct{ name, method, address, host string }{
		{"another path", "GET", root + "/favicon.ico", ""},
		{"a path below", "GET", root + "/callback/x?state=s", ""},
		{"another method", "POST", root + "/callback?code=x&state=s", ""},
		{"a name that leads here", "GET", root + "/callback?code=x&state=s", "evil.test:" + address.Port()},
	} {
		if status, _, _ := visit(t, tt.method, tt.address, tt.host); status != 404 {
			t.Errorf("%s: status %d", tt.name, status)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("too late"))
	defer cancel()
	if q, err := l.Wait(ctx); err == nil || err.Error() != "too late" {
		t.Errorf("parameters %v, error %v", q, err)
	}
	l.Close(Page{})
	if resp, err := http.Get(l.RedirectURI()); err == nil {
		resp.Body.Close()
		t.Error("the port is still open")
	}
}

func TestAnotherStateChangesNothing(t *testing.T) {
	l := listen(t)
	for _, query := range []string{
		"", "?code=x", "?code=x&state=", "?code=x&state=t", "?code=x&state=ss", "?code=x&state=s&state=s",
		"?code=x&state=s&state=t", "?code=x&State=s", "?error=access_denied", "?error=access_denied&state=t",
		"?error=<script>alert(1)</script>&state=t", "?state=s%00",
	} {
		status, header, body := visit(t, "GET", l.RedirectURI()+query, "")
		if status != 400 || header.Get("Content-Security-Policy") != policy || !strings.Contains(body, unknownPage.Heading) ||
			strings.Contains(body, "alert") {
			t.Errorf("%q is answered with %d %s", query, status, body)
		}
	}
	shown := make(chan int, 1)
	go func() {
		status, _, _ := visit(t, "GET", l.RedirectURI()+"?code=c&state=s", "")
		shown <- status
	}()
	if q, err := l.Wait(t.Context()); err != nil || q.Get("code") != "c" {
		t.Errorf("the answer came as %v, error %v", q, err)
	}
	l.Close(Page{Done: true})
	if status := <-shown; status != 200 {
		t.Errorf("the answer was answered with %d", status)
	}
}

func TestPage(t *testing.T) {
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "</style><style>", "",
	} {
		for _, done := range []bool{true, false} {
			var b strings.Builder
			if err := page.Execute(&b, Page{Done: done, Heading: hostile, Text: hostile}); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if hostile != "" && strings.Contains(text, hostile) {
				t.Errorf("%q is not escaped", hostile)
			}
			if strings.Count(text, "<style>") != 1 || strings.Contains(text, "<script") || strings.Contains(text, "style=") {
				t.Error("the page holds what its policy forbids")
			}
			if hash := styleHash(text); hash == styleHash("") || !strings.Contains(policy, hash) {
				t.Error("the policy forbids the page's own style")
			}
			if failed := strings.Contains(text, `class="failed"`); failed == done {
				t.Errorf("done %v is shown as failed %v", done, failed)
			}
		}
	}
}
