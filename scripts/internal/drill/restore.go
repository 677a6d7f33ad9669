package main

import (
	"context"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/machine"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/invariant"
)

// copy takes a copy of the living site while it is in use. What was acknowledged before it began has to be in it.
func (r *round) copy(ctx context.Context) (err error) {
	r.outcome = outcome{instant: time.Now(), events: r.events}
	r.backup, err = copies.Take(ctx, copies.Options{
		Data:    r.living.data,
		To:      filepath.Join(r.folder, "copies"),
		Engines: r.living.engines,
		Now:     time.Now,
		Out:     r.log,
	})
	return err
}

// machine returns the restore of the copy, with the decision that everything that was done since is done again.
func (r *round) machine() machine.Restore {
	return machine.Restore{
		From:   r.backup,
		Data:   r.restored.data,
		Living: r.living.data,
		Except: []replay.Exception{},
		Now:    time.Now,
		Out:    r.log,
	}
}

// restore restores the copy into a new data folder. Where all of it stays, the workers go on until the switch.
func (r *round) restore(ctx context.Context) error { return r.restoreWith(ctx, r.machine()) }

func (r *round) restoreWith(ctx context.Context, m machine.Restore) error {
	began := time.Now()
	for _, step := range []func(context.Context) error{m.Plan, m.Run, m.Check} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	r.figures.restored = time.Since(began)
	r.crowd.stop()
	if err := r.living.stop(ctx); err != nil {
		return err
	}
	began = time.Now()
	if err := m.Switch(ctx); err != nil {
		return err
	}
	r.gap = invariant.Gap{From: r.backup.At, To: time.Now()}
	if err := r.restored.start(ctx); err != nil {
		return err
	}
	r.figures.switched = time.Since(began)
	return m.Open(ctx, true)
}
