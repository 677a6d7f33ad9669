// Package live opens pages in a browser and changes what they show while they are open.
package live

import (
	"context"
	"fmt"
	"os"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// instruments make a page wait a twentieth of the time between polls, and count them. What a page would wait is in
// waits; away hides the page.
const instruments = `
window.polls = []
window.waits = []
const send = window.fetch, later = window.setTimeout
window.fetch = async (target, options) => {
	if (!String(target).startsWith("/api/live/")) return send(target, options)
	const poll = { status: 0 }
	polls.push(poll)
	const answer = await send(target, options)
	poll.status = answer.status
	return answer
}
window.setTimeout = (run, after, ...rest) => {
	if (after >= 3000) waits.push(after)
	return later(run, after >= 3000 && after < 15000 ? after / 20 : after, ...rest)
}
Object.defineProperty(document, "hidden", { get: () => window.away === true })`

// tall is a page as tall as several windows, with a mark.
func tall(mark string) wire.File {
	return wire.File{Path: "index.html", Body: fmt.Appendf(nil,
		`<!doctype html><meta charset="utf-8"><title>T</title><p>%s</p><div style="height:4000px"></div>`, mark)}
}

// env is a deployment with an agent of a member's workspace.
type env struct {
	*harness.FaultEnv
	agent *wire.Agent
	email string
	web   *harness.FakeBrowser // in which the member is signed in
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{FaultEnv: &harness.FaultEnv{BackendEnv: harness.NewAgentAuthEnv(t, harness.Unlimited)}, email: "ada@example.org"}
	e.web = e.SignedIn(t, e.email)
	who := e.WithBearer(e.web.CLIToken(t).AccessToken)
	key := harness.CallAs[contract.CreatedKey](
		t, &harness.Member{Agent: who}, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
	)
	e.agent = e.WithBearer(key.Secret)
	return e
}

// publish publishes a new artifact, or a revision of one.
func (e *env) publish(t *testing.T, of contract.Published, title, mark string) contract.Published {
	t.Helper()
	return harness.Must(e.agent.PublishFiles(ctx, title, of.ArtifactID, tall(mark)))(t)
}

// open opens a page with instruments.
func open(t *testing.T, target string) *browser.Page {
	t.Helper()
	p := browser.Open(t)
	p.Before(instruments)
	p.Go(target)
	return p
}

// share opens a fresh URL of a link.
func (e *env) share(
	t *testing.T, a contract.Published, r contract.CreateLink,
) (*browser.Page, contract.CreatedLink) {
	t.Helper()
	l := harness.CreateLink(t, e.agent, a.ArtifactID, r)
	p := open(t, harness.MintLink(t, e.agent, l.ID))
	p.Wait(`document.querySelector("iframe")?.clientHeight > 4000`)
	p.Wait(`polls[0]?.status === 204`)
	return p, l
}

// private opens a page of the member.
func (e *env) private(t *testing.T, path string) *browser.Page {
	t.Helper()
	p := open(t, e.Origins.App+path)
	p.SignIn(e.email)
	p.Wait(`document.querySelector("iframe")?.clientHeight > 4000`)
	p.Wait(`polls[0]?.status === 204`)
	return p
}

// begun is how many polls a page has begun.
func begun(p *browser.Page) int { return browser.Eval[int](&p.Document, "polls.length") }

// wantClosed waits until a page has closed, which has to happen with the first poll after before.
func wantClosed(t *testing.T, p *browser.Page, before int, heading string) {
	t.Helper()
	p.WaitText(heading)
	statuses := browser.Eval[[]int](&p.Document, "polls.map(poll => poll.status)")
	if after := statuses[before:]; len(after) != 1 || after[0] != 404 {
		t.Errorf("the polls after it was closed answer %v", after)
	}
	if browser.Eval[bool](&p.Document, `document.querySelector("iframe") !== null`) {
		t.Error("the frame is still there")
	}
	for _, chrome := range []string{".placard", ".drawer", ".strip"} {
		if p.Visible(chrome) {
			t.Errorf("%s still shows", chrome)
		}
	}
}
