package origins

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

// status asks for a path in a document and returns the status with what the browser is told to clear.
const status = `fetch("/data.json").then(r => r.status + " " + (r.headers.get("Clear-Site-Data") ?? "nothing"))`

func TestAWebAppRunsAsItWasBuilt(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.publish(t, "", app...), e.publish(t, "", app...)
	p := browser.Open(t)
	l := harness.CreateLink(t, e.agent, first.ArtifactID, harness.ShareLink)
	url := harness.MintLink(t, e.agent, l.ID)
	p.Go(url)
	p.Frame(e.host(first.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
	p.Reload()
	p.Frame(e.host(first.ArtifactID)).WaitText("2 2 2 worker-json json refused /")

	p.Go(harness.ShareURL(t, e.agent, second.ArtifactID))
	p.Frame(e.host(second.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
	p.Go(url)
	d := p.Frame(e.host(first.ArtifactID))
	d.WaitText("3 3 3 worker-json json refused /")
	if got := browser.Eval[string](d, status); got != "200 nothing" {
		t.Errorf("before the revocation: %s", got)
	}
	harness.RevokeLink(t, e.agent, l.ID)
	if got := browser.Eval[string](d, status); got != `404 "cache", "storage"` {
		t.Errorf("after the revocation: %s", got)
	}
	if got := browser.Eval[string](d, status); got != "404 nothing" {
		t.Errorf("without the cookie: %s", got)
	}
	p.Go(harness.ShareURL(t, e.agent, first.ArtifactID))
	p.Frame(e.host(first.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
}
