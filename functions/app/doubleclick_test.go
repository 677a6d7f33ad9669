package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
)

// questionButton is what the page of a question has, and no other page.
const questionButton = `<button class="button danger" type="submit">`

// T43: a page of another site cannot put a question under the pointer.
func TestQuestionsAreNotAskedForOtherSites(t *testing.T) {
	h := newServices().handler()
	asked := 0
	for _, path := range memberPages {
		if path == agentPath {
			continue // it needs another cookie, and asks in a form of its own
		}
		asks := strings.Contains(text(t, signedIn(h, "GET", path, nil, "Sec-Fetch-Site", "same-origin")), questionButton)
		if asks {
			asked++
		}
		for _, site := range []string{"cross-site", "same-site"} {
			r := signedIn(h, "GET", path, nil, "Sec-Fetch-Site", site)
			to := r.Header.Get("Location")
			switch {
			case !asks && r.StatusCode != 200:
				t.Errorf("%s from %s: %d", path, site, r.StatusCode)
			case asks && (r.StatusCode != 303 || !strings.HasPrefix(path, to+"/") || r.Header.Get("Cache-Control") != "no-store"):
				t.Errorf("%s from %s: %d to %q", path, site, r.StatusCode, to)
			case asks:
				next := signedIn(h, "GET", to, nil, "Sec-Fetch-Site", site)
				if body := text(t, next); next.StatusCode != 200 || strings.Contains(body, questionButton) {
					t.Errorf("%s leads to %s: %d", path, to, next.StatusCode)
				}
				if r := send(h, "GET", path, "", "Sec-Fetch-Site", site); r.Header.Get("Location") != to {
					t.Errorf("%s from %s without a session leads to %q", path, site, r.Header.Get("Location"))
				}
			}
		}
		wantAnswer(t, path+" typed", signedIn(h, "GET", path, nil, "Sec-Fetch-Site", "none"), 200)
	}
	host, _ := newServices().host()
	led := slices.DeleteFunc(host.routes(), func(r route) bool { return r.parent == "" })
	if want := len(led); asked != want {
		t.Errorf("%d pages ask a question, and %d have a parent", asked, want)
	}
}

// trap is a page of another site that moves the tab to an address as soon as the mouse is pressed.
func trap(t *testing.T, to string) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>x</title><link rel=icon href='data:,'>Double-click here<script>onmousedown = () => { location = %q }</script>", to)
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// clock stops the time of every page until tick moves it on, and notes the forms that a page sends.
const clock = `{
	let at = 5000, timers = [];
	performance.now = () => at;
	window.setTimeout = (f, ms) => timers.push({ f, due: at + ms });
	window.tick = ms => {
		at += ms;
		const due = timers.filter(t => t.due <= at);
		timers = timers.filter(t => t.due > at);
		for (const t of due) t.f();
		return true;
	};
	addEventListener("submit", e => { if (!e.defaultPrevented) sessionStorage.setItem("sent", e.target.action) });
}`

// sent is where the last form went to that a page of the host sent.
func sent(p *browser.Page) string {
	return browser.Eval[string](&p.Document, `sessionStorage.getItem("sent") ?? ""`)
}

func tick(p *browser.Page, ms int) { browser.Eval[bool](&p.Document, fmt.Sprintf("tick(%d)", ms)) }

// doubleClick clicks twice on a page of another site that leads to a path of the host after the first click. The button
// that the second one is meant for is looked up before.
func (s *testServer) doubleClick(t *testing.T, p *browser.Page, path, button string, gap int) (x, y float64) {
	t.Helper()
	s.enter(p)
	p.Go(s.appURL + path)
	x, y = p.Middle(button)
	p.Go(trap(t, s.appURL+path))
	p.MoveMouse(x, y)
	p.PressMouse(x, y, 1)
	p.Wait(`location.origin === "` + s.appURL + `" && document.readyState === "complete"`)
	// Two frames later the page is painted, and takes clicks.
	browser.Eval[bool](&p.Document, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	tick(p, gap)
	p.PressMouse(x, y, 2)
	return x, y
}

func (s *testServer) hasChanged(call string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.changes, call)
}

// T43
func TestADoubleClickOnAnotherSiteDeletesNothing(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	p.Before(clock)
	server.doubleClick(t, p, artifactPage+"/delete", submit, 300)
	if to := sent(p); to != "" || server.hasChanged("Delete "+artifactID) {
		t.Fatalf("the second click sent a form to %q", to)
	}
	p.Click(`a[href$="/delete"]`)
	p.Wait(`location.pathname.endsWith("/delete") && document.readyState === "complete"`)
	tick(p, 700)
	p.Click(submit)
	p.Wait(`location.pathname === "/artifacts"`)
	if !server.hasChanged("Delete " + artifactID) {
		t.Errorf("who means it cannot delete: %v", server.calls)
	}
	p.Clean()
}

// T43
func TestADoubleClickOnAnotherSiteAllowsNoApp(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.apps.redirect = server.appURL + "/test/cb?code=x"
	p.Before(clock)
	x, y := server.doubleClick(t, p, "/oauth/consent?req=abc", submit, 699)
	if to := sent(p); to != "" || server.hasChanged("Allow abc") {
		t.Fatalf("the second click sent a form to %q", to)
	}
	tick(p, 700)
	if p.PressMouse(x, y, 1); sent(p) != "" {
		t.Fatal("the button takes the click of a mouse that never moved over the page")
	}
	p.MoveMouse(x+1, y)
	p.PressMouse(x+1, y, 1)
	p.WaitText("Your answer goes back")
	if !server.hasChanged("Allow abc") {
		t.Errorf("who means it cannot allow: %v", server.calls)
	}
	p.Clean()
}

// A browser that does not say where a request comes from gets the question, and so does one that goes back to it.
func TestDecisionsWaitUntilTheyWereSeen(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.apps.redirect = server.appURL + "/robots.txt"
	p.Before(clock)
	server.enter(p)
	for _, d := range []struct{ path, before, button, after string }{
		{"/artifacts/" + artifactID + "/delete", "", submit, "/artifacts"},
		{"/artifacts/" + artifactID, "", `form[action$="/restore"] button`, "/artifacts/" + artifactID + "#revisions"},
		{"/oauth/consent?req=abc", "", submit, "/robots.txt"},
		{"/oauth/consent?req=abc", "", "[formaction]", "/robots.txt"},
		{"/device?code=" + userCode, submit, `form[action="/device/approve"] button`, "/device/approve"},
		{"/claim#" + claimToken, "", `form[action="/claim/confirm"] button`, "/claim/confirm"},
		{agentPath, "", submit, ""},
	} {
		p.Go(server.appURL + d.path)
		if d.before != "" {
			press(d.before)(p)
		}
		x, y := p.Middle(d.button)
		browser.Eval[bool](&p.Document, `(document.querySelectorAll("[name=user_code]").forEach(e => e.value = "123456"), sessionStorage.clear(), true)`)
		p.MoveMouse(x+1, y)
		for _, event := range []string{"window", "window focus", "window pageshow", "document visibilitychange"} {
			target, name, again := strings.Cut(event, " ")
			if again {
				tick(p, 700)
				browser.Eval[bool](&p.Document, fmt.Sprintf("%s.dispatchEvent(new Event(%q))", target, name))
			}
			tick(p, 699)
			p.MoveMouse(x, y)
			p.PressMouse(x, y, 1)
			marked := browser.Eval[bool](&p.Document,
				fmt.Sprintf(`document.querySelector(%q).matches("[aria-disabled=true]")`, d.button))
			if to := sent(p); to != "" || !marked {
				t.Fatalf("%s sent a form to %q too early after %q, marked: %v", d.path, to, event, marked)
			}
		}
		tick(p, 1)
		press(d.button)(p)
		p.Wait(fmt.Sprintf(`sessionStorage.getItem("sent") !== null && document.readyState === "complete" && location.href.endsWith(%q)`, d.after))
	}
	p.Clean()
}

func TestDecisionsAreMadeByKeysAndByFingers(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.apps.redirect = server.appURL + "/robots.txt"
	p.Before(clock)
	server.enter(p)
	for name, decide := range map[string]func(){
		"a key":    func() { p.Press(kb.Enter) },
		"a finger": func() { p.Do(chromedp.Tap(chromedp.CSS(submit))) },
		"a program that helps to read": func() {
			browser.Eval[bool](&p.Document, `(document.querySelector("main button[type=submit]").click(), true)`)
		},
	} {
		p.Do(chromedp.EmulateViewport(1280, 800, chromedp.EmulateTouch))
		p.Go(server.appURL + "/oauth/consent?req=abc")
		browser.Eval[bool](&p.Document, `(document.querySelector("main button[type=submit]").focus(), sessionStorage.clear(), true)`)
		tick(p, 699)
		if decide(); sent(p) != "" {
			t.Errorf("%s decides too early", name)
		}
		tick(p, 1)
		decide()
		p.Wait(`location.pathname === "/robots.txt"`)
	}
}
