package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/testkit/port"
	"vitrine/shared/adapter/chaos"
)

// round is one loss and one restore.
type round struct {
	destruction
	seed      uint64
	artifacts int
	folder    string

	random   *rand.Rand
	crowd    *crowd.Crowd
	living   *crowd.Site
	restored *crowd.Site
	log      *os.File // what the copy and the restore print
	release  func()   // gives the ports back
	backup   copies.Copy
	outcome  crowd.Outcome
	figures  figures
}

// figures are what a round prints.
type figures struct {
	crowd.Figures
	copied, restored, switched time.Duration
}

const (
	minArtifacts = 20
	minWorkers   = 6
	maxWorkers   = 64
	perWorker    = 8 // artifacts
)

// newRound returns the round of a seed, which decides what is destroyed and what each worker does. Only the order in
// which their calls meet is left to chance.
func newRound(folder string, seed uint64, artifacts int) *round {
	return &round{
		destruction: destructions[seed%uint64(len(destructions))],
		seed:        seed,
		artifacts:   artifacts,
		folder:      folder,
		random:      rand.New(rand.NewPCG(seed, seed)),
	}
}

// run returns what went wrong.
func (r *round) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.end(ctx)) }()
	for _, step := range []func(context.Context) error{r.begin, r.load, r.lose, r.restore, r.verify} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin starts the living site on ports of its own, and gathers its workers.
func (r *round) begin(ctx context.Context) (err error) {
	if err := os.MkdirAll(r.folder, 0o700); err != nil {
		return err
	}
	if r.log, err = os.OpenFile(filepath.Join(r.folder, "log"), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	base, release, err := port.Find()
	if err != nil {
		return err
	}
	r.release = release
	r.living = &crowd.Site{Data: filepath.Join(r.folder, "living"), Base: base, Faults: crowd.NewFaults()}
	r.restored = &crowd.Site{Data: filepath.Join(r.folder, "restored"), Base: base, Faults: chaos.New()}
	if err := r.living.Start(ctx); err != nil {
		return err
	}
	r.crowd, err = crowd.New(ctx, r.living, r.random, min(max(minWorkers, r.artifacts/perWorker), maxWorkers))
	return err
}

// end stops what runs.
func (r *round) end(ctx context.Context) error {
	if r.release == nil {
		return nil
	}
	defer r.release()
	ctx = context.WithoutCancel(ctx)
	return errors.Join(r.crowd.Stop(), r.living.Stop(ctx), r.restored.Stop(ctx), r.log.Close())
}

// load lets workers work while an engine is killed and while the copy is taken.
func (r *round) load(ctx context.Context) error {
	r.crowd.Start(ctx)
	before := r.artifacts * (30 + r.random.IntN(40)) / 100
	if err := r.crowd.Allow(ctx, before/2); err != nil {
		return err
	}
	if err := r.living.Crash(ctx, r.random.IntN(2), 0); err != nil {
		return err
	}
	if err := r.crowd.Allow(ctx, before); err != nil {
		return err
	}
	r.crowd.Allowed.Add(int64(r.artifacts / 10)) // some are made while the copy is taken
	began := time.Now()
	if err := r.copy(ctx); err != nil {
		return err
	}
	r.figures.copied = time.Since(began)
	return r.crowd.Allow(ctx, r.artifacts)
}

// lose stops the hosts and destroys what the round destroys. Without that, everybody goes on.
func (r *round) lose(ctx context.Context) error {
	if r.destroy == nil {
		r.crowd.Allowed.Add(int64(r.artifacts / 10))
		return nil
	}
	if err := errors.Join(r.crowd.Stop(), r.living.StopHosts(ctx)); err != nil {
		return err
	}
	return r.destroy(ctx, r)
}

// verify asks for everything that was acknowledged, and checks the invariants.
func (r *round) verify(ctx context.Context) (err error) {
	r.figures.Figures, err = r.crowd.Check(ctx, r.restored, r.outcome)
	return err
}
