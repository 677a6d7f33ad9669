package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/internal/restore/machine"
	"vitrine/scripts/internal/restore/replay"
)

// copy takes a copy of the living site while it is in use. What was acknowledged before it began has to be in it.
func (r *round) copy(ctx context.Context) (err error) {
	r.outcome = crowd.Outcome{Instant: time.Now(), Events: r.events}
	r.backup, err = copies.Take(ctx, copies.Options{
		Data:    r.living.Data,
		To:      filepath.Join(r.folder, "copies"),
		Engines: r.living.Engines,
		Now:     time.Now,
		Out:     r.log,
	})
	return err
}

// machine returns the restore of the copy, with the decision that everything that was done since is done again.
func (r *round) machine() machine.Restore {
	return machine.Restore{
		From:   r.backup,
		Data:   r.restored.Data,
		Living: r.living.Data,
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
	if err := errors.Join(r.crowd.Stop(), r.living.Stop(ctx)); err != nil {
		return err
	}
	began = time.Now()
	if err := m.Switch(ctx); err != nil {
		return err
	}
	r.outcome.Restored = time.Now()
	if err := r.restored.Start(ctx); err != nil {
		return err
	}
	r.figures.switched = time.Since(began)
	return m.Open(ctx, true)
}
