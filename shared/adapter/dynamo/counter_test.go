package dynamo

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

func TestACounterIsRaisedByBlocksUntilItIsFull(t *testing.T) {
	s := newStore(t)
	w := rate.WindowAt("artifact", "", string(id.NewArtifact()), time.Minute, now())
	for n, want := range []struct {
		count int
		ok    bool
	}{{4, true}, {8, true}, {12, true}, {0, false}} {
		if count, ok, err := s.Counters.Count(ctx, w, 4, 10); count != want.count || ok != want.ok || err != nil {
			t.Errorf("block %d: %d, %t, %v", n, count, ok, err)
		}
	}
}

func TestANonceIsNotBurnedByAWriteThatFailed(t *testing.T) {
	faults := chaos.For(t)
	s := New(newClient(t, faults.Add), newStore(t).tables)
	faults.On("PutItem").Before(chaos.Fail(errors.New("away")))
	if burned, err := s.Counters.Burn(ctx, "nonce", now()); burned || fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("Burn of a table that is away = %t, %v, want false, %s", burned, err, fault.DatabaseUnavailable)
	}
	if burned, err := s.Counters.Burn(ctx, "nonce", now()); !burned || err != nil {
		t.Errorf("Burn = %t, %v, want true", burned, err)
	}
}

// TestFunctionsTogetherAdmitNoMoreThanTheLimit has 8 functions take permits of one artifact, from 3 requests at once
// each, until all are refused.
func TestFunctionsTogetherAdmitNoMoreThanTheLimit(t *testing.T) {
	s := newStore(t)
	const functions, reads = 8, 1200
	numbers, a, start := limits.Default(), id.NewArtifact(), now()
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range functions {
		limiter := &rate.Limiter{Counters: s.Counters, Limits: &numbers, Now: func() time.Time { return start }}
		for range 3 {
			all.Go(func() {
				for limiter.Artifact(ctx, a, "file").Refusal == nil {
					admitted.Add(1)
				}
			})
		}
	}
	all.Wait()
	if n := admitted.Load(); n > reads || n < reads*95/100 {
		t.Errorf("%d reads of %d were admitted", n, reads)
	}
}
