package budget

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// TestAPollOfAnOpenPageStaysWithinItsBudget polls as open pages do. Where nothing changed a poll is one read of a copy,
// and a permit now and then. What looks like a change is read again, strongly.
func TestAPollOfAnOpenPageStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	w := p.SignedIn(t, "ada@example.org")
	l.owner = l.NewAgent(t)
	shown := harness.PublishPage(t, l.owner, "polled")
	link := harness.CreateLink(t, l.owner, shown.ArtifactID, harness.ShareLink)
	public, blob, err := wire.SplitLink(harness.MintLink(t, l.owner, link.ID))
	harness.NoError(t, err)
	poll := func(status int, r id.Revision) func() {
		return l.sends(t, l.Anyone, status, "POST", l.Origins.App+"/api/live/access-links/"+string(public),
			map[string]any{"blob": blob, "revision_id": r})
	}
	l.wantWithin(t, "poll of a link, first", budget{2, 2, 1.5, 1}, poll(204, shown.RevisionID))
	l.wantWithin(t, "poll of a link", budget{1, 1, 1.5, 0}, poll(204, shown.RevisionID))
	newer, err := l.owner.PublishFiles(ctx, "polled", shown.ArtifactID, harness.Page("newer"))
	harness.NoError(t, err)
	// The copy, the state, and the revision with its files, which stays in memory.
	l.wantWithin(t, "poll of a link, a newer revision", budget{3, 3, 5.5, 0}, poll(200, shown.RevisionID))
	poll(204, newer.RevisionID)()
	harness.RevokeLink(t, l.owner, link.ID)
	l.wantWithin(t, "poll of a link, closed", budget{3, 3, 4.5, 1}, poll(404, newer.RevisionID))

	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	key := harness.CreatedKey(t, harness.TryCreateKey(t, who, "K", wire.NewKey()))
	mine := harness.PublishPage(t, p.WithBearer(key.Secret), "mine")
	path := "/api/live/artifacts/" + string(mine.ArtifactID) + "?revision_id=" + string(mine.RevisionID)
	member := func() {
		if a := w.Get(t, path); a.Status != 204 {
			t.Fatalf("the poll answers %d %s", a.Status, a.Body)
		}
	}
	// Session, member with workspace, then the same copy without a link.
	l.wantWithin(t, "poll of a member, first", budget{4, 4, 4, 1}, member)
	l.wantWithin(t, "poll of a member", budget{3, 3, 4, 0}, member)
}
