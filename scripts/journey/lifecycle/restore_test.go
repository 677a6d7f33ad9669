package lifecycle

import (
	"sync"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// restorer is a member with an artifact of two revisions.
type restorer struct {
	*harness.JobEnv
	*harness.Claimant
	first, now contract.Published
}

func newRestorer(t testing.TB) *restorer {
	t.Helper()
	s := harness.NewJobEnv(t, harness.Unlimited)
	r := &restorer{JobEnv: s, Claimant: s.NewClaimant(t)}
	r.first = harness.Must(r.PublishFiles(ctx, "First title", "", harness.Page("one"), wire.File{
		Path: "only-then.txt",
		Body: []byte("once"),
	}))(t)
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
	return harness.Call[contract.RevisionList](
		t, r.Agent, 200, "GET", "/v1/artifacts/"+string(r.first.ArtifactID)+"/revisions", nil,
	).Items
}

// wantRefused checks why a revision is not restored.
func (r *restorer) wantRefused(t testing.TB, revision id.Revision, code fault.Code) {
	t.Helper()
	if _, err := r.restore(revision, wire.NewKey()); fault.CodeOf(err) != code {
		t.Errorf("restoring %s says %v, want %s", revision, err, code)
	}
}

func TestAnOlderRevisionIsRestoredAsANewOne(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	before, name := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t), wire.NewKey()
	third := harness.Must(r.restore(r.first.RevisionID, name))(t)
	if again := harness.Must(r.restore(r.first.RevisionID, name))(t); again != third {
		t.Errorf("the same command makes %s and %s", third, again)
	}
	list := r.revisions(t)
	if len(list) != 3 || *list[0].RevisionNumber != 3 || list[0].Status != "published" || list[0].FileCount != 2 ||
		list[0].RevisionID != third {
		t.Fatalf("the revisions are %+v", list)
	}
	view := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t)
	if view.RevisionID != third || view.Title != "Second title" || len(view.Files) != 2 ||
		!view.ExpiresAt.Equal(before.ExpiresAt.Time) {
		t.Errorf("shown is %+v", view)
	}
	for _, f := range view.Files {
		if a := harness.Must(r.Anyone.Do(ctx, "GET", f.URL, nil))(t); a.Status != 200 {
			t.Errorf("%s answers %d", f.Path, a.Status)
		}
	}
	// What follows builds on it as on any other, and a restored revision is restored again.
	harness.Must(r.PublishFiles(ctx, "Third title", r.first.ArtifactID, harness.Page("three")))(t)
	fifth := harness.Must(r.restore(third, wire.NewKey()))(t)
	now := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t)
	if now.RevisionID != fifth || now.Title != "Third title" || len(now.Files) != 2 {
		t.Errorf("shown is %+v", now)
	}
	if same := harness.Must(r.restore(fifth, wire.NewKey()))(t); same != fifth || len(r.revisions(t)) != 5 {
		t.Errorf("restoring the newest makes %s, %d revisions", same, len(r.revisions(t)))
	}
	r.CheckInvariants(t)
}

func TestARestoredRevisionRefersToWhatItBorrows(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	lender := publishWithLogo(t, r.JobEnv, r.Agent, "lends")
	r.first = finish(t, r.Agent, borrowLogo(t, r.JobEnv, r.Agent, "", "borrows"))
	harness.Must(r.PublishFiles(ctx, "x", r.first.ArtifactID, harness.Page("without")))(t)
	harness.Must(r.restore(r.first.RevisionID, wire.NewKey()))(t)
	deleteArtifact(t, r.Agent, lender.ArtifactID)
	r.RunCollector(t)
	view := harness.Must(r.AgentView(ctx, r.first.ArtifactID))(t)
	wantLogo(t, r.JobEnv, contract.Published{RevisionContentURL: view.RevisionContentURL})
	deleteArtifact(t, r.Agent, r.first.ArtifactID)
	deleteArtifact(t, r.Agent, r.now.ArtifactID)
	r.RunCollector(t)
	if left := objectsOf(t, r.JobEnv, r.Agent); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestARestorationAndADeletionAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := r.restore(r.first.RevisionID, wire.NewKey()); err != nil && fault.CodeOf(err) != fault.ArtifactNotFound {
			t.Error(err)
		}
	})
	all.Go(func() {
		if a := harness.TryDelete(t, r.Agent, r.first.ArtifactID); a.Status != 200 {
			t.Errorf("deleting answers %d %s", a.Status, a.Body)
		}
	})
	all.Wait()
	r.CheckInvariants(t)
	r.wantRefused(t, r.first.RevisionID, fault.ArtifactNotFound)
	r.RunCollector(t)
	if left := objectsOf(t, r.JobEnv, r.Agent); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestALostAnswerToARestorationIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRestorer(t)
	name := wire.NewKey()
	r.JobFaults.On("TransactWriteItems").Always().After(chaos.Timeout)
	if made, err := r.restore(r.first.RevisionID, name); err == nil {
		t.Errorf("a lost answer says %s", made)
	}
	r.JobFaults.Clear()
	again := harness.Must(r.restore(r.first.RevisionID, name))(t)
	if list := r.revisions(t); len(list) != 3 || list[0].RevisionID != again {
		t.Errorf("asked again it says %s of %+v", again, list)
	}
	r.CheckInvariants(t)
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
