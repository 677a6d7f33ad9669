package publish

import (
	"fmt"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestAnArtifactHasAHundredRevisionsAndNotOneMore(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	made := harness.PublishPage(t, g, "revision 1")
	all := []contract.Published{made}
	publish := func(n int) {
		all = append(
			all, harness.Must(g.PublishFiles(ctx, "T", made.ArtifactID, harness.Page(fmt.Sprint("revision ", n))))(t),
		)
	}
	for n := 2; n <= 99; n++ {
		publish(n)
	}
	next := wire.Declare("T", harness.Page("revision 101"))
	next.ArtifactID = made.ArtifactID
	late := harness.Must(g.Create(ctx, wire.NewKey(), next))(t) // while there is room
	harness.Must(g.Put(ctx, late.Files[0], harness.Page("revision 101").Body))(t)
	publish(100)
	list := harness.Call[contract.RevisionList](
		t, g, 200, "GET", "/v1/artifacts/"+string(made.ArtifactID)+"/revisions", nil,
	)
	for i, r := range list.Items {
		want := len(list.Items) - i
		if r.RevisionNumber == nil || *r.RevisionNumber != want || r.RevisionID != all[want-1].RevisionID ||
			r.Status != "published" {
			t.Errorf("entry %d is %+v", i, r)
		}
	}
	if len(list.Items) != 100 {
		t.Errorf("%d revisions are listed", len(list.Items))
	}
	harness.WantRefused(t, harness.TryCreate(t, g, wire.NewKey(), next), 429, fault.RevisionCeilingExceeded)
	draft := harness.Must(g.Finalize(ctx, wire.NewKey(), late.UploadSessionID))(t)
	harness.WantRefused(
		t,
		harness.TryPublish(t, g, wire.NewKey(), made.ArtifactID, draft.RevisionID, nil),
		429,
		fault.RevisionCeilingExceeded,
	)
	for _, n := range []int{1, 50, 100} {
		p.WantContent(t, all[n-1].RevisionContentURL, harness.Page(fmt.Sprint("revision ", n)).Body)
	}
	if now := harness.Must(g.AgentView(ctx, made.ArtifactID))(t); now.RevisionID != all[99].RevisionID {
		t.Errorf("the newest revision is %s", now.RevisionID)
	}
}
