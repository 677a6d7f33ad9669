package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
)

// testServer is a running app host at localhost, where browsers accept its cookies.
type testServer struct {
	*fakeServices
	pages   http.Handler
	mu      sync.Mutex
	targets []string // method and request target of everything that was asked for
}

func startServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{fakeServices: newServices()}
	content := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".png") || strings.HasSuffix(r.URL.Path, ".svg") {
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
			fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="240"><circle cx="%d" cy="120" r="90" fill="teal"/></svg>`,
				map[bool]int{true: 120, false: 200}[strings.Contains(r.URL.Path, "/plain/")])
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>x</title>"+report)
	}))
	t.Cleanup(content.Close)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.targets = append(s.targets, r.Method+" "+r.RequestURI+" "+r.Referer())
		switch r.URL.Path {
		case "/test/enter": // what the callback does
			setCookie(w, sessionCookie, secret, 600)
			setCookie(w, attemptCookie, attemptText, 600)
			setCookie(w, takeoverCookie, questionText, 600)
		case "/test/cb": // an app that takes an answer and shows nothing
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			s.pages.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>x</title><link rel=icon href='data:,'>")
	}))
	t.Cleanup(app.Close)
	s.appURL, s.contentURL = strings.Replace(app.URL, "127.0.0.1", "localhost", 1), content.URL
	s.reset()
	return s
}

// reset gives the host fresh services, which sets change.
func (s *testServer) reset(sets ...func(*fakeServices)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := newServices()
	fresh.appURL, fresh.contentURL = s.appURL, s.contentURL
	all(sets...)(fresh)
	s.fakeServices, s.pages = fresh, fresh.handler()
}

// enter signs a browser in.
func (s *testServer) enter(p *browser.Page) { p.Go(s.appURL + "/test/enter") }

// reach names every control of a page that the Tab key ought to reach; of a group of radio buttons that is the chosen
// one.
const reach = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
	.filter(e => e.checkVisibility() && (e.type !== "radio" || e.checked))`

// focus is where the focus is.
type focus struct {
	Control         int // in the order of reach
	Outline, Markup string
}

const focused = `(e => ({Control: ` + reach + `.indexOf(e), Outline: getComputedStyle(e).outlineStyle,
	Markup: e.outerHTML.slice(0, 120)}))(document.activeElement)`

func TestTheKeyboardReachesEveryControl(t *testing.T) {
	server := startServer(t)
	p := browser.Open(t)
	server.enter(p)
	for _, path := range []string{ // one for each template
		"/", "/signed-out", "/dashboard", "/artifacts?q=tide&state=pinned", selectionPath + "?do=delete&artifact=" + artifactID,
		artifactPage, artifactPage + "/delete", "/access-links", "/v/" + artifactID, panelPage, inboxPath, threadsPage,
		comparisonPage, "/keys", "/connections", "/audit", "/billing", "/settings", "/claim", agentPath, "/device", "/oauth/consent?req=abc",
	} {
		p.Go(server.appURL + path)
		want := browser.Eval[int](&p.Document, reach+".length")
		for i := range want {
			p.Press(kb.Tab)
			p.Wait(`!document.activeElement.matches("body, iframe")`) // the way through a frame takes a moment
			got := browser.Eval[focus](&p.Document, focused)
			if got.Control != i {
				t.Errorf("%s: Tab number %d reaches control %d (%s)", path, i, got.Control, got.Markup)
				break
			}
			if got.Outline != "solid" {
				t.Errorf("%s: nobody sees that control %d has the focus", path, i)
			}
		}
	}
	p.Go(server.appURL + "/keys")
	p.Press(kb.Tab)
	p.Press(kb.Enter)
	p.Wait(`location.hash === "#content"`)
}

func TestTheClaimTokenStaysOutOfAddresses(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	p.Go(server.appURL + "/claim#" + claimToken)
	p.WaitText("kept in this tab")
	if got := browser.Eval[string](&p.Document, "location.href + sessionStorage.length + localStorage.length"); got != server.appURL+"/claim10" {
		t.Errorf("the page keeps %q", got)
	}
	p.Screenshot("claim-guest-1280-light")
	for _, v := range p.Axe() {
		t.Error(v)
	}
	server.enter(p) // what the sign-in does in between
	p.Go(server.appURL + "/claim")
	p.WaitText("Claim 1 artifact?")
	if n := browser.Eval[int](&p.Document, "sessionStorage.length"); n != 0 {
		t.Errorf("%d texts stay in the tab", n)
	}
	p.Click(submit)
	p.WaitText("One artifact is yours now.")
	p.Clean()
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, target := range server.targets {
		expect.Lacks(t, "an address", target, "ap_ct_")
	}
	if want := "Claim " + claimToken; server.calls[len(server.calls)-1] != want {
		t.Errorf("calls %v", server.calls)
	}
}

func TestFlowsWorkWithoutScripts(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.NoScripts()
	for _, s := range []struct{ path, field, value, then, done string }{
		{"/keys", "name", "Build server", "", "shown only once"},
		{"/keys/" + keyID + "/revoke", "", "", "", "Make a key"},
		{"/connections/apps/" + grantID + "/unlink", "", "", "", "Agents and apps that you let"},
		{"/claim", "claim_token", claimToken, "Claim 1 artifact?", "One artifact is yours now."},
		{"/device?code=" + userCode, "", "", "Let this device in?", "The device is in"},
		{agentPath, "user_code", "123456", "", "The agent is in"},
		{"/settings", "name", "Quiet", "", "Quiet"},
		{"/settings/sign-out-everywhere", "", "", "", "You are signed out here"},
	} {
		p.Go(server.appURL + s.path)
		if s.field != "" {
			p.Do(chromedp.SendKeys(chromedp.CSS("#"+s.field), s.value))
		}
		p.Click(submit)
		if s.then != "" {
			p.WaitText(s.then)
			p.Click(submit)
		}
		p.WaitText(s.done)
	}
	p.Clean()
}

func TestConsentLeavesForTheApp(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>x</title><link rel=icon href='data:,'>got %s, referrer %q, cookies %q", r.URL.Query().Get("code"), r.Referer(), r.Header.Get("Cookie"))
	}))
	t.Cleanup(client.Close)
	server.apps.redirect = client.URL + "/cb?" + url.Values{"code": {"abc"}, "state": {"x&y\"'>"}}.Encode()
	p.Go(server.appURL + "/oauth/consent?req=abc")
	p.Click(submit)
	p.WaitText(`got abc, referrer "", cookies ""`)
	p.Clean()
}

func TestASecondClickWaitsForTheFirst(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.Go(server.appURL + "/keys")
	browser.Eval[bool](&p.Document, `(() => { document.getElementById("name").value = "Twice"; const b = document.querySelector("main button"); b.click(); b.click(); return true })()`)
	p.WaitText("shown only once")
	if len(server.commands) != 1 {
		t.Errorf("%d commands", len(server.commands))
	}
	p.Click("[data-copies]")
	p.Wait(`document.querySelector('[data-part="copied"]').textContent !== ""`) // copied, or what to do instead
}

func TestAFormThatWasStoppedOnItsWayIsSentAgain(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.Before(`{ window.later = []; window.passed = 0; const real = setTimeout; window.setTimeout = (f, ms) => ms < 1000 ? real(f, ms) : later.push(f) }
		addEventListener("submit", e => { if (!e.defaultPrevented) { passed++; e.preventDefault() } })`)
	p.Go(server.appURL + "/keys")
	send := func() int {
		return browser.Eval[int](&p.Document, `(document.getElementById("name").value = "Stopped", document.querySelector("main button").click(), passed)`)
	}
	if first, second := send(), send(); first != 1 || second != 1 {
		t.Errorf("sent %d and %d times", first, second)
	}
	browser.Eval[bool](&p.Document, "(later.splice(0).forEach(f => f()), true)")
	if n := send(); n != 2 {
		t.Errorf("after a while it was sent %d times", n)
	}
	p.Clean()
}
