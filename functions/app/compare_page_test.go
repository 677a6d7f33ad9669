package app

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/id"
)

func TestRevisionsAreChosenAndSwitchedWithoutScripts(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + artifactPage)
	p.Click(`a[href*="/compare"]`)
	p.WaitText("From revision 2")
	choose("from", newestID)(p)
	choose("to", oldID)(p)
	p.Click(submit)
	p.WaitText("From revision 3")
	p.Click(`.comparison-views a[href*="view=split"]`)
	p.Wait(`document.querySelector(".diff.split")`)
	p.WaitText("From revision 3")
	choose("from", oldID)(p)
	choose("to", newestID)(p)
	p.Click(submit)
	p.WaitText("From revision 2")
	p.Wait(`location.search.includes("view=split") && document.querySelector(".diff.split")`)
	p.Go(server.appURL + comparisonPage)
	p.Click(`.changes a[href="#f5"]`)
	p.Wait(`location.hash === "#f5"`)
	p.Clean()
}

func TestSidesStandBesideEachOtherWhereThereIsRoom(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	// top and left of a line by its number, and whether it is shown.
	const place = `(id => { const r = document.getElementById(id).parentElement.getBoundingClientRect(); return [r.top, r.left, r.height] })`
	at := func(id string) []float64 { return browser.Eval[[]float64](&p.Document, place+`("`+id+`")`) }
	for width, beside := range map[int64]bool{700: true, 699: false, 1280: true, 320: false} {
		p.Viewport(width, 640)
		p.Go(server.appURL + comparisonPage + "?view=split&path=counts.csv")
		removed, added, same, again := at("f2-old-3"), at("f2-new-3"), at("f2-old-2"), at("f2-new-2")
		if (removed[0] == added[0]) != beside || (removed[1] < added[1]) != beside || (same[2] > 0) != beside ||
			again[2] == 0 {
			t.Errorf("%d px: %v %v %v %v", width, removed, added, same, again)
		}
		if !beside && removed[0] > added[0] {
			t.Errorf("%d px: the new line comes first", width)
		}
	}
	p.Go(server.appURL + comparisonPage + "?view=split&path=counts.csv#f2-new-3")
	p.Wait(`getComputedStyle(document.querySelector(".diff-line:has(:target)")).outlineStyle === "solid"`)
	p.Clean()
}

func TestPicturesAreShownInFourWays(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + comparisonPage + "?path=chart.png")
	p.Wait(`[...document.images].every(i => i.complete && i.naturalWidth === 400)`)
	seen := func() string {
		return browser.Eval[string](&p.Document, `(() => {
			const [a, b] = document.querySelectorAll(".pictures figure"), r = a.getBoundingClientRect(), s = b.getBoundingClientRect();
			return [r.height > 0, s.height > 0, r.left === s.left && r.top === s.top].join() })()`)
	}
	for _, way := range [][2]string{
		{"beside", "true,true,false"}, {"before", "true,false,false"}, {"after", "false,true,false"}, {"both", "true,true,true"},
	} {
		p.Click(`label[for="f1-` + way[0] + `"]`)
		if got := seen(); got != way[1] {
			t.Errorf("%s shows %s, want %s", way[0], got, way[1])
		}
	}
	p.Clean()
}

func TestTheTabOffersWhatChangedSinceTheLastLook(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	const link = `document.querySelector('[data-part="since"]')`
	offered := func(path string) string {
		t.Helper()
		p.Go(server.appURL + path)
		p.Wait(`localStorage.getItem("vitrine:seen") !== null`)
		return browser.Eval[string](&p.Document, link+`?.hidden === false ? `+link+`.getAttribute("href") : ""`)
	}
	for _, path := range []string{"/v/" + artifactID, artifactPage} {
		p.Go(server.appURL + "/healthz")
		browser.Eval[bool](&p.Document, `(localStorage.clear(), sessionStorage.clear(), true)`)
		if to := offered(path); to != "" {
			t.Errorf("%s: the first look offers %s", path, to)
		}
		remember := func(revision string) {
			p.Go(server.appURL + "/healthz")
			browser.Eval[bool](&p.Document, `(sessionStorage.clear(), localStorage.setItem("vitrine:seen", JSON.stringify([["`+artifactID+`", "`+revision+`"]])), true)`)
		}
		remember(oldID)
		want := comparisonPage + "?from=" + oldID + "&to=" + newestID
		for range 2 { // loading the page again keeps the offer
			if to := offered(path); to != want {
				t.Errorf("%s offers %q, want %q", path, to, want)
			}
		}
		p.Click(`[data-part="since"]`)
		p.WaitText("From revision 2")
		if to := offered(path); to != "" {
			t.Errorf("%s: what was looked at is offered again: %s", path, to)
		}
		for _, odd := range []string{`x" onclick="`, "rev_1", string(id.NewArtifact())} {
			remember(strings.ReplaceAll(odd, `"`, `\"`))
			if to := offered(path); to != "" {
				t.Errorf("%s: %q makes it offer %s", path, odd, to)
			}
		}
	}
	if to := offered("/v/" + artifactID + "?revision=" + oldID); to != "" {
		t.Errorf("an older revision offers %s", to)
	}
	if kept := browser.Eval[string](&p.Document, `localStorage.getItem("vitrine:seen")`); strings.Contains(kept, oldID) {
		t.Errorf("an older revision counts as a look: %s", kept)
	}
	p.Clean()
}
