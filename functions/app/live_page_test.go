package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/view"
)

// hurried lets a page wait for a moment between polls, and keeps how long it wanted to wait in waits. The
// test moves its clock by ahead, in milliseconds.
const hurried = `
window.waits = []
window.ahead = 0
const later = window.setTimeout, now = Date.now
Date.now = () => now() + ahead
window.setTimeout = (run, after, ...rest) => {
	if (run.name !== "poll") return later(run, after, ...rest)
	if (after > 0) waits.push(after)
	return later(run, 20, ...rest)
}`

func TestAPageAsksLessTheLongerItsReaderIsAway(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Before(hurried)
	p.Go(g.link(blob, g.shows("Tides", "plain", "report.html", htmlType, older)))
	waitView(p, "artifact")
	polled := func() int { return g.asked("POST " + sharePoll) }
	p.Wait(`waits.filter(wait => wait === 3000).length > 3`) // the pace of the server
	step := func(ahead time.Duration, sign, until string) {
		t.Helper()
		browser.Eval[bool](&p.Document, fmt.Sprintf(`(waits.length = 0, ahead += %d, %s)`, ahead.Milliseconds(), sign))
		p.Wait(until)
	}
	step(2*time.Minute, "true", `waits.filter(wait => wait === 15000).length > 6 && waits.at(-1) !== 3000`)
	touch := `dispatchEvent(new Event("keydown"))`
	step(0, touch, `waits.filter(wait => wait === 3000).length > 3`)
	step(31*time.Minute, "true", `waits.length < 3`)
	before := polled()
	step(0, "true", `new Promise(done => later(() => done(true), 200))`)
	if n := polled(); n > before+1 {
		t.Errorf("without a reader the page polled %d times more", n-before)
	}
	step(0, `dispatchEvent(new Event("focus"))`, `waits.filter(wait => wait === 3000).length > 3`)
	p.Clean()
}

func TestAPageThatLosesItsScriptsShowsTheArtifactAndAsksForThemAgain(t *testing.T) {
	g, p := open(t), browser.Open(t)
	g.broken.Store(3) // a browser repeats a request once by itself
	p.Before(hurried)
	p.Go(g.link(blob, g.shows("Tides", "plain", "report.html", htmlType, older)))
	waitView(p, "artifact")
	p.Wait(`waits.length > 0`)
	if left := g.broken.Load(); left >= 0 {
		t.Errorf("%d more requests for guest.js were to break off", left)
	}
	p.Clean()
}

// asked is how often the app host was asked for a target.
func (g *gallery) asked(target string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.targets {
		if t == target {
			n++
		}
	}
	return n
}

func TestAPageStaysOpenWhateverAPollAnswers(t *testing.T) {
	for name, err := range map[string]error{
		"too often": fault.NewCode(fault.RateLimitedArtifact).After(time.Minute),
		"a mistake": fault.NewCode(fault.InvalidRequest),
	} {
		g, p := open(t), browser.Open(t)
		g.live.err = err
		p.Before(hurried)
		p.Go(g.link(blob, g.shows("Tides", "plain", "report.html", htmlType, older)))
		waitView(p, "artifact")
		p.Wait(`waits.filter(wait => wait >= 15000).length > 4`)
		if viewOf(p) != "artifact" || !p.Visible("iframe") {
			t.Errorf("%s: shows %s", name, viewOf(p))
		}
	}
}

// newer is a revision that a link shows next.
func newer(r *contract.Resolved) { r.AgentView.RevisionID = newestID }

func older(r *contract.Resolved) { r.AgentView.RevisionID = oldID }

// TestTheStripOfRevisionsLooksRight looks at it with a newer revision, and after the reader went back to the older one.
func TestTheStripOfRevisionsLooksRight(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	p.Before(hurried)
	p.Go(g.link(blob, g.shows("Tides", "plain", "report.html", htmlType, older)))
	p.Wait(`document.querySelector(".strip-text").innerText.includes("The newest revision")`)
	g.link(blob, g.shows("High tides", "plain", "tall.html", htmlType, newer))
	g.live.set(&view.Pointer{RevisionID: newestID, Number: 3})
	p.Wait(`document.querySelector(".strip-text").innerText.includes("Revision 3, the newest")`)
	p.Wait(`document.querySelectorAll("iframe").length === 1`)
	lookAt(t, p, "strip-updated")
	p.Click(`[data-part="older"]`)
	p.Wait(`document.querySelector(".strip-text").innerText.includes("Revision 3 is available.")`)
	p.Wait(`document.querySelectorAll("iframe").length === 1`)
	lookAt(t, p, "strip-older")
	p.Clean()
}

// TestAPhoneIsTheArtifactsFirst: the artifact begins in the first quarter of the screen, and steps between revisions
// come with the second one.
func TestAPhoneIsTheArtifactsFirst(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Viewport(320, 700)
	p.Before(hurried)
	p.Go(g.link(blob, g.shows("Tides of the northern bays", "plain", "report.html", htmlType, older)))
	p.Wait(`document.querySelector(".strip-text").innerText.includes("The newest revision")`)
	if top := browser.Eval[float64](&p.Document, `document.querySelector("iframe").getBoundingClientRect().top`); top > 175 {
		t.Errorf("the artifact begins %v pixels below the top", top)
	}
	if p.Visible(`[data-part="steps"]`) {
		t.Error("the page offers other revisions of one")
	}
	g.link(blob, g.shows("High tides", "plain", "tall.html", htmlType, newer))
	g.live.set(&view.Pointer{RevisionID: newestID, Number: 2})
	p.Wait(`document.querySelector("[data-part=steps]").checkVisibility()`)
	p.Click("summary")
	if until := p.Text(`[data-field="until"]`); !strings.Contains(until, time.Now().Format("2006")) {
		t.Errorf("the details say that it expires %q", until)
	}
}

// TestTheStripOfAMemberLeadsToItsNeighbours reads the page as a browser without scripts does.
func TestTheStripOfAMemberLeadsToItsNeighbours(t *testing.T) {
	h := newServices().handler()
	to := func(r id.Revision) string { return `href="/v/` + artifactID + `?revision=` + string(r) + `"` }
	for path, want := range map[string][]string{
		"/v/" + artifactID:                        {"Revision 3 of 3", `rel="prev" ` + to(oldID), `aria-current="page"`},
		"/v/" + artifactID + "?revision=" + oldID: {"Revision 2 of 3", `rel="next" ` + to(newestID)},
	} {
		r := signedIn(h, http.MethodGet, path, nil)
		body := text(t, r)
		expect.Has(t, path, body, want...)
	}
}
