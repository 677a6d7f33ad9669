package live

import (
	"strconv"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/disk"
	"vitrine/shared/platform/contract"
)

// scroll goes to a place in the page, and wantPlace wants the page there.
func scroll(p *browser.Page) {
	browser.Eval[bool](&p.Document, `(scrollTo(0, 900), true)`)
	p.Wait(`scrollY === 900`)
}

func wantPlace(t *testing.T, p *browser.Page) {
	t.Helper()
	if y := browser.Eval[float64](&p.Document, "scrollY"); y != 900 {
		t.Errorf("the page is at %g, was at 900", y)
	}
}

// shownIn waits until the frame of a page, which is its only one, shows a text.
func shownIn(p *browser.Page, text string) {
	p.Wait(`document.querySelectorAll("iframe").length === 1 && !document.querySelector(".coming")`)
	source := browser.Eval[string](&p.Document, `document.querySelector("iframe").src`)
	p.Frame(source).WaitText(text)
}

func strip(p *browser.Page) string { return strings.TrimSpace(p.Text(".strip-text")) }

// TestAPageOfAShareLinkShowsANewRevisionInItsPlace publishes the new revision with the command.
func TestAPageOfAShareLinkShowsANewRevisionInItsPlace(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.publish(t, contract.Published{}, "Tides", "the first")
	p, _ := e.share(t, first, harness.ShareLink)
	shownIn(p, "the first")
	p.Wait(`document.querySelector(".strip-text").innerText.includes("The newest revision")`)
	browser.Eval[bool](&p.Document, `(addEventListener("vitrine:shown", e => window.told = e.detail.title, true), true)`)
	scroll(p)
	page, folder := tall("the second"), t.TempDir()
	disk.Write(t, folder, map[string]string{page.Path: string(page.Body)})
	command := e.Command(t, t.TempDir(), e.agent.Key, "publish", folder, "--title", "High tides",
		"--artifact-id", string(first.ArtifactID))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.Wait(`document.querySelector("[data-field=announcement]").textContent === "Updated to revision 2"`)
	shownIn(p, "the second")
	wantPlace(t, p)
	p.Wait(`document.title === "High tides | Vitrine" && told === "High tides"`)
	p.Wait(`document.querySelector("h1").innerText === "High tides"`)
	if got := strip(p); got != "Revision 2, the newest" {
		t.Errorf("the strip says %q", got)
	}

	p.Click(`[data-part="older"]`)
	shownIn(p, "the first")
	if got := strip(p); got != "The revision that you opened Revision 2 is available." {
		t.Errorf("the strip says %q", got)
	}
	e.publish(t, first, "Low tides", "the third")
	p.Wait(`document.querySelector("[data-field=newer]").textContent === "Revision 3 is available."`)
	shownIn(p, "the first")
	p.Click(`[data-part="follow"]`)
	p.Wait(`document.querySelector(".strip-text").innerText.trim() === "Revision 3, the newest"`)
	shownIn(p, "the third")
	p.Clean()
}

func TestAPageOfARevisionLinkStaysAsItIs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.publish(t, contract.Published{}, "Tides", "the first")
	p, l := e.share(t, first, harness.RevisionLink(first.RevisionID))
	p.Wait(`document.querySelector(".strip-text").innerText.trim() === "This link shows one revision"`)
	if p.Visible(`[data-part="steps"]`) {
		t.Error("the page offers other revisions")
	}
	e.publish(t, first, "High tides", "the second")
	before := begun(p)
	p.Wait(`polls.length > ` + strconv.Itoa(before+2) + ` && polls.every(poll => poll.status !== 200)`)
	shownIn(p, "the first")
	wantStays(t, p)
	harness.RevokeLink(t, e.agent, l.ID)
	p.WaitText("This link opens nothing")
}

func TestThePrivateViewerShowsANewRevisionInItsPlace(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.publish(t, contract.Published{}, "Tides", "the first")
	at := "/v/" + string(first.ArtifactID)
	p := e.private(t, at)
	shownIn(p, "the first")
	scroll(p)
	e.publish(t, first, "High tides", "the second")
	p.Wait(`document.querySelector("[data-field=announcement]").textContent === "Updated to revision 2"`)
	shownIn(p, "the second")
	wantPlace(t, p)
	p.Wait(`document.title === "High tides | Vitrine" && document.querySelector("h1").innerText === "High tides"`)
	if got := strip(p); got != "Revision 2 of 2" {
		t.Errorf("the strip says %q", got)
	}
	p.Wait(`document.querySelector('[data-part="since"]').checkVisibility()`)

	p.Click(`[data-part="older"]`)
	p.Wait(`location.search.startsWith("?revision=") && document.querySelector("iframe") !== null`)
	shownIn(p, "the first")
	if got := strip(p); got != "Revision 1 of 2" {
		t.Errorf("the strip of the older one says %q", got)
	}
	e.publish(t, first, "Low tides", "the third")
	p.Wait(`document.querySelector("[data-field=newer]").textContent === "Revision 3 is available."`)
	shownIn(p, "the first")
	p.Click(`[data-part="follow"]`)
	p.Wait(`location.search === "" && document.querySelector("iframe") !== null`)
	shownIn(p, "the third")
	p.Click(`[data-part="since"]`)
	p.WaitText("From revision 1")
	p.Wait(`[...document.querySelectorAll("del, ins")].length > 0 || document.querySelectorAll(".diff-line").length > 0`)
	p.Clean()
}
