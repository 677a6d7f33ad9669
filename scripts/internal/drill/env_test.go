package main

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
)

// env is a round that the test goes through step by step, with one person who works.
type env struct {
	*round
	*worker
}

// newEnv starts a living site in which a person has signed in. No call fails there.
func newEnv(t *testing.T) env {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it starts engines and stacks of its own")
	}
	r := newRound(t.TempDir(), 0, minArtifacts)
	t.Cleanup(func() { expect.OK(t, r.end(context.Background())) })
	expect.OK(t, r.begin(t.Context()))
	r.living.faults.Clear()
	r.crowd.allowed.Store(1000)
	e := env{r, r.crowd.workers[1]}
	expect.OK(t, e.join(t.Context(), r.living.stack.Origins.API))
	return e
}

// publishMany publishes new artifacts, some at once.
func (e env) publishMany(t *testing.T, n int) []*artifact {
	t.Helper()
	const hands = 6
	made := make([]account, hands)
	errs := parallel.Calls(hands, func(hand int) (err error) {
		w := *e.worker
		w.random = rand.New(rand.NewPCG(uint64(hand), uint64(n)))
		made[hand].key = e.current.key
		for m := hand; m < n && err == nil; m += hands {
			err = w.publish(t.Context(), &made[hand])
		}
		return err
	})
	expect.OK(t, errs...)
	var all []*artifact
	for _, one := range made {
		all = append(all, one.artifacts...)
	}
	e.current.artifacts = append(e.current.artifacts, all...)
	return all
}

// found returns how many differences the check of the living site finds.
func (e env) found(t *testing.T, instant time.Time) int {
	t.Helper()
	o := outcome{instant: instant, events: true}
	n := 0
	for _, a := range e.current.artifacts {
		n += len(o.artifact(t.Context(), e.worker, a))
	}
	return n + len(o.key(t.Context(), e.worker, &e.current.key))
}

// stopLiving stops the living site, as before a switch.
func (e env) stopLiving(t *testing.T) {
	t.Helper()
	expect.OK(t, e.living.stopHosts(t.Context()))
}
