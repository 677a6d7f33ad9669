package budget

import (
	"net/http"
	"net/url"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// TestThePageRestoresARevision sends the form of the page, and shows what it cost.
func TestThePageRestoresARevision(t *testing.T) {
	t.Parallel()
	l := newBudgetEnv(t)
	p := l.backend()
	w := p.SignedIn(t, "ada@example.org")
	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	agent := p.WithBearer(
		harness.CallAs[contract.CreatedKey](
			t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
		).Secret,
	)
	first := harness.Must(agent.PublishFiles(ctx, "First", "", tenFiles("one")...))(t)
	harness.Must(agent.PublishFiles(ctx, "Second", first.ArtifactID, harness.Page("two")))(t)
	at := "/artifacts/" + string(first.ArtifactID)
	form := at + "/revisions/" + string(first.RevisionID) + "/restore"
	harness.WantPage(t, "the page", w.Get(t, at), 200, `action="`+form+`"`)
	fields := url.Values{"once": {"page-" + wire.NewKey()}}
	// Session, member, counters, then the artifact with the revision, its files, and the transaction: record, artifact
	// with its index entry, the check of the source, a fence, the revision with its files, event.
	l.wantWithin(t, "page: restore", budget{7, 6, 6, 16}, func() {
		if a := w.Post(t, form, fields); a.Status != http.StatusSeeOther {
			t.Fatalf("restoring answers %d %s", a.Status, a.Body)
		}
	})
	view := harness.Must(agent.AgentView(ctx, first.ArtifactID))(t)
	if len(view.Files) != 10 || view.RevisionID == first.RevisionID || view.Title != "Second" {
		t.Errorf("shown is %+v", view)
	}
	if a := w.Post(t, form, fields); a.Status != http.StatusSeeOther {
		t.Errorf("the same form again answers %d %s", a.Status, a.Body)
	}
	stranger := p.SignedIn(t, "bob@example.org")
	harness.WantPage(
		t, "somebody else", stranger.Post(t, form, url.Values{"once": {"page-" + wire.NewKey()}}), 404, "Nothing was changed",
	)
}
