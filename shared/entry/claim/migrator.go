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

// Migrations is the storage that Migrator uses.
type Migrations interface {
	// Due returns up to n moves that are due at now, the oldest first.
	Due(ctx context.Context, now time.Time, n int) ([]DueMove, error)
	// Note records whether a pass found the index clear and when the next pass is due. since is the first of the
	// consecutive passes that found it clear; zero: this one did not. open is false if the move is done.
	Note(ctx context.Context, source id.Workspace, clear bool, now, next time.Time) (since time.Time, open bool, err error)
	// Finish deletes the remains of a source: its credentials, and last the alias and the move itself. It keeps the gate
	// of the source until an instant. done is false if there is more to delete.
	Finish(ctx context.Context, source, destination id.Workspace, until time.Time) (done bool, err error)
	ArtifactMigrations
	LinkMigrations
}

// DueMove is a claimed workspace whose contents have to be moved.
type DueMove struct {
	Source id.Workspace
	Due    time.Time
}

// ArtifactMigrations is the part of Migrations for artifacts.
type ArtifactMigrations interface {
	// Remaining reads a source with strong consistency, nil if there is none, and up to n of the artifacts that still name
	// it as owner. clear reports that the index lists none at all; the index may lag behind.
	Remaining(ctx context.Context, source id.Workspace, n int) (
		w *workspace.Workspace, left []artifact.Artifact, clear bool, err error)
	// MoveArtifact stores the new owner of an artifact. It changes no item if the artifact does not name a.ClaimedFrom as
	// owner any more or changed since it was read.
	MoveArtifact(ctx context.Context, a artifact.Artifact) error
}

// LinkMigrations is the part of Migrations for access links and for the inbox.
type LinkMigrations interface {
	// MoveLinks moves up to n links of a source to its destination. clear reports that the index lists none at all; the
	// index may lag behind.
	MoveLinks(ctx context.Context, source, destination id.Workspace, n int) (moved int, clear bool, err error)
	// MoveInbox does the same for artifacts with open threads of feedback.
	MoveInbox(ctx context.Context, source, destination id.Workspace, n int) (moved int, clear bool, err error)
}

// The sizes of a migration.
const (
	step    = 50 // artifacts or links of one step
	sources = 20 // sources of one round
)

// Recheck is how far the index may lag behind. The alias stays at least that long after the last artifact was moved.
const Recheck = 5 * time.Second

// Migrator moves the artifacts of claimed workspaces. Readers do not wait for it; until it is done, a read costs one
// more item. Every write is conditional on what was read, so a migrator may be killed at any line, start again, and run
// beside another one.
type Migrator struct {
	Store Migrations
	Now   func() time.Time
}

// Due does one step for each source that is due, several at once. Round.More reports that some of them could go on.
func (m *Migrator) Due(ctx context.Context) (sweep.Round, error) {
	now := m.Now()
	waiting, err := m.Store.Due(ctx, now, sources)
	if err != nil || len(waiting) == 0 {
		return sweep.Round{}, err
	}
	// The context of the group is not used, because a failure of one source must not stop the others.
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
	failed = append(failed, workers.Wait()) // nil, or the error of a panic
	return sweep.Round{
		Due:    len(waiting),
		Oldest: max(0, now.Sub(waiting[0].Due)),
		More:   slices.Contains(moved, true),
	}, errors.Join(failed...)
}

// Run does one step for a source, whether it is due or not. done reports that no work is left.
func (m *Migrator) Run(ctx context.Context, source id.Workspace) (done bool, err error) {
	_, done, err = m.step(ctx, source)
	return done, err
}

// step moves some artifacts or links, or finds none left. It finishes a move only after two passes in a row, Recheck
// apart, found none, because the index may lag behind writes from before the claim.
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
	listed, bare := 0, false
	if len(left) == 0 {
		if listed, bare, err = m.moveListed(ctx, source, w.ClaimedInto); err != nil {
			return false, false, err
		}
	}
	clear, moved = clear && bare, len(left)+listed > 0
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

// moveListed moves some links and some entries of the inbox. clear reports that the index lists neither.
func (m *Migrator) moveListed(
	ctx context.Context, source, destination id.Workspace,
) (moved int, clear bool, err error) {
	links, noLinks, err := m.Store.MoveLinks(ctx, source, destination, step)
	if err != nil {
		return 0, false, err
	}
	entries, noEntries, err := m.Store.MoveInbox(ctx, source, destination, step)
	return links + entries, noLinks && noEntries, err
}
