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
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
)

// inhabited is a running app host whose services are a house, at localhost, where browsers accept its cookies.
type inhabited struct {
	*house
	mu      sync.Mutex
	targets []string // method and request target of everything that was asked for
}

func inhabit(t *testing.T) *inhabited {
	t.Helper()
	in := &inhabited{house: newHouse()}
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
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.targets = append(in.targets, r.Method+" "+r.RequestURI+" "+r.Referer())
		switch r.URL.Path {
		case "/test/enter": // what the callback does
			setCookie(w, sessionCookie, secret, 600)
			setCookie(w, attemptCookie, attemptText, 600)
			setCookie(w, takeoverCookie, questionText, 600)
		case "/test/cb": // an app that takes an answer and shows nothing
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>x</title><link rel=icon href='data:,'>")
	}))
	t.Cleanup(server.Close)
	in.appURL, in.contentURL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1), content.URL
	handler = in.handler()
	return in
}

// enter signs a browser in.
func (in *inhabited) enter(p *browser.Page) { p.Go(in.appURL + "/test/enter") }

// scene is a page to look at: an address, and what is done there.
type scene struct {
	name, path string
	set        func(*house)
	act        func(*browser.Page)
}

func fill(id, value, button string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, fmt.Sprintf("(document.getElementById(%q).value = %q, true)", id, value))
		press(button)(p)
	}
}

// press clicks a button and waits for the page that follows.
func press(selector string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, "(window.before = true)")
		p.Click(selector)
		p.Wait(`!window.before && document.readyState === "complete"`)
	}
}

const submit = "main button[type=submit]"

func then(steps ...func(*browser.Page)) func(*browser.Page) {
	return func(p *browser.Page) {
		for _, step := range steps {
			step(p)
		}
	}
}

func nothing(s *house) { s.empty = true }

// long are the longest and oddest names that may turn up.
func long(s *house) {
	s.name = strings.Repeat("Harbour", 17)
	s.title = "Quarterly survey of the harbour seals between the northern hook and the great sandbank, with counts by bay, by tide and by observer, and all the raw data"
	s.device, s.client = strings.Repeat("office", 10), "\u202Emoor gnidaer\u2066 <b>bold</b> "+strings.Repeat("x", 180)
	s.email = strings.Repeat("a", 60) + "@example.test"
}

// fresh lets the member have signed in just now.
func fresh(s *house) { s.authenticated = noon }

var scenes = []scene{
	{name: "overview", path: "/dashboard"},
	{name: "overview-empty", path: "/dashboard", set: nothing},
	{name: "connections-providers", path: "/connections", set: vouching},
	{name: "agent-vouched", path: agentPath, set: vouching},
	{name: "keep", path: keepPath, set: vouching},
	{name: "keep-long", path: keepPath, set: func(s *house) { long(s); vouching(s) }},
	{name: "keep-none", path: keepPath},
	{name: "overview-long", path: "/dashboard", set: long},
	{name: "artifacts", path: "/artifacts?after=here"},
	{name: "artifacts-first", path: "/artifacts"},
	{name: "artifacts-empty", path: "/artifacts", set: nothing},
	{name: "artifacts-found", path: "/artifacts?q=t&sort=title&choose=all", set: func(s *house) { s.more = true }},
	{name: "artifacts-long", path: "/artifacts?kind=Page", set: long},
	{name: "artifacts-none", path: "/artifacts?q=whales"},
	{name: "artifacts-selected", path: selectionPath + "?do=delete&artifact=" + artifactID},
	{
		name: "artifacts-outcomes",
		path: selectionPath + "?do=pin&artifact=" + artifactID,
		set:  func(s *house) { long(s); s.pinRefused = fault.NewCode(fault.PinnedArtifactCap) },
		act:  press(submit),
	},
	{name: "keys", path: "/keys"},
	{name: "keys-empty", path: "/keys", set: nothing},
	{name: "keys-made", path: "/keys", act: fill("name", "Build server", submit)},
	{name: "keys-error", path: "/keys", act: fill("name", " ", submit)},
	{name: "keys-ended", path: "/keys/ended"},
	{name: "keys-revoke", path: "/keys/" + keyID + "/revoke"},
	{name: "connections", path: "/connections"},
	{name: "connections-pages", path: "/connections?agents=here", set: func(s *house) { s.more = true }},
	{name: "connections-empty", path: "/connections", set: nothing},
	{name: "connections-agent", path: "/connections/agents/" + agentID + "/unlink"},
	{name: "connections-app", path: "/connections/apps/" + grantID + "/unlink", set: long},
	{name: "settings", path: "/settings"},
	{name: "settings-reader", path: "/settings", set: func(s *house) { s.scopes = s.scopes[:2] }},
	{name: "settings-long", path: "/settings", set: long},
	{name: "settings-bad-name", path: "/settings", act: fill("name", " ", submit)},
	{
		name: "settings-bad-days",
		path: "/settings",
		set:  long,
		act: then(func(p *browser.Page) {
			browser.Eval[bool](&p.Document, `(document.getElementById("days").max = 99, true)`)
		}, fill("days", "8", submit)),
	},
	{name: "audit", path: "/audit?after=here"},
	{name: "audit-empty", path: "/audit", set: nothing},
	{name: "audit-long", path: "/audit", set: long},
	{name: "audit-reader", path: "/audit", set: func(s *house) { s.scopes = s.scopes[:2] }},
	{name: "settings-export", path: "/settings", set: exported("")},
	{name: "settings-export-pending", path: "/settings", set: exported(export.Pending)},
	{name: "settings-export-ready", path: "/settings", set: exported(export.Ready)},
	{name: "settings-export-failed", path: "/settings", set: exported(export.Failed)},
	{name: "settings-export-expired", path: "/settings", set: exported(export.Expired)},
	{name: "settings-everywhere", path: "/settings/sign-out-everywhere"},
	{name: "delete", path: deletePath, set: fresh},
	{name: "delete-long", path: deletePath, set: func(s *house) { long(s); fresh(s) }},
	{name: "delete-wrong", path: deletePath, set: fresh, act: fill("confirm", "another", submit)},
	{name: "delete-stale", path: deletePath},
	{name: "deletion-requested", path: requestedPath},
	{name: "deletion", path: deletionPath, set: deleting(noon.Add(3 * limits.Day))},
	{name: "deletion-long", path: deletionPath, set: func(s *house) { long(s); deleting(noon.Add(limits.Day))(s) }},
	{name: "deletion-reader", path: deletionPath, set: func(s *house) {
		s.scopes = s.scopes[:2]
		deleting(noon.Add(limits.Day))(s)
	}},
	{name: "claim", path: "/claim"},
	{name: "claim-broken", path: "/claim#ap_ct_cut"},
	{name: "claim-preview", path: "/claim#" + claimToken},
	{name: "claim-preview-long", path: "/claim#" + claimToken, set: long},
	{name: "claim-done", path: "/claim#" + claimToken, act: then(func(p *browser.Page) { p.WaitText("Claim 1 artifact?") }, press(submit))},
	{name: "claim-wrong", path: "/claim", act: fill("claim_token", "ap_ct_wrong", submit)},
	{name: "agent", path: agentPath},
	{name: "agent-long", path: agentPath, set: long},
	{name: "agent-wrong", path: agentPath, act: fill("user_code", "654321", submit)},
	{name: "agent-done", path: agentPath, act: fill("user_code", "123456", submit)},
	{name: "agent-denied", path: agentPath, act: press("[formaction]")},
	{name: "agent-over", path: agentPath, set: func(s *house) { s.over = fault.NewCode(fault.InvalidRequest) }},
	{name: "agent-not-begun", path: agentPath + "?claim_token=x"},
	{name: "device", path: "/device?code=" + userCode},
	{name: "device-wrong", path: "/device", act: fill("code", "bcdf", submit)},
	{name: "device-request", path: "/device?code=" + userCode, act: press(submit)},
	{
		name: "device-request-long",
		path: "/device?code=" + userCode,
		set:  long,
		act:  press(submit),
	},
	{name: "device-done", path: "/device?code=" + userCode, act: then(press(submit), press(`form[action="/device/approve"] button`))},
	{name: "consent", path: "/oauth/consent?req=abc", set: func(s *house) { s.loopback = true }},
	{name: "consent-long", path: "/oauth/consent?req=abc", set: long},
	{name: "consent-described", path: "/oauth/consent?req=abc", set: describe},
	{name: "connections-described", path: "/connections", set: describe},
	{name: "consent-over", path: "/oauth/consent?req=abc", set: func(s *house) { s.over = fault.NewCode(fault.NotFound) }},
	{
		name: "leave",
		path: "/oauth/consent?req=abc",
		set:  func(s *house) { s.redirect = s.appURL + "/test/cb?code=x" },
		act:  press(submit),
	},
	{name: "app-error", path: "/oauth/error?client_id=x"},
	{name: "app-error-long", path: "/oauth/error?client_id=x", set: long},
	{name: "signed-out", path: "/signed-out"},
	{name: "unavailable", path: "/dashboard", set: func(s *house) { s.fail = fault.NewCode(fault.DatabaseUnavailable) }},
	{name: "unverified", path: "/api/auth/callback?state=s&code=c", set: func(s *house) { s.fail = signin.Unverified() }},
}

// describe makes the app one with a metadata document, at the longest address.
func describe(s *house) {
	s.app = id.Client("https://agents.robots.example.com/oauth/" + strings.Repeat("client-", 66) + "v1.json")
}

func TestMembersPagesLook(t *testing.T) {
	for name, some := range map[string][]scene{
		"first half":  scenes[:len(scenes)/2],
		"second half": scenes[len(scenes)/2:],
		"artifacts":   artifactScenes,
		"billing":     billingScenes,
		"operators":   consoleScenes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, some)
		})
	}
}

// show plays scenes, each once on a phone, and looks at the page that it ends with narrow and wide.
func show(t *testing.T, some []scene) {
	in := inhabit(t)
	p := browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	app, content := in.appURL, in.contentURL
	for _, s := range some {
		in.mu.Lock()
		*in.house = *newHouse()
		in.appURL, in.contentURL = app, content
		if s.set != nil {
			s.set(in.house)
		}
		in.mu.Unlock()
		p.Viewport(widths[0], 640)
		in.enter(p)
		p.Go(app + s.path)
		if s.act != nil {
			s.act(p)
		}
		p.Wait(`document.readyState === "complete" && document.querySelector("h1") && !location.hash`)
		if strings.HasPrefix(s.name, "claim-preview") {
			p.WaitText("Claim 1 artifact?")
		}
		lookAt(t, p, s.name)
	}
}

// exported is a member who has just signed in, with an export in a state, if any.
func exported(status export.Status) func(*house) {
	return func(s *house) {
		s.authenticated = noon
		if status != "" {
			s.exported = exportIn(status)
		}
	}
}

// widths are those of a phone, a tablet and a desk.
var widths = []int64{320, 768, 1280}

// lookAt looks at a page at all widths.
func lookAt(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	for _, width := range widths {
		p.Viewport(width, 640)
		look(t, p, fmt.Sprintf("%s-%d", name, width), width)
	}
}

// look takes pictures of a whole page in both themes and measures it.
func look(t *testing.T, p *browser.Page, name string, width int64) {
	t.Helper()
	for _, bad := range browser.Eval[[]string](&p.Document, small) {
		t.Errorf("%s: too small: %s", name, bad)
	}
	if wide := browser.Eval[int](&p.Document, "document.documentElement.scrollWidth"); int64(wide) > width {
		t.Errorf("%s is %d px wide", name, wide)
	}
	p.Viewport(width, min(max(browser.Eval[int64](&p.Document, "document.documentElement.scrollHeight"), 640), 4000))
	lookInThemes(t, p, name, width)
}

// lookInThemes takes pictures of what the viewport shows in both themes, and measures what depends on colours.
func lookInThemes(t *testing.T, p *browser.Page, name string, width int64) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.Scheme(scheme)
		p.Wait(`matchMedia("(prefers-color-scheme: ` + scheme + `)").matches`)
		p.Screenshot(name + "-" + scheme)
		for _, bad := range browser.Eval[[]string](&p.Document, contrast) {
			t.Errorf("%s-%s: contrast of %s", name, scheme, bad)
		}
		for _, v := range audit(p, width, scheme) {
			t.Errorf("%s-%s: %s", name, scheme, v)
		}
	}
	p.Clean()
}

// audit is what axe finds on a narrow page in light and on a wide one in dark. What it looks at depends on the layout or on
// the theme and not on both, and it takes most of the time of a picture.
func audit(p *browser.Page, width int64, scheme string) []browser.Violation {
	if scheme == "light" && width < 640 || scheme == "dark" && width > 1024 {
		return p.Axe()
	}
	return nil
}

// reach names every control of a page that the Tab key ought to reach; of a group of radio buttons that is the chosen
// one.
const reach = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
	.filter(e => e.checkVisibility() && (e.type !== "radio" || e.checked))`

func TestTheKeyboardReachesEveryControl(t *testing.T) {
	in := inhabit(t)
	p := browser.Open(t)
	in.enter(p)
	for _, path := range append([]string{"/", "/signed-out"}, rooms...) {
		p.Go(in.appURL + path)
		want := browser.Eval[int](&p.Document, reach+".length")
		for i := range want {
			p.Press(kb.Tab)
			p.Wait(`!document.activeElement.matches("body, iframe")`) // the way through a frame, which is another process, takes a moment
			if got := browser.Eval[int](&p.Document, reach+".indexOf(document.activeElement)"); got != i {
				t.Errorf("%s: Tab number %d reaches control %d (%s)", path, i, got,
					browser.Eval[string](&p.Document, "document.activeElement.outerHTML.slice(0, 120)"))
				break
			}
			shows := browser.Eval[bool](&p.Document, `getComputedStyle(document.activeElement).outlineStyle === "solid"`)
			if !shows {
				t.Errorf("%s: nobody sees that control %d has the focus", path, i)
			}
		}
	}
	p.Go(in.appURL + "/keys")
	p.Press(kb.Tab)
	p.Press(kb.Enter)
	p.Wait(`location.hash === "#content"`)
}

func TestTheClaimTokenStaysOutOfAddresses(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	p.Go(in.appURL + "/claim#" + claimToken)
	p.WaitText("kept in this tab")
	if got := browser.Eval[string](&p.Document, "location.href + sessionStorage.length + localStorage.length"); got != in.appURL+"/claim10" {
		t.Errorf("the page keeps %q", got)
	}
	p.Screenshot("claim-guest-1280-light")
	for _, v := range p.Axe() {
		t.Error(v)
	}
	in.enter(p) // what the sign-in does in between
	p.Go(in.appURL + "/claim")
	p.WaitText("Claim 1 artifact?")
	if n := browser.Eval[int](&p.Document, "sessionStorage.length"); n != 0 {
		t.Errorf("%d texts stay in the tab", n)
	}
	p.Click(submit)
	p.WaitText("One artifact is yours now.")
	p.Clean()
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, target := range in.targets {
		if strings.Contains(target, "ap_ct_") {
			t.Errorf("the token is in %s", target)
		}
	}
	if want := "Claim " + claimToken; in.calls[len(in.calls)-1] != want {
		t.Errorf("calls %v", in.calls)
	}
}

func TestFlowsWorkWithoutScripts(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
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
		p.Go(in.appURL + s.path)
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
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>x</title><link rel=icon href='data:,'>got %s, referrer %q, cookies %q", r.URL.Query().Get("code"), r.Referer(), r.Header.Get("Cookie"))
	}))
	t.Cleanup(client.Close)
	in.redirect = client.URL + "/cb?" + url.Values{"code": {"abc"}, "state": {"x&y\"'>"}}.Encode()
	p.Go(in.appURL + "/oauth/consent?req=abc")
	p.Click(submit)
	p.WaitText(`got abc, referrer "", cookies ""`)
	p.Clean()
}

func TestASecondClickWaitsForTheFirst(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
	p.Go(in.appURL + "/keys")
	browser.Eval[bool](&p.Document, `(() => { document.getElementById("name").value = "Twice"; const b = document.querySelector("main button"); b.click(); b.click(); return true })()`)
	p.WaitText("shown only once")
	if len(in.commands) != 1 {
		t.Errorf("%d commands", len(in.commands))
	}
	p.Click("[data-copies]")
	p.Wait(`document.querySelector('[data-part="copied"]').textContent !== ""`) // copied, or what to do instead
}

func TestAFormThatWasStoppedOnItsWayIsSentAgain(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
	p.Before(`{ window.later = []; window.passed = 0; const real = setTimeout; window.setTimeout = (f, ms) => ms < 1000 ? real(f, ms) : later.push(f) }
		addEventListener("submit", e => { if (!e.defaultPrevented) { passed++; e.preventDefault() } })`)
	p.Go(in.appURL + "/keys")
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
