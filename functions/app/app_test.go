package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/script"
	"vitrine/shared/publishing/view"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

const (
	publicID = "0123456789ABCDEF"
	blob     = "AQHqZ0-secret_of_the_link-7Yk"
	opening  = `{"public_id":"` + publicID + `","blob":"` + blob + `"}`
)

// resolver answers what a link shows; nil: every link opens.
type resolver func(ctx context.Context, q contract.ResolveRequest, scripts bool) (view.View, error)

func refuses(err error) resolver {
	return func(context.Context, contract.ResolveRequest, bool) (view.View, error) { return view.View{}, err }
}

// host is the app host at localhost with the given resolver; what it logs goes to the buffer.
func host(resolve resolver) (*Host, *bytes.Buffer) {
	s := newServices()
	s.views.ResolveFn = resolve
	return s.host()
}

func send(h http.Handler, method, target, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost:8704"+target, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string { t.Helper(); return expect.Body(t, r) }

// wantAnswer expects a status, and parts of the body, which it returns.
func wantAnswer(t *testing.T, what string, r *http.Response, status int, parts ...string) string {
	t.Helper()
	body := text(t, r)
	if r.StatusCode != status {
		t.Errorf("%s: %d, want %d\n%s", what, r.StatusCode, status, body)
	}
	expect.Has(t, what, body, parts...)
	return body
}

// wantHeaders expects headers of an answer: a name, its value, and so on.
func wantHeaders(t *testing.T, what string, r *http.Response, header ...string) {
	t.Helper()
	for i := 0; i < len(header); i += 2 {
		if got := r.Header.Get(header[i]); got != header[i+1] {
			t.Errorf("%s: %s is %q, want %q", what, header[i], got, header[i+1])
		}
	}
}

// wantCalls expects everything that reached the services.
func wantCalls(t *testing.T, what string, s *fakeServices, calls ...string) {
	t.Helper()
	if !slices.Equal(s.calls, calls) {
		t.Errorf("%s: reached %q, want %q", what, s.calls, calls)
	}
}

// wantRedirect expects an answer that leads to another page.
func wantRedirect(t *testing.T, what string, r *http.Response, to string) {
	t.Helper()
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != to {
		t.Errorf("%s: %d to %q, want %q", what, r.StatusCode, r.Header.Get("Location"), to)
	}
}

func asset0(name string) string { return "/assets/" + pages.Build() + "/" + name }

func TestRoutes(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	const html, jsonType = "text/html; charset=utf-8", "application/json; charset=utf-8"
	for _, tt := range []struct {
		method, path, body       string
		status                   int
		contentType, cache, want string
	}{
		{"GET", "/", "", 200, html, "private, no-cache", "curl -fsSL http://localhost:8704/install.sh | sh"},
		{"GET", "/al/" + publicID, "", 200, html, "no-cache", `data-public-id="` + publicID + `"`},
		{"POST", "/api/access-links/resolve", opening, 200, jsonType, "no-store", `"title":"` + publicID + " " + blob},
		{"GET", asset0("vitrine.css"), "", 200, "text/css; charset=utf-8", "public, max-age=31536000, immutable", "light-dark("},
		{"GET", asset0("viewer.js"), "", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "location.hash"},
		{"GET", asset0("claim.js"), "", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "sessionStorage"},
		{"GET", asset0("icon.svg"), "", 200, "image/svg+xml", "public, max-age=31536000, immutable", "<svg"},
		{"GET", "/assets/0011223344556677/vitrine.css", "", 200, "text/css; charset=utf-8", "no-store", "light-dark("},
		{"GET", "/assets/" + pages.Build() + "/none.css", "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "/healthz", "", 200, "application/json", "no-store", `{"ok":true,"app":"app"}`},
		{"GET", "/robots.txt", "", 200, "text/plain; charset=utf-8", "public, max-age=3600", "\nAllow: /skill.md\nAllow: "},
		{"GET", "/.well-known/gpc.json", "", 200, "application/json", "public, max-age=300", `"gpc":true`},
		{"GET", "/none", "", 404, html, "no-store", "Nothing on show here"},
		{"POST", "/none", "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "/al/", "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "/al/" + publicID + "/", "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "//al/" + publicID, "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "/al/../healthz", "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "/al/%2e%2e/healthz", "", 404, html, "no-store", "Nothing on show here"},
		{"GET", "/api/none", "", 404, jsonType, "no-store", `"code":"not_found"`},
		{"POST", "/", "", 405, html, "no-store", "This does not work here"},
		{"DELETE", "/al/" + publicID, "", 405, html, "no-store", "This does not work here"},
		{"OPTIONS", "/healthz", "", 405, html, "no-store", "This does not work here"},
		{"PUT", asset0("viewer.js"), "", 405, html, "no-store", "This does not work here"},
		{"GET", "/api/access-links/resolve", "", 405, jsonType, "no-store", `"code":"invalid_request"`},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			r := send(handler, tt.method, tt.path, tt.body)
			wantAnswer(t, "the answer", r, tt.status, tt.want)
			wantHeaders(t, "the answer", r, "Content-Type", tt.contentType, "Cache-Control", tt.cache)
			for name := range headers {
				if r.Header.Get(name) == "" {
					t.Errorf("no %s", name)
				}
			}
			if tt.method == "GET" && tt.status == 200 {
				head := send(handler, "HEAD", tt.path, "")
				head.Header.Set("X-Request-Id", r.Header.Get("X-Request-Id"))
				if diff := cmp.Diff(r.Header, head.Header); head.StatusCode != 200 || diff != "" {
					t.Errorf("HEAD: %d, headers differ:\n%s", head.StatusCode, diff)
				}
			}
			if (r.Header.Get("Allow") != "") != (tt.status == 405) {
				t.Errorf("%d with Allow %q", tt.status, r.Header.Get("Allow"))
			}
		})
	}
}

func TestAllowNamesTheMethods(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	for path, want := range map[string]string{"/": "GET, HEAD", "/healthz": "GET, HEAD", "/api/access-links/resolve": "POST"} {
		if got := send(handler, "PATCH", path, "").Header.Get("Allow"); got != want {
			t.Errorf("%s: Allow %q, want %q", path, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	h, _ := host(nil)
	h.Origins.Content = "https://content.example:8443/some/path" // the policy holds the origin alone
	handler := h.Handler()
	common := map[string]string{
		"Strict-Transport-Security":    "max-age=31536000",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "strict-origin-when-cross-origin",
		"Permissions-Policy":           "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"X-Robots-Tag":                 "",
	}
	viewer := maps.Clone(common)
	viewer["Referrer-Policy"], viewer["X-Robots-Tag"] = "no-referrer", "noindex, nofollow"
	viewer[policyHeader] = "default-src 'none'; script-src 'self' " + script.Hash(string(pages.Opening)) + "; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
		"frame-src https://content.example:8443; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	page := maps.Clone(common)
	page[policyHeader] = policyPage
	gone := maps.Clone(viewer)
	gone[policyHeader] = policyPage
	data := maps.Clone(common)
	data[policyHeader] = "default-src 'none'; frame-ancestors 'none'"
	for path, want := range map[string]map[string]string{
		"/": page, "/none": page, "/al/" + publicID: viewer, "/al/nothing": gone, "/healthz": data, "/robots.txt": data,
		"/.well-known/gpc.json": data, asset0("viewer.js"): data, "/api/access-links/resolve": data,
	} {
		r := send(handler, "GET", path, "")
		for name, value := range want {
			wantHeaders(t, path, r, name, value)
		}
		if c := r.Header.Values("Set-Cookie"); len(c) > 0 {
			t.Errorf("%s sets cookies: %v", path, c)
		}
	}
}

func TestOtherSitesCannotPost(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	for name, tt := range map[string]struct {
		header []string
		status int
	}{
		"our own page":                   {[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8704"}, 200},
		"our public name behind an edge": {[]string{"Origin", "http://localhost:8704"}, 200},
		"a program":                      {nil, 200},
		"another site":                   {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		"a sandboxed frame":              {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, 403},
	} {
		for _, target := range []string{"/api/access-links/resolve", qrPath} {
			wantAnswer(t, name+" asks "+target, send(handler, "POST", target, opening, tt.header...), tt.status)
		}
	}
}

func TestTheLogNamesNoLink(t *testing.T) {
	h, lines := host(nil)
	handler := h.Handler()
	send(handler, "GET", "/al/"+publicID+"?blob="+blob, "", "X-Request-Id", "request-18")
	var line map[string]any
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
		t.Fatalf("not one line: %s", lines)
	}
	keys := slices.Sorted(maps.Keys(line))
	if diff := cmp.Diff([]string{"bytes", "duration_ms", "level", "method", "msg", "request_id", "route", "status", "time"}, keys); diff != "" {
		t.Error(diff)
	}
	if line["route"] != "/al/{publicId}" || line["status"] != 200.0 || line["request_id"] != "request-18" {
		t.Errorf("%v", line)
	}
	expect.Lacks(t, "the log", lines.String(), blob, publicID)
	lines.Reset()
	send(handler, "GET", "/none", "")
	expect.Has(t, "a failure", lines.String(), `"code":"not_found"`, `"status":404`)
}

func TestPanicBecomesAnAnswer(t *testing.T) {
	h, lines := host(func(context.Context, contract.ResolveRequest, bool) (view.View, error) {
		panic("the case fell: " + blob)
	})
	r := send(h.Handler(), "POST", "/api/access-links/resolve", opening)
	expect.Lacks(t, "the answer", wantAnswer(t, "the answer", r, 500, `"code":"internal_error"`), "fell")
	if got := lines.String(); !strings.Contains(got, "the case fell") || !strings.Contains(got, "app_test.go") ||
		strings.Contains(got, blob) {
		t.Errorf("log: %s", got)
	}

	page := h.around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(errors.New("broken")) }))
	r = send(page, "GET", "/", "", "X-Request-Id", "request-19")
	wantAnswer(t, "the answer", r, 500, "Something broke", "request-19")
}

func TestHandlerNeedsOrigins(t *testing.T) {
	for _, bad := range []string{"", "content.example", "ftp://content.example", "https://", "'self'", "https://a b"} {
		h, _ := host(nil)
		h.Origins.Content = bad
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("started with ContentURL %q", bad)
				}
			}()
			h.Handler()
		}()
	}
}
