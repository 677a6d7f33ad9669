package main

import (
	"context"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

// env is a round that the test goes through step by step, with one person who works.
type env struct {
	*round
	*worker
}

// newEnv starts a living site in which a person has signed in. No call fails there.
func newEnv(t *testing.T) env {
	t.Helper()
	r := newRound(t.TempDir(), 1, minArtifacts)
	t.Cleanup(func() { expect.OK(t, r.end(context.Background())) })
	expect.OK(t, r.begin(t.Context()))
	r.living.faults.Clear()
	r.crowd.allowed.Store(1000)
	e := env{r, r.crowd.workers[1]}
	expect.OK(t, e.join(t.Context(), r.living.stack.Origins.API))
	return e
}

// publishMany publishes new artifacts.
func (e env) publishMany(t *testing.T, n int) []*artifact {
	t.Helper()
	for range n {
		expect.OK(t, e.publish(t.Context(), e.current))
	}
	return e.current.artifacts[len(e.current.artifacts)-n:]
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
