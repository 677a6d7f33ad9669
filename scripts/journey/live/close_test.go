package live

import (
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// wantStays wants a page open, with its frame.
func wantStays(t *testing.T, p *browser.Page) {
	t.Helper()
	if !p.Visible("iframe") || !p.Visible(".strip") {
		t.Error("the page is not open")
	}
}

// paused stops the polls of a page while do changes what it shows, so that it is known which poll is the next.
func paused(p *browser.Page, do func()) (before int) {
	browser.Eval[bool](&p.Document, `(window.away = true, document.dispatchEvent(new Event("visibilitychange")), true)`)
	p.Wait(`polls.every(poll => poll.status)`)
	before = begun(p)
	do()
	browser.Eval[bool](&p.Document, `(window.away = false, document.dispatchEvent(new Event("visibilitychange")), true)`)
	return before
}

const linkGone, memberGone = "This link opens nothing", "Nothing on show here"

func TestF74ALinkThatIsRevokedClosesThePagesThatPoll(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	made := e.publish(t, contract.Published{}, "Tides", "the first")
	p, l := e.share(t, made, harness.ShareLink)
	content := browser.Eval[string](&p.Document, `document.querySelector("iframe").src`)
	e.WantContent(t, content, tall("the first").Body)
	before := paused(p, func() { harness.RevokeLink(t, e.agent, l.ID) })
	wantClosed(t, p, before, linkGone)
	harness.WantRefused(t, e.Get(t, content), 404, fault.NotFound)
	revoked := p.Text("main")
	p.Clean()

	unknown := open(t, "about:blank")
	unknown.Go(e.Origins.App + "/al/0123456789ABCDEF#" + "x")
	unknown.WaitText(linkGone)
	if got := unknown.Text("main"); got != revoked {
		t.Errorf("a page that closed says %q, one that never opened %q", revoked, got)
	}
}

func TestWhateverEndsALinkClosesItsPages(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	op := e.NewOperator(t)
	member := &harness.Member{Agent: e.WithBearer(e.web.CLIToken(t).AccessToken)}
	hour := func() contract.CreateLink {
		r := harness.ShareLink
		r.ExpiresAt = new(contract.At(e.Options.Now().Add(time.Hour)))
		return r
	}
	for _, c := range []struct {
		name string
		link contract.CreateLink
		do   func(a contract.Published)
	}{
		{"a lock of its links", harness.ShareLink, func(a contract.Published) {
			path := "/v1/web/artifacts/" + string(a.ArtifactID) + "/access-link-lockdown"
			harness.CallAs[any](t, member, 200, "POST", path, nil, harness.KeyHeader()...)
		}},
		{"private", harness.ShareLink, func(a contract.Published) {
			harness.SetVisibility(t, e.agent, a.ArtifactID, "private")
		}},
		{"deletion", harness.ShareLink, func(a contract.Published) { harness.DeleteArtifact(t, e.agent, a.ArtifactID) }},
		{"an operator", harness.ShareLink, func(a contract.Published) {
			harness.Lock(t, op, "artifact", string(a.ArtifactID))
		}},
		{"its end", hour(), func(contract.Published) { e.Clock.Advance(time.Hour) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := e.publish(t, contract.Published{}, "Tides", c.name)
			p, _ := e.share(t, a, c.link)
			wantClosed(t, p, paused(p, func() { c.do(a) }), linkGone)
			p.Clean()
		})
	}
}

func TestWhateverEndsAnArtifactClosesThePrivateViewer(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	op := e.NewOperator(t)
	for _, c := range []struct {
		name string
		do   func(p *browser.Page, a contract.Published)
	}{
		{"deletion", func(_ *browser.Page, a contract.Published) { harness.DeleteArtifact(t, e.agent, a.ArtifactID) }},
		{"an operator", func(_ *browser.Page, a contract.Published) {
			harness.Lock(t, op, "artifact", string(a.ArtifactID))
		}},
		{"signing out", func(p *browser.Page, _ contract.Published) {
			browser.Eval[int](&p.Document, `fetch("/api/auth/sign-out", {
				method: "POST", body: new URLSearchParams(), redirect: "manual" }).then(a => a.status)`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := e.publish(t, contract.Published{}, "Tides", c.name)
			p := e.private(t, "/v/"+string(a.ArtifactID))
			wantClosed(t, p, paused(p, func() { c.do(p, a) }), memberGone)
			p.Clean()
		})
	}
}
