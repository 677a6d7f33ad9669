package app

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/view"
)

// manyFiles is how many files the artifacts of these tests have: pages of 100, 500, 500 and 2.
const manyFiles = 1102

// many gives an artifact that many files.
func many(g *gallery) func(*contract.Resolved) {
	return func(r *contract.Resolved) {
		for n := len(r.AgentView.Files); n < manyFiles; n++ {
			name := fmt.Sprintf("Shots/%04d.png", n)
			r.AgentView.Files = append(r.AgentView.Files, viewFile(name, "image/png", g.content.URL+"/v/plain/"+name, 1000))
		}
	}
}

const (
	listed   = `document.querySelectorAll('[data-part="files"] li').length`
	toBottom = `(l => { l.scrollTop = 1e9; return true })(document.querySelector(".listing"))`
)

// wantListed waits until the list has n files and is done.
func wantListed(p *browser.Page, n int) {
	p.Wait(fmt.Sprintf(`%s === %d && document.querySelector('[data-part="more"] [role=status]').innerText === ""`, listed, n))
}

// TestAListOfManyFilesLoadsAsItIsRead scrolls, turns pages by the keyboard and searches, in the viewer of a link and in
// that of members.
func TestAListOfManyFilesLoadsAsItIsRead(t *testing.T) {
	g, server := open(t), startServer(t)
	server.views.more = manyFiles - 2
	visitor, member := browser.Open(t), browser.Open(t)
	server.enter(member)
	for _, c := range []struct {
		name, url, typed, found string
		by                      *browser.Page
	}{
		{
			"link", g.link(blob, g.shows("Shots", "plain", "report.html", htmlType, many(g))), "SHOTS/109",
			"10 of 1102", visitor,
		},
		{"private", server.appURL + "/v/" + artifactID, "FILES/109", "10 of 1102", member},
	} {
		p := c.by
		p.Media("prefers-reduced-motion", "reduce")
		p.Viewport(1024, 800)
		p.Go(c.url)
		p.Wait(`document.querySelector("iframe")`)
		browser.Eval[bool](&p.Document, `(document.querySelector(".drawer").open = true)`)
		p.WaitText("1102, ")
		p.Wait(`document.querySelector('[data-part="find"]').checkVisibility()`)
		wantListed(p, 100)
		lookAtPanel(t, p, "panel-many-"+c.name, 1024)
		browser.Eval[bool](&p.Document, toBottom)
		wantListed(p, 600)
		p.Wait(`document.querySelector(".listing").scrollHeight > 20_000`)
		browser.Eval[bool](&p.Document, `(document.querySelector('[data-part="more"] :is(button, a)').focus({ preventScroll: true }), true)`)
		p.Press(kb.Enter)
		p.Wait(`document.activeElement.closest("li") === document.querySelectorAll('[data-part="files"] li')[600]`)
		wantListed(p, 1100)
		p.Do(chromedp.SendKeys(chromedp.CSS("#find"), c.typed))
		p.Wait(`document.querySelector('[data-field="found"]').innerText === "` + c.found + `"`)
		wantListed(p, manyFiles)
		if p.Visible(`[data-part="more"]`) {
			t.Errorf("%s: the list offers more than all", c.name)
		}
		lookAtPanel(t, p, "panel-many-found-"+c.name, 1024)
		p.Clean()
	}
}

// TestAPageOfFilesThatFailsIsOfferedAgain fails all pages after the first one until the reader tries again.
func TestAPageOfFilesThatFailsIsOfferedAgain(t *testing.T) {
	g, p := open(t), browser.Open(t)
	var works atomic.Bool
	shows := g.shows("Shots", "plain", "report.html", htmlType, many(g))
	p.Go(g.link(blob, func(ctx context.Context, q contract.ResolveRequest) (contract.Resolved, error) {
		if q.FilesCursor != "" && !works.Load() {
			return contract.Resolved{}, fault.NewCode(fault.DatabaseUnavailable)
		}
		return shows(ctx, q)
	}))
	waitView(p, "artifact")
	browser.Eval[bool](&p.Document, `(document.querySelector(".drawer").open = true)`)
	waitDetails(p)
	p.Do(chromedp.SendKeys(chromedp.CSS("#find"), "shots/11"))
	p.WaitText("The other files could not be loaded.")
	p.Wait(`document.querySelector('[data-part="more"] button').innerText === "Try again"`)
	works.Store(true)
	// not with the mouse, because a key that the page hears late may load the files already, and then the button goes
	browser.Eval[bool](&p.Document, `(document.querySelector('[data-part="more"] button').click(), true)`)
	wantListed(p, manyFiles)
	p.Wait(`document.querySelector('[data-field="found"]').innerText === "2 of 1102"`)
}

// TestAPlaceThatIsNotListedYetHasAllFilesLoadedOnce tells the viewer of such a place, as its frame does.
func TestAPlaceThatIsNotListedYetHasAllFilesLoadedOnce(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Shots", "plain", "report.html", htmlType, many(g))))
	waitView(p, "artifact")
	waitDetails(p)
	tell := func(path string) {
		browser.Eval[bool](p.Frame("report.html"), `(parent.postMessage({
			type: "vitrine:place", path: "`+path+`", query: "", hash: "", title: "A shot" }, "*"), true)`)
	}
	tell("Shots/1000.png")
	p.Wait(`location.search === "?at=Shots%2F1000.png"`)
	wantListed(p, manyFiles)
	asked := g.count(blob)
	tell("Shots/none.png")
	tell("Shots/0999.png")
	p.Wait(`location.search === "?at=Shots%2F0999.png"`)
	if n := g.count(blob); n != asked {
		t.Errorf("the link is opened %d times more for a place that no file has", n-asked)
	}
}

func TestPagesOfFilesNeedNoScript(t *testing.T) {
	server, g := startServer(t), open(t)
	p, visitor := browser.Open(t), browser.Open(t)
	server.views.more = manyFiles - 2
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + "/v/" + artifactID)
	p.Click(".drawer > summary")
	p.WaitText("1102, ")
	p.Click(`[data-part="more"] [rel=next]`)
	p.WaitText("files/0098.txt")
	p.Wait(listed + ` === 500`)
	if !p.Visible(".drawer .files") {
		t.Error("the drawer of the second page is closed")
	}
	p.Click(`[data-part="more"] a:not([rel])`)
	p.Wait(`document.querySelector(".files").textContent.includes("data/counts.csv")`)
	p.Go(server.appURL + "/v/" + artifactID + "?files=none")
	p.Wait(`location.search === ""`)

	p = visitor
	p.NoScripts()
	p.Go(g.link(blob, g.shows("Shots", "plain", "report.html", htmlType, many(g))))
	p.Do(chromedp.SendKeys(chromedp.CSS("#pasted"), g.appURL+"/al/"+publicID+"#"+blob))
	p.Click("form button")
	p.WaitText("Details")
	p.Click(".drawer > summary")
	p.Click("[name=files]")
	p.WaitText("Shots/0100.png")
	p.Wait(`document.querySelectorAll(".files li").length === 500`)
	p.Click("form button:not([name])")
	p.Wait(`document.querySelector(".files").textContent.includes("notes.md")`)
	p.Clean()
	for _, target := range g.targets {
		expect.Lacks(t, "an address", target, blob)
	}
}

func TestACursorThatEndedLeadsToTheFirstPage(t *testing.T) {
	h, _ := host(func(_ context.Context, q contract.ResolveRequest, _ bool) (v view.View, err error) {
		if q.FilesCursor != "" {
			err = fault.NewCode(fault.InvalidRequest)
		}
		return v, err
	})
	r := send(h.Handler(), "POST", linkPage, "files=old&link="+blob, "Content-Type", formType)
	wantAnswer(t, "a page of files", r, 200, "Details")
	s := newServices()
	s.views.more = manyFiles
	got := signedIn(s.handler(), "GET", "/v/"+artifactID+"?revision="+oldID+"&files=none", nil)
	wantRedirect(t, "a member's page of files", got, "/v/"+artifactID+"?revision="+oldID)
}

func TestAPlaceOnALaterPageIsFramed(t *testing.T) {
	s := newServices()
	s.views.more = manyFiles - 2
	body := text(t, signedIn(s.handler(), "GET", "/v/"+artifactID+"?at=files/1000.txt", nil))
	if !strings.Contains(body, `/files/1000.txt" title="Artifact: `) {
		t.Error("a file of a later page is not framed")
	}
	expect.Lacks(t, "the list", body, "<bdi>files/1000.txt")
}
