//go:build engines

package engines

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

// TestAppsRunAtTheirOwnOrigin goes through an app: what it stores, its states, forms and pages that we make.
func TestAppsRunAtTheirOwnOrigin(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		app := append(files(t, "testdata/app"), wire.File{Path: "docs/notes.md", Body: []byte("# Notes\n")},
			wire.File{Path: "search.html", Body: []byte(`<!doctype html><title>Found</title><p>found</p>`)})
		made := harness.Must(d.Agent.PublishFiles(ctx, "Ports", "", app...))(t)
		l := harness.CreateLink(t, d.Agent, made.ArtifactID, harness.ShareLink)
		s.Go(harness.MintLink(t, d.Agent, l.ID))
		s.WaitInFrame(`window.visits === 1 && window.kept === 1 && window.cached`)
		s.WaitInFrame(`!navigator.serviceWorker || window.service === "refused"`)
		if root := value[bool](s, "window.root === 7.1"); root != (s.name != "webkit") {
			t.Errorf("it is %t that a fetch from the root works", root)
		}

		// A state changes the path, and reloading the frame asks for that path.
		s.WaitInFrame(`(history.pushState({ n: 1 }, "", "search.html?q=ebb"), location.pathname.endsWith("/search.html"))`)
		s.Wait(`location.search === "?at=search.html%3Fq%3Debb"`)
		s.WaitInFrame(`(history.back(), true)`)
		s.WaitInFrame(`!location.pathname.endsWith("/search.html") && history.state === null`)
		s.WaitInFrame(`(history.forward(), true)`)
		s.WaitInFrame(`history.state?.n === 1`)
		s.WaitInFrame(`(location.reload(), true)`)
		s.WaitInFrame(`document.title === "Found" && location.search === "?q=ebb"`)
		s.Screenshot("engine-own-state")

		// Another artifact in the same browser has nothing of this one.
		s.Go(share(t, d, "Other", files(t, "testdata/app")...))
		s.WaitInFrame(`window.visits === 1 && window.kept === 1`)

		s.Go(harness.MintLink(t, d.Agent, l.ID))
		s.WaitInFrame(`window.visits === 2 && window.kept === 2`)
		s.WaitInFrame(`(location.href = "docs/notes.md", true)`)
		s.WaitInFrame(`document.body.innerText.includes("Notes")`)
		s.Screenshot("engine-own-notes")
	}, ownOrigins)
}

// TestARevocationClosesAnOwnOrigin revokes the link of an app that is open, which asks for a file again and again.
func TestARevocationClosesAnOwnOrigin(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		made := harness.Must(d.Agent.PublishFiles(ctx, "Ports", "", files(t, "testdata/app")...))(t)
		l := harness.CreateLink(t, d.Agent, made.ArtifactID, harness.ShareLink)
		s.Go(harness.MintLink(t, d.Agent, l.ID))
		s.WaitInFrame(`window.visits === 1 && window.kept === 1`)
		ask := `(fetch("data.json").then(r => (window.answered = r.status)), window.answered)`
		s.WaitInFrame(ask + " === 200")
		harness.RevokeLink(t, d.Agent, l.ID)
		s.WaitInFrame(ask + " === 404")
		s.Go(harness.ShareURL(t, d.Agent, made.ArtifactID))
		// What WebKit is led to has no cookie that could be refused, so that nothing is cleared.
		s.WaitInFrame(map[string]string{"firefox": "window.visits === 1", "webkit": "window.visits === 2"}[s.name])
	}, ownOrigins)
}
