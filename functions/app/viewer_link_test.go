package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func TestLinksThatDoNotOpen(t *testing.T) {
	g, p := open(t), browser.Open(t)
	base := g.appURL + "/al/" + publicID
	for name, url := range map[string]string{
		"no fragment":    base,
		"unknown secret": base + "#wrong",
		"malformed":      g.link("malformed", fails(fault.NewCode(fault.InvalidRequest))),
		"endless":        base + "#" + strings.Repeat("x", 70_000),
		"percent signs":  base + "#%00%ff%3Cscript%3E",
		"malformed link": g.appURL + "/al/nothing#" + blob,
	} {
		p.Go("about:blank")
		p.Go(url)
		p.WaitText("This link opens nothing")
		got := strings.Join(strings.Fields(p.Text("main")), " ")
		if want := "This link opens nothing " + gone + " What is Vitrine?"; got != want {
			t.Errorf("%s: shows %q\nwant %q", name, got, want)
		}
		if p.Visible("iframe, .placard, .drawer") {
			t.Errorf("%s: shows parts of an artifact", name)
		}
		if title := browser.Eval[string](&p.Document, "document.title"); title != "This link opens nothing | Vitrine" {
			t.Errorf("%s: title %q", name, title)
		}
		p.Clean()
	}
}

func TestBusyWaitsAsLongAsAsked(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link("long", fails(fault.NewCode(fault.RateLimitedArtifact).After(90*time.Second))))
	waitView(p, "busy")
	p.Wait(`/This page tries again in (90|8\d) seconds\./.test(document.querySelector('[data-view="busy"]').innerText)`)
	p.Screenshot("viewer-busy-1280-light")

	show := g.shows("At last", "plain", "report.html", htmlType)
	p.Go(g.link("short", func(ctx context.Context, r contract.ResolveRequest) (contract.Resolved, error) {
		if g.count("short") == 1 {
			return contract.Resolved{}, fault.NewCode(fault.RateLimitedArtifact).After(time.Second)
		}
		return show(ctx, r)
	}))
	p.Wait(`document.title === "At last | Vitrine"`)
	if n := g.count("short"); n != 2 {
		t.Errorf("asked %d times", n)
	}
	if n := g.count("long"); n != 1 {
		t.Errorf("asked for the abandoned link %d times", n)
	}
	p.Clean()
}

func TestUnavailableOffersAnotherTry(t *testing.T) {
	g, p := open(t), browser.Open(t)
	show := g.shows("Back again", "plain", "report.html", htmlType)
	p.Go(g.link(blob, func(ctx context.Context, r contract.ResolveRequest) (contract.Resolved, error) {
		switch g.count(blob) {
		case 1:
			return contract.Resolved{}, fault.NewCode(fault.DatabaseUnavailable)
		case 2:
			panic("lost")
		}
		return show(ctx, r)
	}))
	p.WaitText("Not available right now")
	if !strings.Contains(p.Text(`[data-view="unavailable"]`), "Request ") {
		t.Error("no request id to ask the operator about")
	}
	p.Screenshot("viewer-unavailable-1280-light")
	p.Click(`[data-part="again"]`)
	p.Wait(`document.title === "Not available right now | Vitrine"`)
	p.Wait(`document.querySelector('[data-view="unavailable"]').hidden === false`)
	for g.count(blob) < 3 { // the second failure may still be on its way when the view is seen
		p.Click(`[data-part="again"]`)
		p.Wait(`document.querySelector('[data-view="loading"]').hidden`)
	}
	p.Wait(`document.title === "Back again | Vitrine"`)

	g.app.CloseClientConnections()
	g.app.Close()
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "other"`))
	p.WaitText("Not available right now")
	if p.Visible("iframe, .placard") {
		t.Error("the artifact of the former link is still on show")
	}
	p.Clean()
}

func TestAnotherFragmentIsAnotherLink(t *testing.T) {
	g, p := open(t), browser.Open(t)
	g.link("second", g.shows("Second", "plain", "second.html", htmlType))
	p.Go(g.link("first", g.shows("First", "plain", "report.html", htmlType)))
	p.Frame("report.html").WaitText("harbour")
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "second"`))
	p.Frame("second.html").WaitText("the second artifact")
	p.Wait(`document.title === "Second | Vitrine" && document.querySelectorAll("iframe").length === 1`)
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = ""`))
	p.WaitText("This link opens nothing")
	if viewOf(p) != "gone" || browser.Eval[int](&p.Document, `document.querySelectorAll("iframe").length`) != 0 {
		t.Error("an artifact stayed")
	}
	p.Do(chromedp.NavigateBack())
	p.Frame("second.html").WaitText("the second artifact")
}

func TestAnAbandonedLinkShowsNothing(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Before(`window.seen = []; addEventListener("DOMContentLoaded", () => new MutationObserver(list => {
		for (const m of list) if (!m.target.hidden) seen.push(m.target.dataset.view) })
		.observe(document.querySelector("main"), { attributes: true, attributeFilter: ["hidden"], subtree: true }))`)
	g.link("second", g.shows("Second", "plain", "second.html", htmlType))
	p.Go(g.link("slow", func(ctx context.Context, _ contract.ResolveRequest) (contract.Resolved, error) {
		<-ctx.Done() // the viewer gives up
		return contract.Resolved{}, fault.NewCode(fault.NotFound)
	}))
	p.WaitText("Opening the case")
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "second"`))
	p.Wait(`document.title === "Second | Vitrine"`)
	if got := browser.Eval[string](&p.Document, `seen.filter(Boolean).join()`); got != "artifact" {
		t.Errorf("showed %s", got)
	}
}

func TestScriptsShowTheSameTextAsPages(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("x", "plain", "report.html", htmlType)))
	waitView(p, "artifact")
	p.Do(chromedp.Evaluate[chromedp.Void](`import("` + asset0("exhibit.js") + `").then(m => { window.plain = m.plain })`))
	p.Wait("window.plain")
	const end = 0xF900 // what is beyond is like one of those that are named below
	got := browser.Eval[[]int](&p.Document, fmt.Sprintf(`[...Array(%d).keys(), 0xFEFF, 0x1BCA0, 0x110BD, 0xE0001, 0xF0000].sort((a, b) => a - b).filter(c =>
		(c < 0xD800 || c > 0xDFFF) && plain("x" + String.fromCodePoint(c)) !== "x" + String.fromCodePoint(c))`, end))
	var want []int
	all := []int{0xFEFF, 0x1BCA0, 0x110BD, 0xE0001, 0xF0000}
	for c := range end {
		all = append(all, c)
	}
	slices.Sort(all)
	for _, c := range all {
		if text := "x" + string(rune(c)); (c < 0xD800 || c > 0xDFFF) && pages.Plain(text) != text {
			want = append(want, c)
		}
	}
	if !slices.Equal(got, want) || !slices.Contains(got, 0x202E) {
		t.Errorf("scripts replace %d characters, pages %d", len(got), len(want))
	}
	for _, s := range []string{"", " ", strings.Repeat("ä", 200), strings.Repeat("👩", 201), "<b>"} {
		if got, want := browser.Eval[string](&p.Document, "plain("+strconv.Quote(s)+")"), pages.Plain(s); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestWhatIsKeptDoesNotExpire(t *testing.T) {
	g, p := open(t), browser.Open(t)
	kept := g.shows("Kept", "plain", "report.html", htmlType, func(r *contract.Resolved) {
		r.Pinned, r.AgentView.ExpiresAt = true, contract.At(time.Now().Add(-time.Hour)) // it would have ended
	})
	p.Go(g.link("kept", kept))
	waitView(p, "artifact")
	if got := p.Text(".placard"); !strings.Contains(got, "Kept: it does not expire") ||
		strings.Contains(strings.ToLower(got), "expired") || strings.Contains(got, "Expires") {
		t.Errorf("shows %q", got)
	}
	p.Go(g.link("lasting", g.shows("Lasting", "plain", "report.html", htmlType, func(r *contract.Resolved) {
		r.AgentView.ExpiresAt = contract.At(limits.Never)
	})))
	p.Wait(`document.title === "Lasting | Vitrine"`)
	if got := p.Text(".placard"); !strings.Contains(got, "it does not expire") || strings.Contains(got, "2100") {
		t.Errorf("of what has no end it shows %q", got)
	}
	until := `document.querySelector('[data-field="until"]').textContent`
	if got := browser.Eval[string](&p.Document, until); got != "does not expire" {
		t.Errorf("its details show %q, want that it does not expire", got)
	}
	p.Go(g.link("ending", g.shows("Ending", "plain", "report.html", htmlType)))
	p.Wait(`document.title === "Ending | Vitrine"`)
	if got := p.Text(".placard"); strings.Contains(got, "Kept") || !strings.Contains(got, "Expires") {
		t.Errorf("of the next one it shows %q", got)
	}
	p.Clean()
}

func TestPagesSayWhereScriptsNeverRun(t *testing.T) {
	g, p := open(t), browser.Open(t)
	const note, says = `[data-part="asleep"]`, "Vitrine does not run the scripts of pages, so parts of this page may not work."
	const sandbox = `document.querySelector(".case iframe").getAttribute("sandbox")`
	p.Go(g.link("never", g.shows("Never", "never", "script.html", htmlType)))
	p.WaitText(says)
	g.link("none", g.shows("None", "never", "tall.html", htmlType))
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "none"`))
	p.Wait(`document.querySelector("iframe")?.clientHeight > 2500`)
	if got := browser.Eval[string](&p.Document, sandbox); p.Visible(note) || got != stillSandbox {
		t.Errorf("the note shows above a page without scripts, or the frame is %q", got)
	}
	server := startServer(t)
	server.views.asleep = true
	server.enter(p)
	p.Go(server.appURL + "/v/" + artifactID)
	f := p.Frame("report.html")
	f.WaitText("harbour seals")
	if got := browser.Eval[string](&p.Document, sandbox); p.Visible(note) || got != stillSandbox {
		t.Errorf("for members, the note shows without scripts, or the frame is %q", got)
	}
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: 990, scripts: true}, "*"), true)`)
	p.WaitText(says)
}
