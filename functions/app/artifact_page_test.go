package app

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
)

func TestThePrivateViewerFramesItsArtifact(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.Go(server.appURL + "/v/" + artifactID)
	f := p.Frame("report.html")
	f.WaitText("harbour seals")
	type facts struct{ Origin, Sandbox, Referrer, Frame, Title string }
	got := browser.Eval[facts](&p.Document, `(() => { const f = document.querySelector("iframe"); return {
		Sandbox: f.getAttribute("sandbox"), Referrer: f.getAttribute("referrerpolicy"), Frame: f.title, Title: document.title } })()`)
	got.Origin = browser.Eval[string](f, "self.origin")
	want := facts{"null", runningSandbox, "no-referrer", "Artifact: Seals of the bay", "Seals of the bay | Vitrine"}
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
	p.Press(kb.Tab)
	p.Press(kb.Escape)
	p.Wait(`!document.querySelector(".sheet").checkVisibility() && document.activeElement.tagName === "SUMMARY"`)
	p.Clean()
}

func TestWhatMembersDoToAnArtifactWorksWithoutScripts(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + "/v/" + artifactID)
	p.Frame("/v/scripts/report.html").WaitText("harbour seals")
	for _, s := range []struct{ path, button, done, change string }{
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
		p.Go(server.appURL + s.path)
		server.mu.Lock()
		server.changes = nil
		server.mu.Unlock()
		press(s.button)(p)
		p.WaitText(s.done)
		server.mu.Lock()
		if all := server.changes; len(all) == 0 || all[len(all)-1] != s.change {
			t.Errorf("%s: changed %v", s.path, all)
		}
		server.mu.Unlock()
	}
	p.Clean()
}

func TestTheMadeLinkIsForOneRevision(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.Go(server.appURL + artifactPage)
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
	server.mu.Lock()
	defer server.mu.Unlock()
	if server.accessLinks.wanted.Kind != "revision" || server.accessLinks.wanted.Revision != oldID ||
		!server.accessLinks.wanted.ExpiresAt.Equal(noon.Add(3600e9)) {
		t.Errorf("asked for %+v", server.accessLinks.wanted)
	}
	for _, target := range server.targets {
		expect.Lacks(t, "an address", target, blob)
	}
	p.Clean()
}
