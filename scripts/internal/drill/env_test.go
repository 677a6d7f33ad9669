package main

import (
	"context"
	"testing"

	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/testkit/expect"
)

// env is a round that the test goes through step by step, with one person who works.
type env struct {
	*round
	*crowd.Worker
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
	r.living.Faults.Clear()
	e := env{r, r.crowd.Workers[1]}
	expect.OK(t, e.Join(t.Context()))
	return e
}

// publishMany publishes new artifacts.
func (e env) publishMany(t *testing.T, n int) []*crowd.Artifact {
	t.Helper()
	for range n {
		expect.OK(t, e.Publish(t.Context(), e.Current))
	}
	return e.Current.Artifacts[len(e.Current.Artifacts)-n:]
}
