package dynamo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
)

// TestACopyOfTheStateIsReadAtHalfTheCost reads what a poll reads, before and after its link is revoked.
func TestACopyOfTheStateIsReadAtHalfTheCost(t *testing.T) {
	s := New(newClient(t, meter.Add), newStore(t).tables)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	p := publication(k, r, 1)
	p.Share = &artifact.Share{ID: id.NewLink(), Public: id.NewPublic()}
	noError(t, s.Artifacts.Publish(ctx, p))
	q := readaccess.Query{Workspace: w.ID, Artifact: r.Artifact, Link: p.Share.Public}
	read := func(open bool) {
		t.Helper()
		strong := must(s.Artifacts.ReadState(ctx, q))(t)
		ctx, counts := meter.With(t.Context())
		got, err := s.Artifacts.ReadStateCopy(ctx, q)
		if err != nil || !cmp.Equal(got, strong) || got.Allows(q, now()) != open {
			t.Errorf("%+v %v\nstrongly %+v", got, err, strong)
		}
		if counts.Calls() != 1 || counts.RRU() != 1.5 || counts.WRU() != 0 {
			t.Errorf("%d calls, %g RRU, %g WRU", counts.Calls(), counts.RRU(), counts.WRU())
		}
	}
	read(true)
	_, done, err := s.change(ctx, linkKey(q.Link), "SET #rev_at = :now", "", values{"now": time.Now()})
	if err != nil || !done {
		t.Fatal(err)
	}
	read(false)
	for _, gone := range []readaccess.Query{
		{Workspace: id.NewWorkspace(), Artifact: id.NewArtifact(), Link: id.NewPublic()},
		{Workspace: id.NewWorkspace(), Artifact: id.NewArtifact()},
	} {
		if got, err := s.Artifacts.ReadStateCopy(ctx, gone); err != nil || got != (readaccess.State{}) {
			t.Errorf("%+v %v, want nothing", got, err)
		}
	}
}
