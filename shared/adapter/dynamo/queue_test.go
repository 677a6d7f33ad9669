package dynamo

import (
	"slices"
	"testing"
	"time"

	"vitrine/shared/adapter/chaos"
	"vitrine/shared/entry/claim"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
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

// TestWhatHasNoEndIsDueForItsDraftsAlone follows an artifact without an end through all changes of what is due.
func TestWhatHasNoEndIsDueForItsDraftsAlone(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	first := draft(t, s, w, k, "")
	publish := func(r artifact.Revision, number int) {
		p := publication(k, r, number)
		p.ExpiresAt = limits.Never
		noError(t, s.Artifacts.Publish(ctx, p))
	}
	publish(first, 1)
	wantDue := func(what string, want bool) {
		t.Helper()
		i := must(s.get(ctx, artifactKey(first.Artifact)))(t)
		if got := i.getStr("g2p") != "" && i.getStr("g2s") != ""; got != want || (i.getStr("g2p") != "") != want || i["ttl"] != nil {
			t.Errorf("%s: it is due at %q in %q, want due: %t, and no ttl", what, i.getStr("g2s"), i.getStr("g2p"), want)
		}
		if got := i.getTime("exp"); !got.Equal(limits.Never) {
			t.Errorf("%s: it ends at %s", what, got)
		}
	}
	wantDue("published", false)
	if due, err := s.Queue.DueArtifacts(ctx, limits.Never.AddDate(1, 0, 0), 100); err != nil || len(due) != 0 {
		t.Errorf("due after all time: %+v, %v", due, err)
	}
	second := draft(t, s, w, k, first.Artifact)
	wantDue("with a draft", true)
	at := now().Add(limits.DraftLife)
	due := must(s.Queue.DueArtifacts(ctx, at.Add(time.Second), 100))(t)
	if len(due) != 1 {
		t.Fatalf("%d are due with the draft", len(due))
	}
	noError(t, s.Queue.RescheduleArtifact(ctx, due[0]))
	wantDue("rescheduled", true)
	noError(t, s.Queue.Discard(ctx, due[0], at, record(w.ID, at)))
	wantDue("without its draft", false)
	if second.ID == first.ID {
		t.Error("the draft is the first revision")
	}
	due[0].Artifact.Draft = ""
	due[0].Version = must(s.get(ctx, artifactKey(first.Artifact)))(t).getNum("ver")
	noError(t, s.Queue.RescheduleArtifact(ctx, due[0]))
	wantDue("rescheduled without a draft", false)
	publish(draft(t, s, w, k, first.Artifact), 2)
	wantDue("published again", false)
}

func TestAClaimThatTakesTheEndAwayTakesItOutOfTheQueue(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	noError(t, s.Artifacts.Publish(ctx, publication(k, r, 1)))
	a := must(s.Artifacts.Artifact(ctx, r.Artifact))(t)
	moved := *a
	moved.Owner, moved.ClaimedFrom, moved.ExpiresAt = id.NewWorkspace(), w.ID, limits.Never
	noError(t, s.Claims.MoveArtifact(ctx, moved))
	i := must(s.get(ctx, artifactKey(r.Artifact)))(t)
	if i.getStr("own") != string(moved.Owner) || i.getStr("g2p") != "" || i.getStr("g2s") != "" {
		t.Errorf("it belongs to %s and is due at %q in %q", i.getStr("own"), i.getStr("g2s"), i.getStr("g2p"))
	}
}
