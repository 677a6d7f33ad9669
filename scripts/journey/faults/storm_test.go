package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// onEvery applies an action to every n-th attempt of any call.
func onEvery(n int64, action chaos.Action) chaos.Action {
	var seen atomic.Int64
	return func(ctx context.Context, c *chaos.Call) error {
		if seen.Add(1)%n == 0 && c.Err == nil {
			return action(ctx, c)
		}
		return nil
	}
}

// TestManyAgentsAndManyFaultsLeaveASoundDeployment has agents publish, revise and delete while calls of all kinds are
// refused and lost, and repeat each request until it succeeds.
func TestManyAgentsAndManyFaultsLeaveASoundDeployment(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t, func(o *stack.Options) {
		o.Limits.Actor.Limit, o.Limits.Workspace.Limit = 10_000, 10_000
		harness.WithPolicy(func(p *limits.Policy) { p.NewArtifactsPerDay = 100 })(&o.Limits)
	})
	agents := []*wire.Agent{s.NewAgent(t), s.NewAgent(t), s.NewAgent(t)}
	s.Faults.On("").Always().Before(
		onEvery(11, chaos.Throttle), onEvery(17, chaos.Conflict), onEvery(29, chaos.Fail(harness.ErrDown)),
	).
		After(onEvery(13, chaos.Timeout), onEvery(31, chaos.Fail(harness.ErrDown)))
	shown := make([]contract.Published, 2*len(agents))
	s.Concurrently(t, len(shown), func(n int) (wire.Answer, error) {
		w := stormWorker{s, agents[n%len(agents)], fmt.Sprint("worker ", n)}
		var err error
		if shown[n], err = w.round(t); err != nil {
			err = fmt.Errorf("%s: %w", w.name, err)
		}
		return wire.Answer{}, err
	})
	s.Faults.Clear()
	for _, p := range shown {
		s.WantContent(t, p.RevisionContentURL, harness.Page(p.Title).Body)
	}
}

// stormWorker is one that publishes through the storm.
type stormWorker struct {
	*harness.FaultEnv
	g    *wire.Agent
	name string
}

// round publishes two artifacts, revises one, deletes the other, and gives what is shown at its end.
func (w stormWorker) round(t *testing.T) (p contract.Published, err error) {
	kept, err := w.published(t, w.name, "")
	if err != nil {
		return p, err
	}
	gone, err := w.published(t, w.name+", gone", "")
	if err != nil {
		return p, err
	}
	_, err = w.retry(t, "delete", func() (wire.Answer, error) { return harness.Delete(w.g, gone.ArtifactID) }, nil)
	if err != nil {
		return p, err
	}
	return w.published(t, w.name+", revised", kept.ArtifactID)
}

// published publishes a page with its title as the text, step by step.
func (w stormWorker) published(t *testing.T, title string, a id.Artifact) (p contract.Published, err error) {
	r := wire.Declare(title, harness.Page(title))
	r.ArtifactID = a
	key := wire.NewKey()
	var u contract.Session
	if _, err = w.retry(t, "create", func() (wire.Answer, error) { return harness.Create(w.g, key, r) }, &u); err != nil {
		return p, err
	}
	if put, err := w.g.Put(ctx, u.Files[0], harness.Page(title).Body); err != nil || put.Status != http.StatusOK {
		return p, fmt.Errorf("the PUT answers %d (%v)", put.Status, err)
	}
	finalize := func() (wire.Answer, error) { return harness.Finalize(w.g, key, u.UploadSessionID) }
	_, err = w.retry(t, "finalize", finalize, nil)
	if err != nil {
		return p, err
	}
	_, err = w.retry(t, "publish", func() (wire.Answer, error) {
		return harness.Publish(w.g, key, u.ArtifactID, u.RevisionID)
	}, &p)
	return p, err
}

// passing are the refusals that a client waits for.
var passing = []fault.Code{
	fault.DatabaseUnavailable, fault.StorageUnavailable, fault.IdempotencyInFlight, fault.RateLimitedActor,
	fault.RateLimitedWorkspace, fault.Internal,
}

// retry sends a request twice at a time until it succeeds.
func (w stormWorker) retry(
	t *testing.T, name string, ask func() (wire.Answer, error), out any,
) (a wire.Answer, err error) {
	for range 60 {
		twin := w.Async(t, ask)
		if a, err = ask(); err != nil {
			return a, err
		}
		b := <-twin
		if a.Status == http.StatusOK && b.Status == http.StatusOK && harness.StableIDs(t, a) != harness.StableIDs(t, b) {
			t.Errorf("I8: one key gives %s and %s", a.Body, b.Body)
		}
		switch {
		case a.Status == http.StatusOK && out == nil:
			return a, nil
		case a.Status == http.StatusOK:
			return a, json.Unmarshal(a.Body, out)
		case !slices.Contains(passing, a.Code()):
			return a, fmt.Errorf("%s answers %d %s (%s)", name, a.Status, a.Code(), a.Message())
		case a.Code() == fault.Internal:
			t.Errorf("%s answers %d %s", name, a.Status, a.Code())
		case a.Code() == fault.IdempotencyInFlight:
			w.Clock.Advance(limits.FinalizeLease / 2)
		}
	}
	return a, fmt.Errorf("%s never succeeded", name)
}
