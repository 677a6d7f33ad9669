package app

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func in(scene string) func(*house) { return func(s *house) { s.scene = scene } }

// choose picks an option of a list.
func choose(id, value string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, `(document.getElementById("`+id+`").value = "`+value+`", true)`)
	}
}

const makeLink = ".new-link button"

var artifactScenes = []scene{
	{name: "artifact", path: artifactPage},
	{name: "artifact-private", path: artifactPage, set: in(private)},
	{name: "artifact-locked", path: artifactPage, set: in(locked)},
	{name: "artifact-pinned", path: artifactPage, set: in(pinned)},
	{name: "artifact-warned", path: artifactPage, set: in(warned)},
	{name: "artifact-ended", path: artifactPage, set: in(ended)},
	{name: "artifact-deleted", path: artifactPage, set: in(deleted)},
	{
		name: "artifact-draft-in-the-way",
		path: artifactPage,
		set:  func(s *house) { s.restoreRefused = fault.NewCode(fault.DraftRevisionConflict) },
		act:  press(`form[action$="/restore"] button`),
	},
	{name: "artifact-busy", path: artifactPage, set: func(s *house) { s.tooMany = fault.NewCode(fault.RateLimitedActor).After(40 * time.Second) }},
	{name: "artifact-draft", path: artifactPage, set: in(draft)},
	{name: "artifact-closed", path: artifactPage, set: in(closed)},
	{name: "artifact-odd", path: artifactPage, set: in(odd)},
	{name: "artifact-long", path: artifactPage, set: long},
	{name: "artifact-bad-title", path: artifactPage, act: fill("title", " ", `form[action$="/title"] button`)},
	{name: "artifact-delete", path: artifactPage + "/delete"},
	{name: "artifact-make-private", path: artifactPage + "/private", set: long},
	{name: "artifact-lock", path: artifactPage + "/lockdown"},
	{name: "artifact-unlock", path: artifactPage + "/lockdown/lift", set: in(locked)},
	{
		name: "artifact-pins",
		path: artifactPage,
		set:  func(s *house) { s.pinRefused = fault.NewCode(fault.PinnedArtifactCap) },
		act:  press(`form[action$="/pin"] button`),
	},
	{name: "link-revoke", path: linkPath + "/revoke"},
	{name: "link-made", path: artifactPage, act: then(choose("ends", "24h"), press(makeLink))},
	{
		name: "link-there",
		path: artifactPage,
		set:  in(private),
		act:  press(`form[action$="/unlisted"] button`),
	},
	{
		name: "link-over",
		path: artifactPage,
		act:  press(`form[action$="/address"] button`),
		set:  func(s *house) { s.mintRefused = fault.NewCode(fault.NotFound) },
	},
	{name: "links", path: "/access-links"},
	{name: "links-empty", path: "/access-links", set: nothing},
	{name: "links-long", path: "/access-links", set: long},
	{name: "private", path: "/v/" + artifactID},
	{name: "private-older", path: "/v/" + artifactID + "?revision=" + oldID, set: long},
	{name: "private-odd", path: "/v/" + artifactID, set: in(odd)},
	{name: "private-closed", path: "/v/" + artifactID, set: in(closed)},
	{name: "private-unseen", path: "/v/" + strangeID},
	{name: "compare", path: comparisonPage},
	{name: "compare-lines", path: comparisonPage + "?view=unified"},
	{name: "compare-split", path: comparisonPage + "?view=split"},
	{name: "compare-file", path: comparisonPage + "?path=notes.md"},
	{
		name: "compare-both",
		path: comparisonPage + "?path=chart.png",
		act:  func(p *browser.Page) { p.Click(`label[for="f1-both"]`) },
	},
	{name: "compare-long", path: comparisonPage, set: strangeFiles},
	{name: "compare-long-split", path: comparisonPage + "?view=split", set: strangeFiles},
	{name: "compare-itself", path: comparisonPage + "?from=" + newestID + "&to=" + newestID},
	{name: "compare-same", path: comparisonPage, set: func(s *house) { s.files.before = s.files.after }},
	{name: "compare-removed", path: comparisonPage + "?to=" + firstID},
}

func TestThePrivateViewerFramesItsArtifact(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
	p.Go(in.appURL + "/v/" + artifactID)
	f := p.Frame("report.html")
	f.WaitText("harbour seals")
	type facts struct{ Origin, Sandbox, Referrer, Frame, Title string }
	got := browser.Eval[facts](&p.Document, `(() => { const f = document.querySelector("iframe"); return {
		Sandbox: f.getAttribute("sandbox"), Referrer: f.getAttribute("referrerpolicy"), Frame: f.title, Title: document.title } })()`)
	got.Origin = browser.Eval[string](f, "self.origin")
	want := facts{"null", "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads", "no-referrer", "Artifact: Seals of the bay", "Seals of the bay | Vitrine"}
	if got != want {
		t.Errorf("shows %+v\nwant  %+v", got, want)
	}
	// The checks of the heights are those of the other viewer; here it counts that they apply.
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: -5}, "*"), parent.postMessage({type: "vitrine:viewer-height", height: 1900.2}, "*"), true)`)
	p.Wait(`document.querySelector(".case iframe").getBoundingClientRect().height === 1901`)

	p.Press(kb.Tab)
	p.Press(kb.Tab)
	p.Wait(`document.activeElement.tagName === "SUMMARY"`)
	p.Press(kb.Enter)
	p.Wait(`document.querySelector(".sheet").checkVisibility()`)
	p.Screenshot("private-details-1280-light")
	for _, v := range p.Axe() {
		t.Error(v)
	}
	p.Press(kb.Tab)
	p.Press(kb.Escape)
	p.Wait(`!document.querySelector(".sheet").checkVisibility() && document.activeElement.tagName === "SUMMARY"`)
	p.Clean()
}

func TestWhatMembersDoToAnArtifactWorksWithoutScripts(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
	p.NoScripts()
	p.Go(in.appURL + "/v/" + artifactID)
	p.Frame("/v/scripts/report.html").WaitText("harbour seals")
	for _, s := range []struct{ path, button, done, did string }{
		{artifactPage, `form[action$="/pin"] button`, "Who can see it", "Pin " + artifactID},
		{artifactPage, `form[action$="/title"] button`, "Who can see it", "Rename " + artifactID},
		{artifactPage, `form[action$="/restore"] button`, "Who can see it", "Restore " + artifactID + " " + oldID},
		{artifactPage, makeLink, linkAddress, "Address " + shareID},
		{artifactPage, `form[action$="/address"] button`, linkAddress, "Address " + shareID},
		{linkPath + "/revoke", submit, "Who can see it", "RevokeLink " + shareID},
		{artifactPage + "/private", submit, "Who can see it", "SetVisibility private"},
		{artifactPage + "/lockdown", submit, "Who can see it", "Lock " + artifactID},
		{artifactPage + "/lockdown/lift", submit, "Who can see it", "Unlock " + artifactID},
		{artifactPage + "/delete", submit, "Everything that", "Delete " + artifactID},
	} {
		p.Go(in.appURL + s.path)
		in.mu.Lock()
		in.calls = nil
		in.mu.Unlock()
		press(s.button)(p)
		p.WaitText(s.done)
		in.mu.Lock()
		if all := did(in.house); len(all) == 0 || all[len(all)-1] != s.did {
			t.Errorf("%s: did %v", s.path, all)
		}
		in.mu.Unlock()
	}
	p.Clean()
}

func TestTheMadeLinkIsForOneRevision(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.enter(p)
	p.Go(in.appURL + artifactPage)
	choose("shows", oldID)(p)
	choose("ends", "1h")(p)
	press(makeLink)(p)
	p.WaitText("Link to one revision")
	p.WaitText(oldID)
	p.Click("[data-copies]")
	p.Wait(`document.querySelector('[data-part="copied"]').textContent !== ""`)
	if shown := p.Text("#secret"); shown != linkAddress {
		t.Errorf("shows %q", shown)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.wanted.Type != "revision" || in.wanted.RevisionID != oldID ||
		!in.wanted.ExpiresAt.Equal(contract.At(noon.Add(3600e9)).Time) {
		t.Errorf("asked for %+v", in.wanted)
	}
	for _, target := range in.targets {
		if strings.Contains(target, blob) {
			t.Errorf("the secret is in %s", target)
		}
	}
	p.Clean()
}
