package claim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// fakeMigrations holds one claimed workspace with what is left to move of it.
type fakeMigrations struct {
	source   *workspace.Workspace
	left     []artifact.Artifact
	links    int
	inbox    int       // entries
	behind   int       // passes in which the index still shows something that is moved
	since    time.Time // of passes that found nothing
	next     time.Time
	finished time.Time // until when the source's gate is kept; zero: not finished
	moved    []artifact.Artifact
	err      error
}

func (f *fakeMigrations) Due(context.Context, time.Time, int) ([]claim.DueMove, error) {
	if f.source == nil {
		return nil, nil
	}
	return []claim.DueMove{{Source: f.source.ID, Due: now.Add(-time.Minute)}}, nil
}

func (f *fakeMigrations) Remaining(
	context.Context, id.Workspace, int,
) (*workspace.Workspace, []artifact.Artifact, bool, error) {
	f.behind--
	return f.source, f.left, len(f.left) == 0 && f.behind < 0, f.err
}

func (f *fakeMigrations) MoveArtifact(_ context.Context, a artifact.Artifact) error {
	f.moved = append(f.moved, a)
	f.left = f.left[1:]
	return nil
}

func (f *fakeMigrations) MoveLinks(_ context.Context, _, _ id.Workspace, n int) (int, bool, error) {
	moved := min(n, f.links)
	f.links -= moved
	return moved, moved == 0, nil
}

func (f *fakeMigrations) MoveInbox(_ context.Context, _, _ id.Workspace, n int) (int, bool, error) {
	moved := min(n, f.inbox)
	f.inbox -= moved
	return moved, moved == 0, nil
}

func (f *fakeMigrations) Note(_ context.Context, _ id.Workspace, clear bool, at, next time.Time) (time.Time, bool, error) {
	f.next = next
	switch {
	case !clear:
		f.since = time.Time{}
	case f.since.IsZero():
		f.since = at
	}
	return f.since, true, nil
}

func (f *fakeMigrations) Finish(_ context.Context, _, _ id.Workspace, until time.Time) (bool, error) {
	f.finished = until
	return true, nil
}

func newFakeMigrations(artifacts, links int) *fakeMigrations {
	f := &fakeMigrations{
		source: &workspace.Workspace{ID: id.NewWorkspace(), ClaimedInto: id.NewWorkspace()},
		links:  links,
		inbox:  links,
	}
	for range artifacts {
		f.left = append(f.left, artifact.Artifact{ID: id.NewArtifact(), Owner: f.source.ID})
	}
	return f
}

// passes runs a migrator once for each of the instants, and tells what the last pass answered.
func passes(t *testing.T, f *fakeMigrations, after ...time.Duration) (done bool) {
	t.Helper()
	for _, d := range after {
		m := &claim.Migrator{Store: f, Now: func() time.Time { return now.Add(d) }}
		var err error
		if done, err = m.Run(t.Context(), f.source.ID); err != nil {
			t.Fatal(err)
		}
	}
	return done
}

func TestAMigrationMovesArtifactsThenLinks(t *testing.T) {
	f := newFakeMigrations(2, 3)
	if passes(t, f, 0) {
		t.Error("done with the links still there")
	}
	if len(f.moved) != 2 || f.links != 3 || f.inbox != 3 {
		t.Errorf("%d artifacts moved, %d links left", len(f.moved), f.links)
	}
	for _, a := range f.moved {
		if a.Owner != f.source.ClaimedInto || a.ClaimedFrom != f.source.ID {
			t.Errorf("moved to %+v", a)
		}
	}
	if passes(t, f, 0); f.links != 0 || f.inbox != 0 {
		t.Errorf("%d links and %d entries of the inbox left", f.links, f.inbox)
	}
}

func TestOnePassThatFindsNothingIsNotBelieved(t *testing.T) {
	f := newFakeMigrations(0, 0)
	if passes(t, f, 0, claim.Recheck-time.Millisecond) || !f.finished.IsZero() {
		t.Fatal("finished although the index may be behind")
	}
	if want := now.Add(2*claim.Recheck - time.Millisecond); !f.next.Equal(want) {
		t.Errorf("looked at again at %v, want %v", f.next, want)
	}
	if !passes(t, f, claim.Recheck) {
		t.Fatal("not finished after two passes that are far enough apart")
	}
	if want := now.Add(claim.Recheck + limits.MovedLife); !f.finished.Equal(want) {
		t.Errorf("the alias stays until %v, want %v", f.finished, want)
	}
}

func TestAnIndexThatShowsSomethingAgainStartsTheWaitAnew(t *testing.T) {
	f := newFakeMigrations(0, 0)
	f.behind = 2
	if passes(t, f, 0, claim.Recheck, 2*claim.Recheck) || !f.finished.IsZero() {
		t.Error("finished on a pass that was the first to find nothing")
	}
	if !passes(t, f, 3*claim.Recheck) {
		t.Error("not finished after two clear passes")
	}
}

func TestAWorkspaceThatWasNotClaimedHasNothingToMove(t *testing.T) {
	for name, source := range map[string]*workspace.Workspace{
		"gone":        nil,
		"not claimed": {ID: id.NewWorkspace()},
	} {
		f := newFakeMigrations(1, 1)
		m := &claim.Migrator{Store: f, Now: func() time.Time { return now }}
		f.source = source
		if done, err := m.Run(t.Context(), id.NewWorkspace()); !done || err != nil || len(f.moved) != 0 {
			t.Errorf("%s: done %t, %v, %d moved", name, done, err, len(f.moved))
		}
	}
}

func TestARoundTellsHowFarMigrationsAreBehind(t *testing.T) {
	f := newFakeMigrations(1, 0)
	m := &claim.Migrator{Store: f, Now: func() time.Time { return now }}
	round, err := m.Due(t.Context())
	if err != nil || round.Due != 1 || round.Oldest != time.Minute || !round.More {
		t.Errorf("%+v, %v, want one that waits for a minute, and more", round, err)
	}
	f.err = errors.New("down")
	if round, err = m.Due(t.Context()); err == nil || round.More {
		t.Errorf("%+v, %v, want an error and no more", round, err)
	}
	f.source = nil
	if round, err = m.Due(t.Context()); err != nil || round.Due != 0 {
		t.Errorf("with nothing due: %+v, %v", round, err)
	}
}

type brokenMigrations struct{ claim.Migrations }

func (brokenMigrations) Remaining(
	context.Context, id.Workspace, int,
) (*workspace.Workspace, []artifact.Artifact, bool, error) {
	panic("broken")
}

func TestAPanicOfAMigrationIsTheErrorOfTheRound(t *testing.T) {
	m := claim.Migrator{Store: brokenMigrations{newFakeMigrations(1, 0)}, Now: func() time.Time { return now }}
	if _, err := m.Due(t.Context()); async.StackOf(err) == nil {
		t.Error(err)
	}
}
