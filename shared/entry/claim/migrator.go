package claim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
)

// Migrations is what Migrator needs of the store.
type Migrations interface {
	// Due returns up to n moves that are due at an instant, the oldest first.
	Due(ctx context.Context, now time.Time, n int) ([]DueMove, error)
	// Note records what a pass found and when the next one is due. It returns since when passes find nothing, zero if
	// this one found something. open is false if the move is done.
	Note(ctx context.Context, source id.Workspace, clear bool, now, next time.Time) (since time.Time, open bool, err error)
	// Finish deletes what is left of a source but its gate, which is kept until an instant: credentials, and last the
	// alias and the move itself. done is false if there is more to delete.
	Finish(ctx context.Context, source, destination id.Workspace, until time.Time) (done bool, err error)
	ArtifactMigrations
	LinkMigrations
}

// DueMove is a claimed workspace whose artifacts are to be moved.
type DueMove struct {
	Source id.Workspace
	Due    time.Time
}

// ArtifactMigrations is what Migrator needs of the store for artifacts.
type ArtifactMigrations interface {
	// Remaining reads a source strongly, nil if there is none, and up to n of the artifacts that still say they are in it.
	// clear reports that the index shows none at all; it may be behind.
	Remaining(ctx context.Context, source id.Workspace, n int) (
		w *workspace.Workspace, left []artifact.Artifact, clear bool, err error)
	// MoveArtifact stores where an artifact is now. It changes nothing if the artifact does not say a.ClaimedFrom any more
	// or changed since it was read.
	MoveArtifact(ctx context.Context, a artifact.Artifact) error
}

// LinkMigrations is what Migrator needs of the store for access links.
type LinkMigrations interface {
	// MoveLinks gives up to n links of a source to its destination. clear tells that the index shows none at all; it may
	// be behind.
	MoveLinks(ctx context.Context, source, destination id.Workspace, n int) (moved int, clear bool, err error)
}

// How a migration goes.
const (
	step    = 50 // artifacts of one step, or links
	sources = 20 // sources of one round
)

// Recheck is how long the index may be behind: after the last artifact that was moved, the alias stays as long.
const Recheck = 5 * time.Second

// Migrator moves the artifacts of claimed workspaces. Readers do not wait for it; until it is done, reading costs them
// one item more. Every write is conditional on what was read, so a migrator may be killed at any line, start again, and
// run beside another one.
type Migrator struct {
	Store Migrations
	Now   func() time.Time
}

// Due does one step for each source that waits, some of them at once. Round.More tells that some could go on.
func (m *Migrator) Due(ctx context.Context) (sweep.Round, error) {
	now := m.Now()
	waiting, err := m.Store.Due(ctx, now, sources)
	if err != nil || len(waiting) == 0 {
		return sweep.Round{}, err
	}
	workers, _ := async.WithContext(ctx)
	workers.SetLimit(limits.JobWorkers)
	moved, failed := make([]bool, len(waiting)), make([]error, len(waiting))
	for n, w := range waiting {
		workers.Go(func() error {
			var err error
			if moved[n], _, err = m.step(ctx, w.Source); err != nil {
				failed[n] = fmt.Errorf("move what was claimed of workspace %s: %w", w.Source, err)
			}
			return nil
		})
	}
	failed = append(failed, workers.Wait()) // of a panic
	return sweep.Round{
		Due:    len(waiting),
		Oldest: max(0, now.Sub(waiting[0].Due)),
		More:   slices.Contains(moved, true),
	}, errors.Join(failed...)
}

// Run does one step for a source, whether it is due or not. done tells that nothing is left to do.
func (m *Migrator) Run(ctx context.Context, source id.Workspace) (done bool, err error) {
	_, done, err = m.step(ctx, source)
	return done, err
}

// step moves some artifacts, or finds that none is left. The index may be behind what was committed before the claim,
// so that only two passes in a row, some seconds apart, are believed.
func (m *Migrator) step(ctx context.Context, source id.Workspace) (moved, done bool, err error) {
	w, left, clear, err := m.Store.Remaining(ctx, source, step)
	if err != nil {
		return false, false, err
	}
	if w == nil || w.ClaimedInto == "" {
		return false, true, nil
	}
	for _, a := range left {
		if err := m.Store.MoveArtifact(ctx, *a.AfterClaimOf(*w)); err != nil {
			return false, false, err
		}
	}
	links, bare := 0, false
	if len(left) == 0 {
		if links, bare, err = m.Store.MoveLinks(ctx, source, w.ClaimedInto, step); err != nil {
			return false, false, err
		}
	}
	clear, moved = clear && bare, len(left)+links > 0
	now := m.Now()
	next := now
	if !moved {
		next = now.Add(Recheck)
	}
	since, open, err := m.Store.Note(ctx, source, clear, now, next)
	if err != nil || !open {
		return false, err == nil, err
	}
	if !clear || now.Sub(since) < Recheck {
		return moved, false, nil
	}
	done, err = m.Store.Finish(ctx, source, w.ClaimedInto, now.Add(limits.MovedLife))
	return !done, done, err
}
