package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/shared/adapter/chaos"
)

const (
	faultShare = 0.01                 // of the AWS calls
	waitEvery  = 5 * time.Millisecond // for what workers do
	maxLoad    = 30 * time.Minute     // of one round, for ten thousand artifacts on a busy machine
)

// crowd is workers on one site.
type crowd struct {
	workers []*worker
	made    atomic.Int64 // artifacts
	allowed atomic.Int64
	working sync.WaitGroup
	end     context.CancelFunc // nil: they have not begun
}

func newCrowd(random *rand.Rand, size int) *crowd {
	c := &crowd{}
	for n := range size {
		c.workers = append(c.workers, &worker{
			name:   n,
			random: rand.New(rand.NewPCG(random.Uint64(), random.Uint64())),
			http:   newHTTP(),
			permit: c.permit,
		})
	}
	return c
}

// permit takes one of the artifacts that may be made.
func (c *crowd) permit() bool {
	if c.made.Add(1) <= c.allowed.Load() {
		return true
	}
	c.made.Add(-1)
	return false
}

// start lets everybody work until stop is called.
func (c *crowd) start(ctx context.Context, api string) {
	ctx, c.end = context.WithTimeout(ctx, maxLoad)
	for _, w := range c.workers {
		c.working.Go(func() { w.work(ctx, api) })
	}
}

// stop returns when everybody has finished the step that was under way.
func (c *crowd) stop() {
	if c.end != nil {
		c.end()
		c.working.Wait()
	}
}

// allow raises the number of artifacts that may be made, and returns when nearly all of them are.
func (c *crowd) allow(ctx context.Context, n int) error {
	c.allowed.Store(int64(n))
	tick := time.NewTicker(waitEvery)
	defer tick.Stop()
	limit := time.After(maxLoad)
	for c.made.Load() < int64(n) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return errors.New("the workers do not get on although everything runs")
		case <-tick.C:
		}
	}
	return nil
}

// each calls do for every worker, few at a time, and returns what went wrong.
func (c *crowd) each(do func(*worker) []error) (wrong []error) {
	found := make([][]error, len(c.workers))
	var group errgroup.Group
	group.SetLimit(minWorkers)
	for n, w := range c.workers {
		group.Go(func() error {
			found[n] = do(w)
			return nil
		})
	}
	return append(slices.Concat(found...), group.Wait())
}

// newFaults makes a share of all AWS calls of the hosts fail: before they are sent, or after they took effect.
func newFaults() *chaos.Injector {
	i := chaos.New()
	kinds := []chaos.Action{chaos.Throttle, chaos.ServerError, chaos.Timeout, chaos.Unreachable}
	seldom := func(fails ...chaos.Action) chaos.Action {
		return func(ctx context.Context, c *chaos.Call) error {
			if rand.Float64() > faultShare {
				return nil
			}
			return fails[rand.IntN(len(fails))](ctx, c)
		}
	}
	i.On("").Always().Before(seldom(kinds...))
	i.On("").Always().After(seldom(chaos.Timeout))
	return i
}
