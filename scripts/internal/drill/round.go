package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/testkit/invariant"
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
	crowd    *crowd
	living   *site
	restored *site
	log      *os.File // what the copy and the restore print
	release  func()   // gives the ports back
	backup   copies.Copy
	outcome  outcome
	gap      invariant.Gap // of whose events the effects are lost
	figures  figures
}

// figures are what a round prints.
type figures struct {
	artifacts, since           int // at all, and publications acknowledged since the copy
	kept, ended                int // what was asked for: publications, and deletions and revocations
	copied, restored, switched time.Duration
	loss                       loss
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
	random := rand.New(rand.NewPCG(seed, seed))
	return &round{
		destruction: destructions[seed%uint64(len(destructions))],
		seed:        seed,
		artifacts:   artifacts,
		folder:      folder,
		random:      random,
		crowd:       newCrowd(random, min(max(minWorkers, artifacts/perWorker), maxWorkers)),
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

// begin starts the living site on ports of its own.
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
	r.living = &site{data: filepath.Join(r.folder, "living"), base: base, faults: newFaults()}
	r.restored = &site{data: filepath.Join(r.folder, "restored"), base: base, faults: chaos.New()}
	return r.living.start(ctx)
}

// end stops what runs.
func (r *round) end(ctx context.Context) error {
	r.crowd.stop()
	if r.release == nil {
		return nil
	}
	defer r.release()
	ctx = context.WithoutCancel(ctx)
	return errors.Join(r.living.stop(ctx), r.restored.stop(ctx), r.log.Close())
}

// load lets workers work while an engine is killed and while the copy is taken.
func (r *round) load(ctx context.Context) error {
	r.crowd.start(ctx, r.living.stack.Origins.API)
	before := r.artifacts * (30 + r.random.IntN(40)) / 100
	if err := r.crowd.allow(ctx, before/2); err != nil {
		return err
	}
	if err := r.killEngine(ctx); err != nil {
		return err
	}
	if err := r.crowd.allow(ctx, before); err != nil {
		return err
	}
	r.crowd.allowed.Add(int64(r.artifacts / 10)) // some are made while the copy is taken
	began := time.Now()
	if err := r.copy(ctx); err != nil {
		return err
	}
	r.figures.copied = time.Since(began)
	return r.crowd.allow(ctx, r.artifacts)
}

// killEngine kills one of the engines and starts it again.
func (r *round) killEngine(ctx context.Context) error {
	engine := r.living.engines.DynamoDBProcess
	if r.random.IntN(2) == 0 {
		engine = r.living.engines.S3Process
	}
	engine.Kill()
	if err := engine.Start(ctx); err != nil {
		return fmt.Errorf("a killed engine does not come back: %w", err)
	}
	return nil
}

// lose stops the hosts and destroys what the round destroys. Without that, everybody goes on.
func (r *round) lose(ctx context.Context) error {
	if r.destroy == nil {
		r.crowd.allowed.Add(int64(r.artifacts / 10))
		return nil
	}
	r.crowd.stop()
	if err := r.living.stopHosts(ctx); err != nil {
		return err
	}
	return r.destroy(ctx, r)
}

// verify asks for everything that was acknowledged, and checks the invariants.
func (r *round) verify(ctx context.Context) error {
	wrong := r.crowd.each(func(w *worker) []error { return r.outcome.check(ctx, w) })
	for _, w := range r.crowd.workers {
		since, l := r.outcome.lost(ctx, w)
		r.figures.since += since
		kept, ended := r.outcome.count(w)
		r.figures.kept += kept
		r.figures.ended += ended
		r.figures.artifacts = int(r.crowd.made.Load())
		r.figures.loss.publications += l.publications
		r.figures.loss.window = max(r.figures.loss.window, l.window)
		wrong = append(wrong, r.publishAgain(ctx, w)...)
	}
	if err := r.restored.stopHosts(ctx); err != nil {
		return err
	}
	d := r.restored.deployment()
	d.Gap = r.gap
	return errors.Join(append(wrong, invariant.Check(ctx, d)...)...)
}

// publishAgain publishes with what a member has after the restore.
func (r *round) publishAgain(ctx context.Context, w *worker) []error {
	if w.person == nil || !w.person.made.by(r.outcome.instant) {
		return nil
	}
	k, err := w.person.makeKey(ctx)
	if err == nil {
		err = w.put(ctx, &account{key: *k})
	}
	if err != nil {
		return []error{fmt.Errorf("%s cannot publish: %w", w.person.email, err)}
	}
	return nil
}
