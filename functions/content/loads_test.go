package content_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/policy"
	"vitrine/shared/publishing/lint"
)

// load makes the host serve files under what a policy says.
func (e *env) load(p policy.Policy) {
	e.host.Loads, e.host.Static = p.Loads, p.StaticLoads
	e.Handler = e.host.Handler()
}

func readPolicy(t *testing.T, text string) policy.Policy {
	t.Helper()
	p, err := policy.Read([]byte(text), policy.Deployment{})
	expect.OK(t, err)
	return p
}

func TestFilesLoadFromTheHostsOfThePolicyAlone(t *testing.T) {
	const closed = "; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; "
	for name, c := range map[string]struct{ policy, static, running string }{
		"none": {`{"loads_from": "none"}`,
			"style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data: blob:; connect-src 'self'; " +
				"media-src 'self' blob:",
			"script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:; worker-src blob: data:; " +
				"style-src 'self' 'unsafe-inline'; font-src 'self' data: blob:; img-src 'self' data: blob:; " +
				"connect-src 'self' data: blob:; media-src 'self' data: blob:"},
		"others": {`{"loads_from": {"scripts": ["cdn.example"], "styles": "none", "fonts": ["*.fonts.example"],
			"images": ["https://tiles.example:8443", "b.example"], "connect": ["data.example"]}}`,
			"style-src 'self' 'unsafe-inline'; font-src 'self' data: https://*.fonts.example; " +
				"img-src 'self' data: blob: https://tiles.example:8443 https://b.example; " +
				"connect-src 'self' https://data.example; media-src 'self' blob:",
			"script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data: https://cdn.example; worker-src blob: data:; " +
				"style-src 'self' 'unsafe-inline'; font-src 'self' data: blob: https://*.fonts.example; " +
				"img-src 'self' data: blob: https://tiles.example:8443 https://b.example; " +
				"connect-src 'self' data: blob: https://data.example; media-src 'self' data: blob:"},
	} {
		s := newEnv(t, "a.html", "<p>")
		s.load(readPolicy(t, c.policy))
		for _, tt := range []struct {
			headers []string
			want    string
		}{
			{nil, "default-src 'none'; " + inert + "; " + c.static + closed + unframed},
			{frame, "default-src 'none'; " + named(c.running+closed) + byTheApp},
		} {
			if got := s.get("a.html", tt.headers...).Header().Get("Content-Security-Policy"); got != tt.want {
				t.Errorf("%s, %v: %s\nwant %s", name, tt.headers, got, tt.want)
			}
		}
	}
}

// TestBrowserRunsScriptsOfListedHostsAlone reaches one server by two names, of which the policy lists one. It holds the
// warnings about the page against what the browser does.
func TestBrowserRunsScriptsOfListedHostsAlone(t *testing.T) {
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, `out.textContent += " `+r.URL.Query().Get("as")+`"`)
	}))
	t.Cleanup(other.Close)
	address, err := url.Parse(other.URL)
	expect.OK(t, err)
	listed, unlisted := "localhost:"+address.Port(), "127.0.0.1:"+address.Port()
	p := readPolicy(t, fmt.Sprintf(`{"loads_from": {"scripts": [%q]}}`, listed))

	body := fmt.Sprintf(`<!doctype html><html lang=en><title>x</title><meta name=viewport content=width=device-width>
<p id=out>It ran</p><script src="https://%s/x.js?as=unlisted"></script><script src="https://%s/x.js?as=listed"></script>
<script>out.textContent += " last"</script>`, unlisted, listed)
	f, b := newFrames(t), browser.Open(t)
	f.load(p)
	f.Add("page.html", body)
	b.TrustAll()
	b.Go(f.app.URL + "/?src=" + f.url("page.html"))
	d := b.Frame("page.html")
	d.WaitText("It ran listed last")
	d.WaitViolation(unlisted)

	revision := lint.Revision{Entrypoint: "page.html", Paths: []string{"page.html"}, Scripts: true, Loads: p.Loads}
	found := lint.New(revision).Check("page.html", []byte(body)).Warnings
	if len(found) != 1 || found[0].Code != lint.ScriptBlocked || found[0].Subject != "https://"+unlisted {
		t.Errorf("%+v, want a warning about %s alone", found, unlisted)
	}
}
