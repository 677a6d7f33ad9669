package content_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/reading"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// ownEnv is a content host where each artifact has an origin of its own.
type ownEnv struct{ *env }

func newOwnEnv(t *testing.T, files ...string) *ownEnv {
	t.Helper()
	e := &ownEnv{newEnv(t, files...)}
	e.host.Origins.Own = "http://*.content.test"
	e.Handler = e.host.Handler()
	return e
}

// at asks for a path at the own origin of the artifact.
func (e *ownEnv) at(path string, headers ...string) *httptest.ResponseRecorder {
	e.T.Helper()
	return e.Ask("GET", e.host.Origins.Of(e.Claims.Artifact)+path, headers...)
}

// with is at with a token in the cookie.
func (e *ownEnv) with(token, path string, headers ...string) *httptest.ResponseRecorder {
	e.T.Helper()
	return e.at(path, append([]string{"Cookie", "__Host-v=" + token}, headers...)...)
}

// open is at as a frame of the app that opens a path by a new token.
func (e *ownEnv) open(path string) *httptest.ResponseRecorder {
	e.T.Helper()
	return e.at("/.vitrine/open/"+e.Token()+path, frame...)
}

// wantKept checks that an answer leaves what the browser has stored.
func wantKept(t testing.TB, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Header().Get("Clear-Site-Data") != "" || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("%d clears: %v", w.Code, w.Header())
	}
}

// wantCleared checks that an answer is a refusal that takes away what the browser has stored.
func wantCleared(t testing.TB, w *httptest.ResponseRecorder) {
	t.Helper()
	wantRefused(t, w, http.StatusNotFound, fault.NotFound)
	const cookie = "__Host-v=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=None; Partitioned"
	if w.Header().Get("Clear-Site-Data") != `"cache", "storage"` || w.Header().Get("Set-Cookie") != cookie {
		t.Errorf("%v does not clear", w.Header())
	}
}

func TestAFrameOpensAnOriginByACookie(t *testing.T) {
	e := newOwnEnv(t, "index.html", "<h1>hi</h1>", "a b/ä.html", "<h1>ho</h1>")
	origin := e.host.Origins.Of(e.Claims.Artifact)
	w := e.open("/a%20b/%C3%A4.html?q=1")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != origin+"/.vitrine/ready/a%20b/%C3%A4.html?q=1" ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	want := "__Host-v=" + e.Token() + "; Path=/; Max-Age=90000; HttpOnly; Secure; SameSite=None; Partitioned"
	if got := w.Header()["Set-Cookie"]; len(got) != 1 || got[0] != want {
		t.Errorf("cookies %q, want %s", got, want)
	}
	w = e.with(e.Token(), "/.vitrine/ready/a%20b/%C3%A4.html?q=1", frame...)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != origin+"/a%20b/%C3%A4.html?q=1" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	wantBody(t, e.with(e.Token(), "/a%20b/%C3%A4.html?q=1"), "<h1>ho</h1>")
	for path, to := range map[string]string{"/": "/", "/%2Fevil.test/x": "//evil.test/x"} {
		if got := e.open(path).Header().Get("Location"); got != origin+"/.vitrine/ready"+to {
			t.Errorf("%s leads to %s", path, got)
		}
		if got := e.with(e.Token(), "/.vitrine/ready"+path, frame...).Header().Get("Location"); got != origin+to {
			t.Errorf("ready at %s leads to %s", path, got)
		}
	}
	wantRefused(t, e.with(e.Token(), "//evil.test/x", frame...), http.StatusNotFound, fault.NotFound)
}

func TestABrowserThatKeepsNoCookieIsToldToTheViewer(t *testing.T) {
	e := newOwnEnv(t, "index.html", "<h1>hi</h1>", "docs/index.html", "in")
	w := e.at("/.vitrine/ready/index.html", frame...)
	policy := w.Header().Get("Content-Security-Policy")
	const tells = `parent.postMessage({type:"vitrine:no-cookies"},"http://app.test")`
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), tells) ||
		!strings.Contains(policy, "frame-ancestors http://app.test") || w.Header().Get("X-Frame-Options") != "" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
	wantRefused(t, e.at("/.vitrine/ready/index.html"), http.StatusNotFound, fault.NotFound)
	wantBody(t, e.at("/.vitrine/t/"+e.Token()+"/index.html"), "<h1>hi</h1>")
	docs := "/.vitrine/t/" + e.Token() + "/docs"
	if got := e.at(docs, frame...).Header().Get("Location"); got != docs+"/" {
		t.Errorf("a folder leads to %s", got)
	}
}

func TestT101AnotherPageOfTheDomainCannotOpenAnArtifact(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	for name, headers := range map[string][]string{
		"a sibling":       {"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "same-site"},
		"the page itself": {"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "same-origin"},
		"a whole tab":     {"Sec-Fetch-Dest", "document", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"},
		"a script":        {"Sec-Fetch-Dest", "empty", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Site", "cross-site"},
		"no browser":      nil,
	} {
		w := e.at("/.vitrine/open/"+e.Token()+"/index.html", headers...)
		if w.Code != http.StatusNotFound || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/index.html", "/.vitrine/ready/", "/.vitrine/t/" + e.Token() + "/index.html"} {
		w := e.with(e.Token(), path, "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "same-site")
		wantRefused(t, w, http.StatusNotFound, fault.NotFound)
		wantKept(t, w)
		if w := e.with(e.Token(), path, frame...); w.Code == http.StatusNotFound {
			t.Errorf("the app opens no %s", path)
		}
	}
}

// TestAnOpeningWithoutTheReferrerOfTheAppIsToldToTheViewer tells it as if the browser kept no cookie, because some browsers
// are set to send no referrer.
func TestAnOpeningWithoutTheReferrerOfTheAppIsToldToTheViewer(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	e.StoreErr = fault.NewCode(fault.DatabaseUnavailable) // nothing is read
	for _, referrer := range []string{"", "http://app.test", "http://app.test.evil.test/", "https://app.test/"} {
		headers := append(slices.Clone(reading.InFrame), "Referer", referrer)
		w := e.at("/.vitrine/open/"+e.Token()+"/index.html", headers...)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `"vitrine:no-cookies"`) {
			t.Errorf("%q: %d %s", referrer, w.Code, w.Body)
		}
		wantKept(t, w)
	}
}

func TestAnOriginShowsTheCurrentRevisionAlone(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	old := e.Token()
	e.State.Artifact.Current = id.NewRevision()
	e.Other = &artifact.Revision{Status: artifact.Published}
	w := e.at("/.vitrine/open/"+old+"/index.html", frame...)
	wantRefused(t, w, http.StatusNotFound, fault.NotFound)
	wantKept(t, w)
	wantBody(t, e.with(old, "/index.html"), "x") // a page that is open goes on
}

func TestT102NothingIsServedWithoutATokenOfThatArtifact(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x", "v/token/a.txt", "of the artifact", "healthz", "too", "openapi.json", "{}")
	good := e.Token()
	other := e.host.Origins.Of(id.NewArtifact())
	e.StoreErr = fault.NewCode(fault.DatabaseUnavailable) // nothing is read
	paths := []string{
		"/index.html", "/", "/.vitrine/r/index.html", "/.vitrine", "/.vitrine/x", "/.vitrine/ready/x", "/healthz",
	}
	for _, path := range paths {
		for _, origin := range []string{e.host.Origins.Of(e.Claims.Artifact), other, "http://www.content.test"} {
			w := e.Ask("GET", origin+path)
			wantRefused(t, w, http.StatusNotFound, fault.NotFound)
			wantKept(t, w)
		}
	}
	for _, before := range []string{"", "/.vitrine/t/" + good, "/.vitrine/open/" + good} {
		path := before + "/index.html"
		w := e.Ask("GET", other+path, append([]string{"Cookie", "__Host-v=" + good}, frame...)...)
		wantRefused(t, w, http.StatusNotFound, fault.NotFound)
		w = e.Ask("GET", "http://x.y.content.test"+path, append([]string{"Cookie", "__Host-v=" + good}, frame...)...)
		wantRefused(t, w, http.StatusNotFound, fault.NotFound)
	}
	if n := e.Opened.Load(); n != 0 {
		t.Errorf("%d objects were opened", n)
	}
	e.StoreErr = nil
	for path, body := range map[string]string{
		"/v/token/a.txt": "of the artifact", "/healthz": "too", "/openapi.json": "{}",
	} {
		wantBody(t, e.with(good, path), body)
	}
	wantBody(t, e.with("AAAA; __Host-v="+good, "/index.html"), "x")
}

func TestT103ARefusedTokenClearsWhatTheBrowserStored(t *testing.T) {
	for name, end := range map[string]func(*ownEnv){
		"an artifact that is deleted":  func(e *ownEnv) { e.State.Artifact.Status = "deleted" },
		"an artifact that has expired": func(e *ownEnv) { e.State.Artifact.ExpiresAt = e.Now },
		"an artifact that is locked":   func(e *ownEnv) { e.State.Artifact.Lock = "lkd" },
		"a workspace that is locked":   func(e *ownEnv) { e.State.Workspace.Lock = "lkd" },
		"a token that has ended":       func(e *ownEnv) { e.Now = e.Now.Add(90 * time.Minute) },
	} {
		e := newOwnEnv(t, "index.html", "x", "a.md", "x")
		token := e.Token()
		wantBody(t, e.with(token, "/index.html"), "x")
		end(e)
		for _, headers := range [][]string{nil, frame, {"If-None-Match", "*"}, {"Range", "bytes=0-0"}} {
			for _, path := range []string{"/index.html", "/none"} {
				t.Log(name, path, headers)
				wantCleared(t, e.with(token, path, headers...))
			}
		}
		t.Log(name)
		for _, path := range []string{"/.vitrine/open/", "/.vitrine/t/"} {
			w := e.at(path+token+"/index.html", frame...)
			wantRefused(t, w, http.StatusNotFound, fault.NotFound)
			wantKept(t, w)
		}
	}
}

func TestT103NothingElseClears(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	token := e.Token()
	for _, path := range []string{
		"/none.html", "/a%2F..%2Fb", "/.vitrine/x", "/.vitrine/open/none/", "/.vitrine/t/none/index.html",
	} {
		wantKept(t, e.with(token, path))
	}
	e.StoreErr = fault.NewCode(fault.DatabaseUnavailable)
	w := e.with(token, "/index.html")
	wantRefused(t, w, http.StatusServiceUnavailable, fault.DatabaseUnavailable)
	wantKept(t, w)
}

func TestT104NoServiceWorkerAnswersForAnArtifact(t *testing.T) {
	e := newOwnEnv(t, "sw.js", "x")
	for _, headers := range [][]string{{"Service-Worker", "script"}, {"Sec-Fetch-Dest", "serviceworker"}} {
		w := e.with(e.Token(), "/sw.js", headers...)
		wantRefused(t, w, http.StatusForbidden, fault.Forbidden)
		wantRefused(t, e.at("/.vitrine/t/"+e.Token()+"/sw.js", headers...), http.StatusForbidden, fault.Forbidden)
	}
}

func TestAnOwnOriginHasHeadersOfItsOwn(t *testing.T) {
	e := newOwnEnv(t, "index.html", "<h1>hi</h1>", "a.js", "x")
	w := e.with(e.Token(), "/index.html", append(frame, "Origin", "null")...)
	expect.Results(t, w.Header().Get, map[string]string{
		"Cache-Control":                "private, no-cache",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Origin-Agent-Cluster":         "?1",
		"Access-Control-Allow-Origin":  "",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "",
		"Permissions-Policy":           "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	})
	policy := strings.Split(w.Header().Get("Content-Security-Policy"), "; ")
	for _, part := range []string{
		"worker-src 'self' blob: data:", "frame-src 'self' blob: data:", "frame-ancestors http://app.test 'self'",
		"form-action 'self'", "base-uri 'self'", "media-src 'self' data: blob:",
	} {
		if !slices.Contains(policy, part) {
			t.Errorf("%q has no %q", policy, part)
		}
	}
	of := func(headers ...string) string {
		return e.with(e.Token(), "/a.js", headers...).Header().Get("Content-Security-Policy")
	}
	worker := of("Sec-Fetch-Dest", "worker")
	if !strings.Contains(worker, "script-src 'self' 'unsafe-inline'") || !strings.Contains(worker, "frame-ancestors 'none'") {
		t.Errorf("a worker has %s", worker)
	}
	if alone := of(); !strings.Contains(alone, "script-src 'none'") || alone == worker {
		t.Errorf("a file by itself has %s", alone)
	}
	if got := e.with(e.Token(), "/a.js").Header().Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("a file that no frame opens is %s", got)
	}
	e.Claims.Scripts = false
	if got := of("Sec-Fetch-Dest", "worker"); !strings.Contains(got, "script-src 'none'") {
		t.Errorf("a worker runs where scripts do not: %s", got)
	}
}

func TestPathsAreThoseOfAWebServer(t *testing.T) {
	e := newOwnEnv(t, "index.html", "root", "docs/index.html", "docs", "about.html", "about", "data/a.csv", "1,2")
	for path, body := range map[string]string{"/": "root", "/docs/": "docs", "/about": "about", "/about.html": "about"} {
		wantBody(t, e.with(e.Token(), path), body)
	}
	for path, to := range map[string]string{
		"/docs?q": "/docs/?q", "/about/": "/about.html", "/data": "/.vitrine/r/data", "/data/": "/.vitrine/r/data",
	} {
		if w := e.with(e.Token(), path, frame...); w.Code != http.StatusFound || w.Header().Get("Location") != to {
			t.Errorf("%s: %d, to %s", path, w.Code, w.Header().Get("Location"))
		}
		wantRefused(t, e.with(e.Token(), path), http.StatusNotFound, fault.NotFound)
	}
	w := e.with(e.Token(), "/none", frame...)
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `no file none. <a href="/.vitrine/r">`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		w := e.Ask(method, e.host.Origins.Of(e.Claims.Artifact)+"/index.html")
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}

func TestTooManyCookiesOfTheDomainAreDeleted(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	token := e.Token()
	long := strings.Repeat("x", 4000)
	bomb := "a=" + long + "; b=" + long + "; __Host-own=1; c=" + long[:200]
	wantKept(t, e.with(token+"; a=1; b=2", "/index.html"))
	w := e.with(token+"; "+bomb, "/index.html")
	wantBody(t, w, "x")
	for _, name := range []string{"a", "b", "c"} {
		line := name + "=; Path=/; Domain=content.test; Max-Age=0; Secure; SameSite=None"
		got := w.Header()["Set-Cookie"]
		if !slices.Contains(got, line) || !slices.Contains(got, line+"; Partitioned") || len(got) != 6 {
			t.Errorf("%s stays: %q", name, got)
		}
	}
}

func TestT105TheSharedOriginIsSealed(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x", "a.svg", "<svg/>", "a.png", "x")
	for _, path := range []string{"index.html", "a.svg", "a.png"} {
		for _, e.Claims.Scripts = range []bool{true, false} {
			w := e.Ask("GET", reading.ContentOrigin+"/v/"+e.Token()+"/"+path, frame...)
			policy := w.Header().Get("Content-Security-Policy")
			_, sandbox, ok := strings.Cut(policy, "; sandbox allow-scripts ")
			if !ok || strings.Contains(sandbox, "same-origin") {
				t.Errorf("%s: %s", path, policy)
			}
		}
	}
}

func TestTheSharedOriginIsAsBefore(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	wantBody(t, e.Ask("GET", reading.ContentOrigin+"/v/"+e.Token()+"/index.html"), "x")
	wantRefused(t, e.Ask("GET", reading.ContentOrigin+"/index.html", "Cookie", "__Host-v="+e.Token()), http.StatusNotFound,
		fault.NotFound)
	e.host.Strict = true
	e.Handler = e.host.Handler()
	wantRefused(t, e.Ask("GET", "http://evil.test/v/"+e.Token()+"/index.html"), http.StatusMisdirectedRequest, fault.NotFound)
	wantBody(t, e.with(e.Token(), "/index.html"), "x")
	e.host.Origins.Own = ""
	e.Handler = e.host.Handler()
	e.host.Origins.Own = "http://*.content.test"
	wantRefused(t, e.with(e.Token(), "/index.html"), http.StatusMisdirectedRequest, fault.NotFound)
}

// TestAnAppAnswersForPathsThatNoFileHas checks what documents of a frame and other requests get at paths that are no file.
func TestAnAppAnswersForPathsThatNoFileHas(t *testing.T) {
	e := newOwnEnv(t, "main.html", "the app", "about.html", "about", "docs/a.txt", "a", "404.html", "nothing here")
	shown := e.State.Artifact
	shown.Entrypoint = "main.html"
	for _, c := range []struct {
		app        artifact.App
		path, body string
		status     int
	}{
		{artifact.FoundApp, "/", "the app", 200},
		{artifact.FoundApp, "/users/7", "the app", 200},
		{artifact.DeclaredApp, "/users/", "the app", 200},
		{artifact.FoundApp, "/docs", "the app", 200},
		{artifact.FoundApp, "/about", "about", 200},
		{artifact.NoApp, "/users/7", "nothing here", 404},
		{artifact.DeclinedApp, "/users/7", "nothing here", 404},
	} {
		shown.App = c.app
		w := e.with(e.Token(), c.path, frame...)
		body, _, _ := strings.Cut(w.Body.String(), "\n<script>")
		if w.Code != c.status || body != c.body || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%q %s: %d %q %v", c.app, c.path, w.Code, body, w.Header())
		}
		if c.status == http.StatusNotFound {
			again := e.with(e.Token(), c.path, append(slices.Clone(frame), "If-None-Match", "*", "Range", "bytes=0-1")...)
			if again.Code != c.status || again.Body.Len() != w.Body.Len() {
				t.Errorf("a condition of what is not there: %d %q", again.Code, again.Body)
			}
		}
		wantKept(t, w)
	}
	shown.App = artifact.FoundApp
	for name, headers := range map[string][]string{
		"a script of the page": {"Sec-Fetch-Dest", "script", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Site", "same-origin"},
		"a request of it":      {"Sec-Fetch-Dest", "empty", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Site", "same-origin"},
		"no browser":           nil,
	} {
		w := e.with(e.Token(), "/users/7", headers...)
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "the app") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	shown.App, shown.Entrypoint = artifact.DeclaredApp, "docs/a.txt"
	if w := e.with(e.Token(), "/users/7", frame...); strings.HasPrefix(w.Body.String(), "a\n") || w.Code == http.StatusOK {
		t.Errorf("an entrypoint that is no page: %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/../main.html", "/a//b", "/users%00"} {
		if w := e.with(e.Token(), path, frame...); w.Code == http.StatusOK {
			t.Errorf("%s is a path of the app: %s", path, w.Body)
		}
	}
}
