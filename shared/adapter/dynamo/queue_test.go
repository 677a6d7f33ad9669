package dynamo

import (
	"slices"
	"testing"
	"time"

	"vitrine/shared/adapter/chaos"
	"vitrine/shared/entry/claim"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

func TestNoPartOfWhatIsDueTakesTheShareOfAnother(t *testing.T) {
	s := newStore(t)
	at := now()
	row := func(part int, due time.Time) id.Workspace {
		w := id.NewWorkspace()
		store(t, s, newItem(migrationKey(w)).str("g2p", queueShard(migrationDue, part)).str("g2s", millisKey(due)))
		return w
	}
	for n := range 20 {
		row(0, at.Add(-time.Duration(n+1)*time.Hour))
	}
	last, oldest := row(3, at), row(1, at.Add(-99*time.Hour))
	row(2, at.Add(time.Second)) // not due
	due, err := s.Claims.Due(ctx, at, 12)
	if err != nil || len(due) != 5 || due[0].Source != oldest || due[4].Source != last {
		t.Errorf("%v (%v), want the oldest first, three of the first part, and the last", due, err)
	}
	if slices.ContainsFunc(due, func(m claim.DueMove) bool { return m.Source == "" }) {
		t.Error("a move has no source")
	}
}

func TestAnArtifactIsDueAgainWhenItWasRescheduledTo(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	at := now().Add(1000 * time.Hour)
	due, err := s.Queue.DueArtifacts(ctx, at, 100)
	if err != nil || len(due) != 1 || due[0].ID != r.Artifact || due[0].Failures != 0 {
		t.Fatalf("%+v, %v, want the draft without failures", due, err)
	}
	noError(t, s.Queue.Reschedule(ctx, due[0].QueueItem, at.Add(time.Minute), 3))
	if due, err = s.Queue.DueArtifacts(ctx, at.Add(time.Minute-1), 100); err != nil || len(due) != 0 {
		t.Errorf("too soon: %+v, %v", due, err)
	}
	due, err = s.Queue.DueArtifacts(ctx, at.Add(time.Minute), 100)
	if err != nil || len(due) != 1 || due[0].ID != r.Artifact || due[0].Failures != 3 {
		t.Errorf("%+v, %v, want the draft with three failures", due, err)
	}
}

// TestFilesThatNoCopyHasAreReadStrongly finalizes a session after two copies told of no revision.
func TestFilesThatNoCopyHasAreReadStrongly(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	u, entries := openSession(t, s, w, k, "")
	f := finalization(t, s, k, u, entries)
	faults := chaos.For(t)
	reader := New(newClient(t, faults.Add), s.tables)
	faults.On("GetItem").Nth(2).After(chaos.Run(func() {
		if err := s.Uploads.Finalize(ctx, f); err != nil {
			t.Error(err)
		}
	}))
	files, err := reader.Artifacts.Tree(ctx, f.Artifact.ID, f.Revision.ID)
	wantSame(t, "the tree", files, f.Tree, err)
}

// TestADraftIsNotReadFromACopy publishes a draft after a copy told of it.
func TestADraftIsNotReadFromACopy(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	faults := chaos.For(t)
	reader := New(newClient(t, faults.Add), s.tables)
	faults.On("BatchGetItem").After(chaos.Run(func() {
		if err := s.Artifacts.Publish(ctx, publication(k, r, 1)); err != nil {
			t.Error(err)
		}
	}))
	c, err := reader.Artifacts.Contents(ctx, r.Artifact, r.ID)
	if err != nil || c == nil || c.Revision.Status != artifact.Published {
		t.Errorf("%+v, %v, want the published revision", c, err)
	}
}
