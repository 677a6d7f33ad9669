package lifecycle

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// restorer is a member with an artifact of two revisions. The first one borrows the logo of another artifact.
type restorer struct {
	*harness.JobEnv
	*harness.Claimant
	lender, first, now contract.Published
}

func newRestorer(t testing.TB) *restorer {
	t.Helper()
	s := harness.NewJobEnv(t, harness.Unlimited)
	r := &restorer{JobEnv: s, Claimant: s.NewClaimant(t)}
	r.lender = publishWithLogo(t, s, r.Agent, "lends")
	r.first = finish(t, r.Agent, borrowLogo(t, r.Agent, "", "one"))
	r.now = harness.Must(r.PublishFiles(ctx, "Second title", r.first.ArtifactID, harness.Page("two")))(t)
	return r
}

// restore publishes a revision of the artifact again, as a command with this name.
func (r *restorer) restore(revision id.Revision, name string) (id.Revision, error) {
	artifacts, _ := r.Services.Artifacts() // without the rings of jobs it signs nothing, and restoring signs nothing
	return artifacts.Restore(ctx, r.Actor, artifact.Target{
		RequestedID: r.first.ArtifactID,
		Command: idempotency.Command{
			Key: idempotency.Key{
				Actor:     r.Actor.Subject(),
				Operation: idempotency.RestoreRevision,
				Target:    string(r.first.ArtifactID+"/") + string(revision),
				Client:    name,
			},
			Fingerprint: idempotency.FingerprintOf("POST", "restore", nil),
		},
	}, revision)
}

func (r *restorer) revisions(t testing.TB) []contract.RevisionSummary {
	t.Helper()
	return r.page(t, "").Items
}

func (r *restorer) page(t testing.TB, query string) contract.RevisionList {
	t.Helper()
	path := "/v1/artifacts/" + string(r.first.ArtifactID) + "/revisions" + query
	return harness.Call[contract.RevisionList](t, r.Agent, 200, "GET", path, nil)
}

// wantPaged holds that pages of two revisions are the list.
func (r *restorer) wantPaged(t testing.TB) {
	t.Helper()
	var pages []contract.RevisionSummary
	for query := "?limit=2"; query != ""; {
		p := r.page(t, query)
		pages = append(pages, p.Items...)
		if query = ""; p.PageInfo.HasMore {
			query = "?limit=2&cursor=" + *p.PageInfo.NextCursor
		}
	}
	if diff := cmp.Diff(r.revisions(t), pages); diff != "" {
		t.Errorf("pages are another list (-list +pages):\n%s", diff)
	}
}

// TestAnOlderRevisionIsRestoredAsANewOne asks again after the answer was lost, and builds on what it restored.
func TestAnOlderRevisionIsRestoredAsANewOne(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	before, name := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t), wire.NewKey()
	r.JobFaults.On("TransactWriteItems").Always().After(chaos.Timeout)
	if made, err := r.restore(r.first.RevisionID, name); err == nil {
		t.Errorf("a lost answer says %s", made)
	}
	r.JobFaults.Clear()
	third := harness.Must(r.restore(r.first.RevisionID, name))(t)
	list := r.revisions(t)
	if len(list) != 3 || *list[0].RevisionNumber != 3 || list[0].Status != "published" || list[0].FileCount != 2 ||
		list[0].RevisionID != third {
		t.Fatalf("the revisions are %+v", list)
	}
	makeBundles(t, r.JobEnv)
	wantBundle(t, r.JobEnv, r.Agent, r.first.ArtifactID, harness.Page("one"), logo)
	view := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t)
	if view.RevisionID != third || view.Title != "Second title" || len(view.Files) != 2 ||
		!view.ExpiresAt.Equal(before.ExpiresAt.Time) {
		t.Errorf("shown is %+v", view)
	}
	// What follows builds on it as on any other, and a restored revision is restored again.
	harness.Must(r.PublishFiles(ctx, "Third title", r.first.ArtifactID, harness.Page("three")))(t)
	fifth := harness.Must(r.restore(third, wire.NewKey()))(t)
	if same := harness.Must(r.restore(fifth, wire.NewKey()))(t); same != fifth || len(r.revisions(t)) != 5 {
		t.Errorf("restoring the newest makes %s, %d revisions", same, len(r.revisions(t)))
	}
	r.wantPaged(t)
	deleteArtifacts(t, r.Agent, r.lender)
	for range 2 { // the references of the command that was repeated are there as long as what they refer to
		r.RunJobs(t)
		r.Clock.Advance(limits.CollectAfter)
	}
	now := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t)
	if now.RevisionID != fifth || now.Title != "Third title" || len(now.Files) != 2 {
		t.Errorf("shown is %+v", now)
	}
	wantLogo(t, r.JobEnv, contract.Published{RevisionContentURL: now.RevisionContentURL})
	deleteArtifacts(t, r.Agent, r.first)
	r.RunCollector(t)
	wantObjects(t, r.JobEnv, r.Agent, 0)
}

func TestARestorationAndADeletionAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	deleteArtifacts(t, r.Agent, r.lender)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.restore(r.first.RevisionID, wire.NewKey()); err != nil && fault.CodeOf(err) != fault.ArtifactNotFound {
			t.Error(err)
		}
	})
	all.Go(func() {
		harness.DeleteArtifact(t, r.Agent, r.first.ArtifactID)
	})
	all.Wait()
	r.CheckInvariants(t)
	if _, err := r.restore(r.first.RevisionID, wire.NewKey()); fault.CodeOf(err) != fault.ArtifactNotFound {
		t.Errorf("restoring what is deleted says %v", err)
	}
	r.RunCollector(t)
	wantObjects(t, r.JobEnv, r.Agent, 0)
}

func TestRestorationsAndPublicationsAtOnceAreNumberedInARow(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := r.restore(r.first.RevisionID, wire.NewKey())
			code := fault.CodeOf(err)
			if err != nil && code != fault.DraftRevisionConflict && code != fault.DatabaseUnavailable {
				t.Error(err)
			}
		})
	}
	all.Go(func() { r.PublishFiles(ctx, "At once", r.first.ArtifactID, harness.Page("at once")) })
	all.Wait()
	r.CheckInvariants(t) // numbered 1, 2, 3 …, and the last is current
}
