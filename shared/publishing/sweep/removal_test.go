package sweep

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// fakeRemovals has one removal. What each stage finds is in left, by its name; a stage without a list finds nothing.
type fakeRemovals struct {
	due       Removal
	since     time.Time
	cancelled bool
	left      map[string][]Left
	fails     error // of members

	calls       []string
	notes       []time.Time
	rescheduled []time.Time
	finished    []event.Event
}

func (f *fakeRemovals) DueRemovals(context.Context, time.Time, int) ([]Removal, error) {
	return []Removal{f.due}, nil
}

func (f *fakeRemovals) Begin(context.Context, id.Workspace, time.Time) (time.Time, bool, error) {
	return f.since, !f.cancelled, nil
}

func (f *fakeRemovals) Note(_ context.Context, _ id.Workspace, clear time.Time) error {
	f.notes = append(f.notes, clear)
	return nil
}

func (f *fakeRemovals) Finish(_ context.Context, _ id.Workspace, e event.Event) error {
	f.finished = append(f.finished, e)
	return nil
}

func (f *fakeRemovals) Reschedule(_ context.Context, _ QueueItem, until time.Time, _ int) error {
	f.rescheduled = append(f.rescheduled, until)
	return nil
}

func (f *fakeRemovals) stage(name string) (Left, error) {
	f.calls = append(f.calls, name)
	if name == "members" && f.fails != nil {
		return Nothing, f.fails
	}
	if all := f.left[name]; len(all) > 0 {
		f.left[name] = all[1:]
		return all[0], nil
	}
	return Nothing, nil
}

func (f *fakeRemovals) RemoveAccount(context.Context, Removal, time.Time) (Left, error) {
	return f.stage("account")
}
func (f *fakeRemovals) RemoveMembers(context.Context, Removal) (Left, error) {
	return f.stage("members")
}
func (f *fakeRemovals) RemoveCredentials(context.Context, Removal) (Left, error) {
	return f.stage("credentials")
}
func (f *fakeRemovals) EndArtifacts(context.Context, Removal, time.Time) (Left, error) {
	return f.stage("live")
}
func (f *fakeRemovals) RemoveArtifacts(context.Context, Removal) (Left, error) {
	return f.stage("artifacts")
}
func (f *fakeRemovals) RemoveRecorded(context.Context, Removal) (Left, error) {
	return f.stage("recorded")
}
func (f *fakeRemovals) RemoveRest(context.Context, Removal) (Left, error) { return f.stage("rest") }
func (f *fakeRemovals) DeleteHome(_ context.Context, home id.Workspace) (bool, error) {
	left, err := f.stage("objects of " + string(home))
	return left == More, err
}

var removalNow = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

func newRemover() (*Remover, *fakeRemovals) {
	f := &fakeRemovals{
		due:   Removal{Workspace: "w", Homes: []id.Workspace{"claimed", "w"}},
		since: removalNow.Add(-time.Hour),
		left:  map[string][]Left{},
	}
	clock := func() time.Time { return removalNow }
	return &Remover{
		Store:   f,
		People:  f,
		Content: f,
		Objects: f,
		Now:     clock,
		Watch:   clock,
	}, f
}

func TestARemovalEndsAfterTwoPassesThatFindNothing(t *testing.T) {
	s, f := newRemover()
	if _, err := s.Due(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"account", "members", "credentials", "live", "artifacts", "recorded", "objects of claimed", "objects of w", "rest"}
	if !slices.Equal(f.calls, want) || !slices.Equal(f.notes, []time.Time{removalNow}) ||
		!slices.Equal(f.rescheduled, []time.Time{removalNow.Add(removalRecheck)}) || len(f.finished) > 0 {
		t.Fatalf("the first: %v, noted %v, again at %v, finished %v", f.calls, f.notes, f.rescheduled, f.finished)
	}
	f.due.Clear = removalNow
	if _, err := s.Due(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(f.finished) != 1 || f.finished[0].Action != event.DeletionDone || f.finished[0].Actor != event.BySystem() {
		t.Errorf("the second finished %+v", f.finished)
	}
}

func TestAPassGoesOnWaitsOrBeginsAnew(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*fakeRemovals)
		calls int // of stages; the last one is
		last  string
		again time.Duration
		note  bool // that it found something
	}{
		"some is removed": {
			func(f *fakeRemovals) { f.left["members"] = []Left{More, More} }, 4, "members", 0, false,
		},
		"something is found after all": {
			func(f *fakeRemovals) { f.due.Clear, f.left["live"] = removalNow, []Left{More} }, 5, "live", 0, true,
		},
		"the rest has more": {
			func(f *fakeRemovals) { f.left["rest"] = []Left{More} }, 9, "rest", 0, false,
		},
		"another job has to end first": {
			func(f *fakeRemovals) { f.left["artifacts"] = []Left{Later} }, 5, "artifacts", limits.RemovalWait, false,
		},
		"the subscription holds up the end alone": {
			func(f *fakeRemovals) { f.left["account"] = []Left{Later} }, 8, "objects of w", limits.RemovalWait, false,
		},
		"it began just now": {
			func(f *fakeRemovals) { f.since = removalNow }, 0, "", removalRecheck, false,
		},
		"it fails": {
			func(f *fakeRemovals) { f.fails = errors.New("down") }, 2, "members", limits.MinRetry, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, f := newRemover()
			c.set(f)
			_, err := s.Due(t.Context())
			if (err != nil) != (f.fails != nil) {
				t.Fatal(err)
			}
			if len(f.calls) != c.calls || c.last != "" && f.calls[len(f.calls)-1] != c.last {
				t.Errorf("the stages are %v", f.calls)
			}
			if !slices.Equal(f.rescheduled, []time.Time{removalNow.Add(c.again)}) || len(f.finished) > 0 {
				t.Errorf("again at %v, finished %v", f.rescheduled, f.finished)
			}
			if noted := len(f.notes) == 1 && f.notes[0].IsZero(); noted != c.note {
				t.Errorf("noted %v", f.notes)
			}
		})
	}
}

func TestARemovalThatWasCancelledTouchesNothing(t *testing.T) {
	s, f := newRemover()
	f.cancelled = true
	if _, err := s.Due(t.Context()); err != nil || len(f.calls)+len(f.rescheduled)+len(f.finished) > 0 {
		t.Errorf("%v, %v, %v, %v", err, f.calls, f.rescheduled, f.finished)
	}
}
