package dynamo

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
