package content_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
)

// runs opens a page in a viewer frame where scripts run, and returns the frame when the page has loaded. more are the
// paths and contents of other files.
func runs(t *testing.T, body string, more ...string) (*frames, *browser.Page, *browser.Document) {
	t.Helper()
	f, p := newFrames(t), browser.Open(t)
	f.Add("page.html", "<!doctype html><html><head><title>a</title></head><body>"+body)
	for i := 0; i < len(more); i += 2 {
		f.Add(more[i], more[i+1])
	}
	p.Go(f.app.URL + "/?src=" + f.url("page.html"))
	d := p.Frame("page.html")
	d.Wait(`document.readyState === "complete"`)
	return f, p, d
}

// holds checks that an expression is true in a document.
func holds(t *testing.T, d *browser.Document, expressions ...string) {
	t.Helper()
	for _, e := range expressions {
		if !browser.Eval[bool](d, "!!("+e+")") {
			t.Errorf("it does not hold: %s", e)
		}
	}
}

func TestAPageKeepsWhatItStoresWhileItIsOpen(t *testing.T) {
	_, p, d := runs(t, `<script>
localStorage.setItem("a", 1); localStorage.b = "two"; sessionStorage["c d"] = null
document.cookie = "one=1; path=/"; document.cookie = "two=2; max-age=60"; document.cookie = "one=; max-age=0"
document.cookie = "old=1; expires=Thu, 01 Jan 1970 00:00:00 GMT"</script>`)
	holds(t, d,
		`localStorage.getItem("a") === "1" && localStorage.a === "1" && localStorage.getItem("b") === "two"`,
		`localStorage.length === 2 && localStorage.key(1) === "b" && localStorage.key(2) === null`,
		`Object.keys(localStorage).join() === "a,b" && "a" in localStorage && !("c" in localStorage)`,
		`JSON.stringify(localStorage) === '{"a":"1","b":"two"}'`,
		`sessionStorage.getItem("c d") === "null" && sessionStorage.getItem("a") === null`,
		`localStorage instanceof Storage && localStorage === window.localStorage`,
		`localStorage.setItem("getItem", "x") === undefined && typeof localStorage.getItem === "function"`,
		`(delete localStorage.a, localStorage.removeItem("getItem"), localStorage.length) === 1`,
		`(() => { try { localStorage.setItem("big", "x".repeat(6e6)) } catch (e) { return e.name === "QuotaExceededError" } })()`,
		`localStorage.length === 1 && (localStorage.clear(), localStorage.length === 0)`,
		`document.cookie === "two=2"`,
		// The script that does this is gone, and leaves no name behind.
		`document.scripts.length === 1 && document.currentScript === null && document.compatMode === "CSS1Compat"`,
		`!Object.keys(window).some((name) => /^(prefix|storage|told|place|quota|resolved)$/.test(name))`,
	)
	d.Clean()
	p.Clean()
}

func TestT92WhatAPageStoresReachesNoOtherDocument(t *testing.T) {
	f, p, d := runs(t, `<script>localStorage.secret = "mine"; document.cookie = "secret=mine"</script>`,
		"other.html", "<!doctype html><head></head><p>other")
	browser.Eval[bool](d, `(location.href = "`+f.url("other.html")+`", true)`)
	other := p.Frame("other.html")
	other.WaitText("other")
	holds(t, other, `localStorage.length === 0 && document.cookie === "" && window.name === ""`)
}

func TestT93LinksThatLeaveTheArtifactOpenATabThatKnowsNothingOfIt(t *testing.T) {
	told := make(chan string, 100)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said := r.URL.Query().Get("said"); said != "" {
			told <- said
		}
		io.WriteString(w, `<script>fetch("/tell?said=" + encodeURIComponent(String(opener) + document.referrer))</script>`)
	}))
	t.Cleanup(outside.Close)
	for _, scripts := range []bool{true, false} { // also where the scripts of the page do not run
		f, p := newFrames(t), browser.Open(t)
		f.Claims.Scripts = scripts
		f.Add("page.html", `<!doctype html><head></head><a id=plain href="`+outside.URL+`/plain">a</a>
<a id=top target=_top href="`+outside.URL+`/top">b</a><svg width=90 height=30><a href="`+outside.URL+`/svg"><text id=svg y=20>svg</text></a></svg>
<div id=shadow><template shadowrootmode=open><a style="display:block" href="`+outside.URL+`/shadow">shadow</a></template></div>
<map name=m><area shape=rect coords=0,0,50,50 href="`+outside.URL+`/area"></map><img id=area usemap="#m" src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" width=50 height=50 alt=x>
<a id=mail href="mailto:a@b.test">mail</a><a id=in href="in.html">in</a><a id=topin target=_top href="in.html">in</a>`)
		f.Add("in.html", "<!doctype html><p>inside")
		p.Go(f.app.URL + "/?src=" + f.url("page.html"))
		d := p.Frame("page.html")
		d.Wait(`document.readyState === "complete"`)
		for _, id := range []string{"plain", "top", "svg", "area", "shadow"} {
			d.Click("#" + id)
			p.WaitTab(outside.URL + "/" + id)
			if said := <-told; said != "null" {
				t.Errorf("the tab of %s knows of %s", id, said)
			}
		}
		// The page sees that the click was taken, and a link that stays was not.
		holds(t, d,
			`!document.getElementById("mail").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`)
		browser.Eval[bool](d, `(document.getElementById("topin").click(), true)`)
		p.Frame("in.html").WaitText("inside")
	}
}

func TestT94APageInAFrameMovesNothingAroundIt(t *testing.T) {
	f, p, d := runs(t, `<a id=out target=_top href="https://outside.test/">a</a><script>window.failed = []
const tries = [() => top.location = "https://outside.test/", () => top.location.replace("https://outside.test/"),
	() => window.open("https://outside.test/", "_top").closed, () => parent.document.title, () => parent.localStorage.length,
	() => document.domain = "localhost", () => frameElement.sandbox]
for (const one of tries) try { one() } catch (e) { failed.push(e.name) }</script>`)
	holds(t, d, `failed.length === 7 && self.origin === "null"`)
	if got := browser.Eval[string](&p.Document, "location.href"); !strings.HasPrefix(got, f.app.URL) {
		t.Errorf("the page around went to %s", got)
	}
}

func TestAPageDecidesAboutItsOwnLinks(t *testing.T) {
	_, _, d := runs(t, `<a href="https://outside.test/">a</a><p id=out></p><script>
document.querySelector("a").onclick = (e) => { e.preventDefault(); out.textContent = "mine" }</script>`)
	browser.Eval[bool](d, `(document.querySelector("a").click(), true)`)
	d.WaitText("mine")
	holds(t, d, `location.pathname.endsWith("/page.html")`)
}

func TestASearchFormLeadsToItsPage(t *testing.T) {
	_, p, d := runs(t, `<form action="search.html?old=1#x"><input name=q value="a b&c"><input type=file name=f>
<button name=by value=go>Go</button></form>`, "search.html", `<!doctype html><head></head><p id=out></p>
<script>out.textContent = "found " + location.search</script>`)
	browser.Eval[bool](d, `(document.querySelector("button").click(), true)`)
	p.Frame("search.html").WaitText("found ?q=a+b%26c&by=go")
}

func TestAFormRunsItsHandlerAndSendsNothing(t *testing.T) {
	_, _, d := runs(t, `<form method=post action="https://outside.test/"><input name=secret value=x><button>Go</button></form>
<p id=out></p><script>document.forms[0].addEventListener("submit", () => out.textContent = "handled")</script>`)
	browser.Eval[bool](d, `(document.querySelector("button").click(), true)`)
	d.WaitText("handled")
	d.WaitViolation("form-action")
}

func TestAPageTellsItsPlace(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	p.Before(`addEventListener("message", (e) => { if (e.data.type === "vitrine:place") (window.places ??= []).push(e.data) })`)
	f.Add("page.html", `<!doctype html><head><title>One</title></head><a href="#two">a</a>`)
	p.Go(f.app.URL + "/?src=" + f.url("page.html"))
	d := p.Frame("page.html")
	p.Wait(`window.places?.at(-1).title === "One" && places.at(-1).path === "page.html" && places.at(-1).hash === ""`)
	browser.Eval[bool](d, `(document.title = "Two", document.querySelector("a").click(), true)`)
	p.Wait(`places.at(-1).hash === "#two" && places.at(-1).title === "Two"`)
	browser.Eval[bool](d, `(history.pushState({ n: 1 }, "", "deep/er.html?x=1"), true)`)
	p.Wait(`places.at(-1).path === "deep/er.html" && places.at(-1).query === "?x=1"`)
	holds(t, d, `history.state.n === 1`)
	for _, refused := range []string{"https://outside.test/", "//outside.test/x"} {
		holds(t, d, `(() => { try { history.pushState(1, "", "`+refused+`") } catch (e) { return e.name === "SecurityError" } })()`)
	}
}

func TestAPageTellsWhetherPartsOfItStayInPlace(t *testing.T) {
	for body, want := range map[string]string{
		`<p style="position:absolute">a`:                                           "false",
		`<div><p style="position:sticky">a`:                                        "true",
		`<p style="position:fixed;display:none">a`:                                 "true",
		`<p onclick="this.style.position = 'fixed'">a<script>auto = true</script>`: "false true",
	} {
		f, p := newFrames(t), browser.Open(t)
		p.Before(`addEventListener("message", (e) => { if (e.data.type === "vitrine:fixed") (window.told ??= []).push(e.data.fixed) })`)
		f.Add("page.html", "<!doctype html>"+body)
		p.Go(f.app.URL + "/?src=" + f.url("page.html"))
		p.Wait("window.told")
		d := p.Frame("page.html")
		browser.Eval[bool](d, `(window.auto && document.querySelector("p").click(), true)`)
		p.Wait(`told.join(" ") === "` + want + `"`)
	}
}

func TestAPageGoesWhereItsReaderWas(t *testing.T) {
	_, p, d := runs(t, `<p style="height:3000px">a<p id=b style="height:3000px">b`)
	come := func(top int) {
		browser.Eval[bool](&p.Document, fmt.Sprintf(
			`(document.querySelector("iframe").contentWindow.postMessage({type: "vitrine:scroll", top: %d}, "*"), true)`, top))
	}
	come(1200)
	d.Wait("scrollY === 1200")
	browser.Eval[bool](d, `(postMessage({type: "vitrine:scroll", top: 50}, "*"), location.hash = "b", scrollTo(0, 0), true)`)
	come(0)
	d.Wait("scrollY > 2900")
}

func TestAPageThatStaysEmptyTellsWhatFailed(t *testing.T) {
	for body, want := range map[string]string{
		`<div id=root></div><script src="app.js"></script><script src="/assets/x.js"></script>
<script src="https://evil.test/y.js"></script>
<script>missing()</script>`: `["/assets/x.js","Uncaught ReferenceError: missing is not defined","app.js","evil.test"]`,
		`<p>text</p><script src="app.js"></script>`:            "",
		`<canvas></canvas><script src="app.js"></script>`:      "",
		`<div style="height:9px;background:teal"></div>`:       "",
		`<p hidden>text</p><link rel=stylesheet href="a.css">`: `["a.css"]`,
	} {
		f, p := newFrames(t), browser.Open(t)
		p.Before(`addEventListener("message", ({ data }) => {
			if (data.type === "vitrine:blank") window.failed = JSON.stringify(data.failed.sort()) })`)
		f.Add("page.html", "<!doctype html><html><head></head><body>"+body)
		p.Go(f.app.URL + "/?src=" + f.url("page.html"))
		d := p.Frame("page.html")
		d.Wait(`document.readyState === "complete"`)
		// Its own timer is later than that of the script, which was set before.
		browser.Eval[bool](d, `new Promise((done) => setTimeout(() => done(true), 3100))`)
		if got := browser.Eval[string](&p.Document, `window.failed ?? ""`); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}

// TestWhatAPageMadeItselfLoads uses blob: and data: URLs for whatever may have one.
func TestWhatAPageMadeItselfLoads(t *testing.T) {
	_, _, d := runs(t, `<script>
const at = (text, type) => URL.createObjectURL(new Blob([text], { type }))
const work = (url) => new Promise((done, fail) => { const w = new Worker(url); w.onmessage = (e) => done(e.data); w.onerror = fail })
window.all = Promise.all([
	work(at("postMessage(1)", "text/javascript")),
	work("data:text/javascript,postMessage(2)"),
	fetch(at("3")).then((r) => r.json()),
	fetch("data:application/json,4").then((r) => r.json()),
	import(at("export default 5", "text/javascript")).then((m) => m.default),
	import("data:text/javascript,export default 6").then((m) => m.default),
	WebAssembly.instantiate(Uint8Array.from([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,6,1,4,0,65,7,11]))
		.then((m) => m.instance.exports.f()),
	new Promise((done, fail) => { const a = new Audio("data:audio/wav;base64,UklGRiUAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQEAAACA"); a.oncanplay = () => done(8); a.onerror = fail }),
]).then((got) => got.join(), String)</script>`)
	if got := browser.Eval[string](d, "all"); got != "1,2,3,4,5,6,7,8" {
		t.Errorf("got %s", got)
	}
	d.Clean()
}

func TestABrowserShowsWhatComesPacked(t *testing.T) {
	_, _, d := runs(t, `<script src="app.js"></script>`+strings.Repeat("<p>All the same.</p>\n", 20_000)+"<p>the end</p>",
		"app.js", "window.all = `"+strings.Repeat("all the same ", 1000)+"`")
	d.WaitText("the end")
	holds(t, d, `all.length === 13000`,
		`(({ encodedBodySize, decodedBodySize }) => encodedBodySize > 0 && encodedBodySize < decodedBodySize / 2)(
			performance.getEntriesByType("navigation")[0])`)
}

func TestTheScriptOfFramesChangesNoByteBesidesItself(t *testing.T) {
	const page = "<!doctype html>\n<html><head>\r\n<title>\xff</title></head><body>exact"
	s := newEnv(t, "a.html", page, "fragment.html", "<p>a")
	for path, want := range map[string][2]string{
		"a.html":        {"<!doctype html>\n<html><head>", "\r\n<title>\xff</title></head><body>exact"},
		"fragment.html": {"<p>a", ""},
	} {
		w := s.get(path, frame...)
		before, rest, found := strings.Cut(w.Body.String(), "\n<script>")
		_, after, closed := strings.Cut(rest, "</script>\n")
		if !found || !closed || before != want[0] || after != want[1] {
			t.Errorf("%s: %q … %q", path, before, after)
		}
		if got := s.head(path, frame...).Header(); got.Get("Content-Length") != w.Header().Get("Content-Length") ||
			w.Header().Get("Accept-Ranges") != "none" {
			t.Errorf("%s: %v", path, w.Header())
		}
		wantBody(t, s.get(path), map[string]string{"a.html": page, "fragment.html": "<p>a"}[path])
	}
}
