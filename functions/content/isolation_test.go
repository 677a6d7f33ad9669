package content_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
)

// siteEnv is two artifacts at origins of one domain, by TLS, because each name below localhost is a site of its
// own. All other names have pages of the test, which frame what their query names as the viewers do.
type siteEnv struct {
	secret, hostile *ownEnv
	server          *httptest.Server

	mu    sync.Mutex
	asked []asked
	hosts []string // that pages of the test were asked from
}

// asked is a request for the secret artifact.
type asked struct {
	path, from string // the second is Sec-Fetch-Site
	referrer   string
	tokens     []string // in cookies of the name that ours has
	cookies    int      // bytes
	status     int
}

func newSiteEnv(t *testing.T) *siteEnv {
	t.Helper()
	share := func(e *ownEnv) *ownEnv {
		e.serve("https://content.test", "https://app.test")
		e.host.Origins.Own = "https://*.content.test"
		e.Handler = e.host.Handler()
		return e
	}
	const worker = `let n = 0; onconnect = (e) => e.ports[0].postMessage(++n)`
	s := &siteEnv{
		secret: share(newOwnEnv(t, "index.html", "<!doctype html><p>the secret", "worker.js", worker,
			"evil.test/x.html", "<!doctype html><p>a path")),
		hostile: share(newOwnEnv(t, "index.html", "<!doctype html><p>hostile", "worker.js", worker)),
	}
	s.hostile.host.Reader.Tokens = s.secret.Tokens // of one deployment
	s.hostile.Tokens = s.secret.Tokens
	s.server = httptest.NewUnstartedServer(s)
	s.server.EnableHTTP2 = true
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

func (s *siteEnv) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const sandbox = "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads allow-forms allow-modals " +
		"allow-same-origin"
	switch "https://" + r.Host {
	case s.secret.origin():
		answer := httptest.NewRecorder()
		s.secret.Handler.ServeHTTP(answer, r)
		s.note(r, answer.Code)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	case s.hostile.origin():
		s.hostile.Handler.ServeHTTP(w, r)
	default:
		s.mu.Lock()
		s.hosts = append(s.hosts, r.Host)
		s.mu.Unlock()
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Around</title>")
		for _, source := range r.URL.Query()["frame"] {
			fmt.Fprintf(w, `<iframe sandbox="%s" referrerpolicy="origin" src="%s"></iframe>`, sandbox,
				html.EscapeString(source))
		}
	}
}

func (s *siteEnv) note(r *http.Request, code int) {
	a := asked{
		path:     r.URL.Path,
		from:     r.Header.Get("Sec-Fetch-Site"),
		referrer: r.Referer(),
		cookies:  len(strings.Join(r.Header.Values("Cookie"), "")),
		status:   code,
	}
	for _, c := range r.CookiesNamed("__Host-v") {
		a.tokens = append(a.tokens, c.Value)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
}

// last returns the last request for a path of the secret artifact.
func (s *siteEnv) last(t testing.TB, path string) asked {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.asked) {
		if a.path == path {
			return a
		}
	}
	t.Fatalf("nobody asked for %s: %+v", path, s.asked)
	return asked{}
}

// origin is the own origin of the artifact.
func (e *ownEnv) origin() string { return e.host.Origins.Of(e.Claims.Artifact) }

// opening is what a viewer frames.
func (e *ownEnv) opening(path string) string {
	e.T.Helper()
	return e.origin() + "/.vitrine/open/" + e.Token() + path
}

// open opens a tab in a browser that knows the names and the certificate.
func (s *siteEnv) open(t *testing.T) *browser.Page {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it needs a browser")
	}
	key := sha256.Sum256(s.server.Certificate().RawSubjectPublicKeyInfo)
	b := expect.Value(browser.Start(
		chromedp.Flag("host-resolver-rules", "MAP *.test "+s.server.Listener.Addr().String()),
		chromedp.Flag("disable-popup-blocking", true),
		chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:])),
	))(t)
	t.Cleanup(b.Close)
	return b.Open(t)
}

// around is the URL of a page that frames others.
func around(host string, frames ...string) string {
	return "https://" + host + "/?" + url.Values{"frame": frames}.Encode()
}

// both opens the two artifacts side by side in the app.
func (s *siteEnv) both(p *browser.Page) (secret, hostile *browser.Document) {
	p.Go(around("app.test", s.secret.opening("/"), s.hostile.opening("/")))
	secret, hostile = p.Frame(s.secret.origin()+"/"), p.Frame(s.hostile.origin()+"/")
	secret.WaitText("the secret")
	hostile.WaitText("hostile")
	return secret, hostile
}
