package sweep

import (
	"slices"
	"testing"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

func newSweeper(f *fakeStore) *Sweeper {
	return &Sweeper{
		Store:    f,
		Sessions: f,
		Objects:  f,
		Now:      clock,
	}
}

func TestAnArtifactIsExpiredOrItsDraftDiscardedWhenItsTimeComes(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*artifact.Artifact)
		want string
	}{
		"one that ends now is expired": {func(a *artifact.Artifact) { a.ExpiresAt = start }, "Expire"},
		"one that ended before is expired": {
			func(a *artifact.Artifact) { a.ExpiresAt = start.Add(-time.Hour) }, "Expire",
		},
		"one that ends in a moment is rescheduled": {
			func(a *artifact.Artifact) { a.ExpiresAt = start.Add(1) }, "RescheduleArtifact",
		},
		"a pinned one past its end is rescheduled": {
			func(a *artifact.Artifact) { a.ExpiresAt, a.PinnedAt = start, start }, "RescheduleArtifact",
		},
		"one that is deleted is left alone": {
			func(a *artifact.Artifact) { a.Status, a.ExpiresAt = artifact.Deleted, start }, "",
		},
		"one that is expired is left alone": {
			func(a *artifact.Artifact) { a.Status, a.ExpiresAt = artifact.Expired, start }, "",
		},
		"one without an end is rescheduled": {
			func(a *artifact.Artifact) { a.ExpiresAt = limits.Never }, "RescheduleArtifact",
		},
		"an old draft of one without an end is discarded": {
			func(a *artifact.Artifact) {
				a.Draft, a.DraftAt, a.ExpiresAt = "rev", start.Add(-limits.DraftLife), limits.Never
			}, "Discard",
		},
		"a draft of a day is discarded": {
			func(a *artifact.Artifact) { a.Draft, a.DraftAt = "rev", start.Add(-limits.DraftLife) }, "Discard",
		},
		"a draft of nearly a day is rescheduled": {
			func(a *artifact.Artifact) { a.Draft, a.DraftAt = "rev", start.Add(1-limits.DraftLife) }, "RescheduleArtifact",
		},
		"an old draft of a pinned one is discarded": {
			func(a *artifact.Artifact) { a.Draft, a.PinnedAt, a.ExpiresAt = "rev", start, start }, "Discard",
		},
		"an end comes before a draft": {
			func(a *artifact.Artifact) { a.Draft, a.ExpiresAt = "rev", start }, "Expire",
		},
		"one of which nothing is due is rescheduled": {func(*artifact.Artifact) {}, "RescheduleArtifact"},
	} {
		t.Run(name, func(t *testing.T) {
			a := artifact.Artifact{
				ID:        "art",
				Owner:     "ws",
				Title:     "T",
				Status:    artifact.Live,
				ExpiresAt: start.Add(time.Hour),
			}
			c.set(&a)
			f := newStore()
			f.dueArtifacts = []Artifact{{Artifact: a}}
			r, err := newSweeper(f).DueArtifacts(t.Context())
			if err != nil || r.Due != 1 || len(f.rescheduled) != 0 {
				t.Errorf("%+v, %v, want one row and no failure", r, err)
			}
			if want := []string{c.want}; c.want != "" && !slices.Equal(f.calls, want) || c.want == "" && len(f.calls) != 0 {
				t.Errorf("%v, want %q", f.calls, c.want)
			}
		})
	}
}

func TestWhatFallsDueIsRecordedAsTheSystems(t *testing.T) {
	f := newStore()
	ended := artifact.Artifact{
		ID:        "art",
		Owner:     "ws",
		Title:     "T",
		Status:    artifact.Live,
		ExpiresAt: start,
	}
	draft := ended
	draft.ExpiresAt = start.Add(time.Hour)
	draft.Draft = "rev"
	for _, a := range []artifact.Artifact{ended, draft} {
		f.dueArtifacts = []Artifact{{Artifact: a}}
		if _, err := newSweeper(f).DueArtifacts(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range []event.Event{
		{Action: event.ArtifactExpired, Target: event.Target{Type: event.OnArtifact, ID: "art"}},
		{Action: event.RevisionRetained, Target: event.Target{Type: event.OnRevision, ID: "rev"}},
	} {
		got := f.events[n]
		if got.Action != want.Action || got.Target != want.Target || got.Actor != event.BySystem() {
			t.Errorf("%+v, want %+v", got, want)
		}
		if got.Workspace != "ws" || got.Detail != "T" || !got.At.Equal(start) {
			t.Errorf("%+v, want T at the start", got)
		}
	}
}

func dueSession(diffs bool) []Session {
	s := upload.Session{ID: "ups", Home: "ws", Diffs: diffs}
	return []Session{{Session: s, QueueItem: QueueItem{Key: "key", Due: start}}}
}

func TestAnAbandonedSessionIsEndedBeforeItsObjectsAreDeleted(t *testing.T) {
	f := newStore()
	f.dueSessions = dueSession(false)
	_, err := newSweeper(f).DueSessions(t.Context())
	if want := []string{"EndSession", "DeleteSession", "ForgetSession"}; err != nil || !slices.Equal(f.calls, want) {
		t.Errorf("%v, %v", f.calls, err)
	}
}

func TestASessionThatIsFinalizedMeanwhileKeepsItsObjects(t *testing.T) {
	f := newStore()
	f.dueSessions, f.finalized = dueSession(false), true
	_, err := newSweeper(f).DueSessions(t.Context())
	if err != nil || !slices.Equal(f.calls, []string{"EndSession"}) {
		t.Errorf("%v, %v", f.calls, err)
	}
}

func TestTheEndOfASessionMayDieAnywhere(t *testing.T) {
	wantRepeatable(t, "key", func() (*fakeStore, func() error) {
		f := newStore()
		f.dueSessions = dueSession(false)
		return f, func() error { _, err := newSweeper(f).DueSessions(t.Context()); return err }
	})
}

// newIndexer has a session with two files of one content and a third of another.
func newIndexer(diffs bool) (*Indexer, *fakeStore) {
	f := newStore()
	f.dueSessions = dueSession(diffs)
	f.dueSessions[0].Status = upload.Finalized
	same := tree.DigestOf("same")
	f.brought = tree.Tree{
		{Path: "a", Size: 4, SHA256: same},
		{Path: "b", Size: 4, SHA256: same},
		{Path: "c", Size: 5, SHA256: tree.DigestOf("other")},
	}
	return &Indexer{
		Store: f,
		Queue: f,
		Diffs: f,
		Now:   clock,
	}, f
}

func TestASessionThatIsNotFinalizedWaitsForItsEnd(t *testing.T) {
	for _, status := range []upload.Status{upload.Pending, upload.Expired} {
		h, f := newIndexer(false)
		f.dueSessions[0].Status = status
		if _, err := h.Due(t.Context()); err != nil || !slices.Equal(f.calls, []string{"AwaitEnd"}) {
			t.Errorf("%s: %v, %v", status, f.calls, err)
		}
	}
}

func TestAFinalizedSessionIsIndexedOnceForEachContent(t *testing.T) {
	for name, c := range map[string]struct {
		diffs bool
		want  []string
	}{
		"one without diffs": {false, []string{"NewObjects", "Add", "Add", "ForgetSession"}},
		"one with diffs, which go": {
			true, []string{"NewObjects", "Add", "Add", "DeleteDiffs", "ForgetSession"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, f := newIndexer(c.diffs)
			if _, err := h.Due(t.Context()); err != nil || !slices.Equal(f.calls, c.want) {
				t.Errorf("%v, %v", f.calls, err)
			}
		})
	}
}

func TestIndexingMayDieAnywhere(t *testing.T) {
	wantRepeatable(t, "key", func() (*fakeStore, func() error) {
		h, f := newIndexer(true)
		return f, func() error { _, err := h.Due(t.Context()); return err }
	})
}

func TestAFailureIsRetriedAfterAGrowingDelay(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0:    limits.MinRetry,
		1:    2 * limits.MinRetry,
		5:    32 * limits.MinRetry,
		6:    limits.MaxRetry,
		1000: limits.MaxRetry,
	} {
		f := newStore()
		f.dueSessions = dueSession(false)
		f.dueSessions[0].Failures = failures
		f.failAt = 1
		if _, err := newSweeper(f).DueSessions(t.Context()); err == nil {
			t.Error("the failure is not reported")
		}
		if got := f.rescheduled["key"]; !got.until.Equal(start.Add(want)) || got.failures != failures+1 {
			t.Errorf("after %d failures: %+v, want %s", failures, got, want)
		}
	}
}

func TestAnArtifactThatCannotBeEndedIsRetried(t *testing.T) {
	f := newStore()
	f.dueArtifacts = []Artifact{{
		Artifact:  artifact.Artifact{ID: "art", Status: artifact.Live, ExpiresAt: start},
		QueueItem: QueueItem{Key: "key", Due: start},
	}}
	f.failAt = 1
	if _, err := newSweeper(f).DueArtifacts(t.Context()); err == nil || len(f.events) != 0 {
		t.Errorf("%v, %d events", err, len(f.events))
	}
	if got := f.rescheduled["key"]; !got.until.Equal(start.Add(limits.MinRetry)) || got.failures != 1 {
		t.Errorf("%+v, want the first retry", got)
	}
	if _, err := newSweeper(f).DueArtifacts(t.Context()); err != nil || len(f.events) != 1 {
		t.Errorf("%v, %d events", err, len(f.events))
	}
}

// TestARoundThatOnePartOfTheQueueFillsSaysThatMoreMayBeDue holds at the share of one part, not at the whole batch.
func TestARoundThatOnePartOfTheQueueFillsSaysThatMoreMayBeDue(t *testing.T) {
	for due, more := range map[int]bool{fullShare - 1: false, fullShare: true, batchSize: true} {
		f := newStore()
		for range due {
			f.dueArtifacts = append(f.dueArtifacts, Artifact{Artifact: artifact.Artifact{ID: id.NewArtifact()}})
		}
		if r, err := newSweeper(f).DueArtifacts(t.Context()); err != nil || r.More != more {
			t.Errorf("%d due: %+v, %v", due, r, err)
		}
	}
}
