package render_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/reading"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/render"
)

func TestAPageIsServedWithItsHeaders(t *testing.T) {
	e := newEnv(t, "a.txt", "Title")
	for name, c := range map[string]struct {
		headers   []string
		own       string
		scripts   string
		ancestors string
		frame     string
	}{
		"on its own": {nil, "'self'", "", "frame-ancestors 'none'", "DENY"},
		"in a frame": {
			frame, "'self' http://content.test", "script-src " + render.HeightHash + "; ",
			"frame-ancestors http://app.test", "",
		},
	} {
		w := e.get("a.txt", c.headers...)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Title") {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		expect.Results(t, w.Header().Get, map[string]string{
			"Content-Type":           "text/html; charset=utf-8",
			"Cache-Control":          "private, no-cache",
			"X-Content-Type-Options": "nosniff",
			"X-Robots-Tag":           "noindex, nofollow",
			"Referrer-Policy":        "no-referrer",
			"X-Frame-Options":        c.frame,
			"Vary":                   "Sec-Fetch-Dest, Sec-Fetch-Mode, Accept-Encoding",
			"Content-Security-Policy": "default-src 'none'; " + c.scripts + "style-src " + render.StyleHash("a.txt") + "; img-src " + c.own +
				" data:; media-src " + c.own + "; base-uri 'none'; form-action 'none'; " + c.ancestors,
		})
	}
}

func TestHeadAnswersWithoutReadingTheFile(t *testing.T) {
	e := newEnv(t, "a.md", "# Title")
	w := e.Ask("HEAD", e.path("a.md"))
	if w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("ETag") == "" || e.Opened.Load() > 0 {
		t.Errorf("%d, %d bytes, ETag %q, %d files are opened", w.Code, w.Body.Len(), w.Header().Get("ETag"), e.Opened.Load())
	}
}

func TestAPageIsSentAgainOnlyIfItChanged(t *testing.T) {
	e := newEnv(t, "a.csv", "n\n1\n", "b.csv", "n\n1\n")
	tag := e.get("a.csv").Header().Get("ETag")
	opened := e.Opened.Load()
	for _, sent := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		w := e.get("a.csv", "If-None-Match", sent)
		if w.Code != http.StatusNotModified || w.Body.Len() > 0 || w.Header().Get("ETag") != tag {
			t.Errorf("%s: %d", sent, w.Code)
		}
	}
	if e.Opened.Load() != opened {
		t.Error("a file is opened for a page that the client has")
	}
	seen := map[string]string{tag: "a.csv"}
	for name, path := range map[string]string{
		"another file": "b.csv", "another order": "a.csv?sort=1d", "text": "a.csv?as=text", "a folder": "",
		"its second page": "?page=2",
	} {
		got := e.get(path).Header().Get("ETag")
		if seen[got] != "" {
			t.Errorf("%s has the tag of %s", name, seen[got])
		}
		seen[got] = name
	}
	if framed := e.get("a.csv", frame...).Header().Get("ETag"); seen[framed] != "" {
		t.Error("a page in a frame has the tag of " + seen[framed])
	}
	e.Claims.Revision = id.NewRevision()
	e.State.Artifact.Current = e.Claims.Revision
	if got := e.get("a.csv").Header().Get("ETag"); seen[got] != "" {
		t.Error("another revision has the same tag")
	}
}

func TestAPageIsSentAgainIfItLooksDifferent(t *testing.T) {
	e, style := newEnv(t, "a.md", "x"), render.StyleHash
	t.Cleanup(func() { render.StyleHash = style })
	tag := e.get("a.md").Header().Get("ETag")
	render.StyleHash = func(string) string { return "another" } // the policy of Markdown does not name it
	if e.get("a.md").Header().Get("ETag") == tag {
		t.Error("a page with another style has the same tag")
	}
}

func TestPlainTextIsServedWhereItIsAnotherText(t *testing.T) {
	e := newEnv(t, "a.csv", "a;b\n1;2\n", "a.md", "# T", "a.go", "package a")
	w := e.get("a.csv?as=text")
	if w.Code != http.StatusOK || w.Body.String() != "a\tb\n1\t2\n" || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
	for _, path := range []string{"a.go?as=text", "a.md?as=html", "?as=text"} {
		if w := e.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestFoldersAreListed(t *testing.T) {
	e := newEnv(t, "docs/a.md", "x", "docs/img/b.png", "y")
	for path, want := range map[string]string{"": "docs/</a>", "docs": "a.md</a>", "docs/img": "b.png"} {
		if w := e.get(path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s", path, w.Code, w.Body)
		}
	}
	if e.Opened.Load() > 0 {
		t.Error("a list reads files")
	}
}

// TestT90PagesHaveTheGatesOfFiles refuses what the content host refuses, in the same way, at every request.
func TestT90PagesHaveTheGatesOfFiles(t *testing.T) {
	link := func(e *env) { e.Claims.Link, e.State.Link.Artifact = id.NewPublic(), e.Claims.Artifact }
	for name, c := range map[string]struct {
		set  func(*env)
		path string
		code fault.Code
	}{
		"a path that is not there":  {func(*env) {}, "b.md", fault.NotFound},
		"a path that climbs":        {func(*env) {}, "x/%2e%2e/a.md", fault.NotFound},
		"an expired token":          {func(e *env) { e.Claims.Expires = e.Now }, "a.md", fault.NotFound},
		"a deleted artifact":        {func(e *env) { e.State.Artifact.Status = artifact.Deleted }, "a.md", fault.NotFound},
		"a revoked link":            {func(e *env) { link(e); e.State.Link.RevokedAt = e.Now }, "a.md", fault.NotFound},
		"a revision without files":  {func(e *env) { e.Claims.Revision = id.NewRevision() }, "a.md", fault.NotFound},
		"tables that do not answer": {func(e *env) { e.StoreErr = fault.NewCode(fault.DatabaseUnavailable) }, "a.md", fault.DatabaseUnavailable},
		"a bucket that does not answer": {
			func(e *env) { e.OpenErr = fault.NewCode(fault.StorageUnavailable) }, "a.md", fault.StorageUnavailable,
		},
		"too many reads":   {exhaust, "a.md", fault.RateLimitedArtifact},
		"too many streams": {func(e *env) { e.NoStreams = true }, "large.md", fault.RateLimitedArtifact},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, "a.md", "# Title", "large.md", strings.Repeat("x\n", limits.StreamsAbove/2+1))
			if w := e.get(strings.Replace(c.path, "b.md", "a.md", 1)); c.code != fault.NotFound && w.Code != http.StatusOK {
				t.Fatalf("before: %d", w.Code)
			}
			e = newEnv(t, "a.md", "# Title", "large.md", strings.Repeat("x\n", limits.StreamsAbove/2+1))
			c.set(e)
			w := e.get(c.path)
			if !strings.Contains(w.Body.String(), `"code":"`+string(c.code)+`"`) || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
			}
			if strings.Contains(w.Body.String(), "Title") {
				t.Error("the refusal has the content")
			}
		})
	}
}

// exhaust leaves the artifact no reads.
func exhaust(e *env) {
	for tier, p := range e.Numbers.Tiers {
		p.Reads = 0
		e.Numbers.Tiers[tier] = p
	}
	e.serve(reading.ContentOrigin, reading.AppOrigin)
}

func TestT91WhoeverIsOneTooManyIsToldWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, "a.md", "# Title", "b.md", "# Other")
		e.Held = make(chan struct{})
		var first sync.WaitGroup
		for range limits.ArtifactRenders {
			first.Go(func() { e.get("a.md") })
		}
		synctest.Wait()
		opened := e.Opened.Load()
		program, person := e.get("b.md"), e.get("b.md", frame...)
		for _, w := range []*httptest.ResponseRecorder{program, person} {
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "7" ||
				w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" {
				t.Errorf("%d %v", w.Code, w.Header())
			}
		}
		if body := program.Body.String(); !strings.Contains(body, `"code":"rate_limited_artifact"`) {
			t.Errorf("a program gets %s", body)
		}
		policy := person.Header().Get("Content-Security-Policy")
		if body := person.Body.String(); !strings.Contains(body, "Load the page again in 7 seconds.") ||
			!strings.HasPrefix(policy, "default-src 'none'; script-src "+render.HeightHash+"; style-src 'sha256-") ||
			!strings.HasSuffix(policy, "frame-ancestors http://app.test") || person.Header().Get("X-Frame-Options") != "" {
			t.Errorf("a person gets %s with %s", body, policy)
		}
		if e.Opened.Load() != opened || !strings.Contains(e.Log.String(), "rate_limited_artifact") {
			t.Errorf("%d more reads, %s", e.Opened.Load()-opened, e.Log.String())
		}
		if w := e.Ask("HEAD", e.path("b.md")); w.Code != http.StatusOK {
			t.Errorf("HEAD, which makes no page: %d", w.Code)
		}
		close(e.Held)
		first.Wait()
		if w := e.get("b.md"); w.Code != http.StatusOK {
			t.Errorf("afterwards: %d", w.Code)
		}
	})
}

func TestT90RevocationHoldsFromItsCommit(t *testing.T) {
	e := newEnv(t, "a.md", "# Title")
	tag := e.get("a.md").Header().Get("ETag")
	e.State.Artifact.Status = artifact.Deleted
	for _, headers := range [][]string{nil, {"If-None-Match", tag}} {
		if w := e.get("a.md", headers...); w.Code != http.StatusNotFound {
			t.Errorf("%v: %d", headers, w.Code)
		}
	}
}

func TestAnotherTokenOrPlaceOpensNothing(t *testing.T) {
	e := newEnv(t, "a.md", "# Title")
	token := e.Token()
	other := "A"
	if strings.HasSuffix(token, other) {
		other = "B"
	}
	for _, path := range []string{
		"/r/" + token[:len(token)-1] + other + "/a.md", "/r/" + strings.Repeat("A", 95) + "/a.md", "/r//a.md", "/r/" + token + "//", "/r",
		"/v/" + token + "/a.md", "/r/" + token + "/a.md/", "/r/" + token + "//a.md",
	} {
		if w := e.Ask("GET", path); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), token) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := e.Ask("GET", "/r/"+token+"/"); w.Code != http.StatusOK { // the list of all files, as without the slash
		t.Errorf("the list with a slash: %d", w.Code)
	}
	if w := e.Ask("POST", e.path("a.md")); w.Code != http.StatusNotFound {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestTheLogNamesNoTokenAndNoPath(t *testing.T) {
	e := newEnv(t, "secret-name.md", "# Title")
	e.get("secret-name.md?sort=1")
	if log := e.Log.String(); strings.Contains(log, e.Token()) || strings.Contains(log, "secret-name") ||
		!strings.Contains(log, string(e.Claims.Artifact)) {
		t.Error(log)
	}
}

func TestAStrangeFrameGetsNoFramePolicy(t *testing.T) {
	e := newEnv(t, "a.txt", "Title")
	for _, headers := range [][]string{
		{"Sec-Fetch-Dest", "document"}, {"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Dest", "embed"},
	} {
		if got := e.get("a.txt", headers...).Header().Get("Content-Security-Policy"); !strings.HasSuffix(got, "frame-ancestors 'none'") {
			t.Errorf("%v: %s", headers, got)
		}
	}
}

func TestAClaimLetsOldTokensOpenPages(t *testing.T) {
	e := newEnv(t, "a.md", "# Title")
	e.Claims.NoIndex = true
	e.State.Workspace.ClaimedAt = time.Time{}
	if w := e.get("a.md"); w.Code != http.StatusOK {
		t.Errorf("unclaimed: %d", w.Code)
	}
	e.State.Workspace.ClaimedAt = e.Now
	if w := e.get("a.md"); w.Code != http.StatusOK {
		t.Errorf("claimed: %d", w.Code)
	}
}

// viewer frames a page as tall as that says, and scrolls where it wants to, as the viewers of the app host do.
const viewer = `<!doctype html><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><body style="margin:0">
<h1 style="height:100px;margin:0">The viewer</h1>
<iframe sandbox="allow-scripts" style="width:100%%;height:150px;border:0" src="%s"></iframe><script>
onmessage = ({data}) => { if (data.type === "vitrine:target") scrollTo(0, 100 + data.top)
if (data.type !== "vitrine:viewer-height") return
document.querySelector("iframe").style.height = data.height + "px"; window.scripts = data.scripts }</script>`

// TestALongFolderIsReadInAFrame scrolls through pictures, which load on the way and move nothing, and goes on to the
// next page.
func TestALongFolderIsReadInAFrame(t *testing.T) {
	e := newEnv(t)
	for n := range 520 {
		e.Add(fmt.Sprintf("photos/p%03d.svg", n), `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="90"/>`)
	}
	origin := publish(t, e)
	p := browser.Open(t)
	p.Go(e.app + "/viewer?page=" + url.QueryEscape(origin+e.path("photos")))
	f := p.Frame("/photos")
	const shown = `[...document.querySelectorAll(".v-thumb img")].filter(i => i.naturalWidth)`
	f.Wait(shown + `.length && innerHeight === document.documentElement.scrollHeight && innerHeight !== 150`)
	if n := browser.Eval[int](f, shown+".length"); n > 250 {
		t.Errorf("%d of 500 pictures load at once", n)
	}
	height := browser.Eval[int](f, "innerHeight")
	browser.Eval[bool](f, `(document.querySelector("#t500").scrollIntoView(), true)`)
	f.Wait(`document.querySelector("#t500 img").naturalWidth`)
	if now := browser.Eval[int](f, "innerHeight"); now != height {
		t.Errorf("the page grew from %d to %d", height, now)
	}
	f.Clean()
	f.Follow(`a[href$="?page=2"]`, "501 to 520 of 520")
	if n := browser.Eval[int](f, `document.querySelectorAll(".v-thumb").length`); n != 20 {
		t.Errorf("the second page has %d pictures, want 20", n)
	}
}

// plan has what is wider than a phone, and what is longer.
var plan = "# Plan\n\n- [x] done\n- [ ] open\n\n```mermaid\nflowchart LR\nA --> B --> C --> D --> E --> F --> G\n```\n\n" +
	"[On](#the-end)\n\n" + strings.Repeat("|a|b|c|d|\n|-|-|-|-|\n|aaaaaaaa|bbbbbbbb|cccccccc|dddddddd|\n\n", 20) + "## The end\n"

// TestAPageInAFrameIsAsTallAsItSays: on a phone the page around the frame scrolls, and nothing in the frame but
// sideways.
func TestAPageInAFrameIsAsTallAsItSays(t *testing.T) {
	e := newEnv(t, specimens(t)...)
	e.Add("plan.md", plan)
	e.Add("long.csv", "a,b,c,d\n"+strings.Repeat("one_long_word,one_long_word,one_long_word,one_long_word\n", 40))
	origin := publish(t, e)
	p := browser.Open(t)
	p.Viewport(320, 700)
	for file, holds := range map[string]string{
		"plan.md": `getComputedStyle(document.querySelector("li")).listStyleType === "none" &&
			document.images[0]?.clientWidth < 320 && document.querySelector("button.v-size")`,
		"long.csv":       `document.querySelector(".v-grid").scrollWidth > 320`,
		"greeting.py":    `document.querySelector(".v-line")`,
		"analysis.ipynb": `document.querySelector(".v-cell")`,
		// A bracket is a font's size or so high unless the font of formulas is there.
		"formulas.md": `[...document.querySelectorAll("mo")].filter(o => o.textContent === "(").some(o => o.clientHeight > 50 ||
			o.getBoundingClientRect().height > 50)`,
	} {
		p.Go(e.app + "/viewer?page=" + url.QueryEscape(origin+e.path(file)))
		f := p.Frame("/" + file)
		f.Wait(drawn)
		f.Wait(holds)
		f.Wait(`innerHeight === document.documentElement.scrollHeight && innerHeight !== 150`)
		if n := browser.Eval[int](f, `[...document.querySelectorAll("body *")].filter(e => e.scrollHeight > e.clientHeight + 1 &&
			/auto|scroll/.test(getComputedStyle(e).overflowY)).length`); n > 0 {
			t.Errorf("%s: %d elements scroll by themselves", file, n)
		}
		if browser.Eval[bool](&p.Document, "scripts") {
			t.Errorf("%s tells of scripts that a publisher wrote", file)
		}
		if file == "plan.md" {
			f.Click(`a[href$="#the-end"]`)
			p.Wait("scrollY > 500")
		}
		f.Clean()
	}
}
