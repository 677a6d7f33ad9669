package rate

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/limits"
)

func TestF56AWindowEndsAfterNowAndBeginsAnewThen(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	starts := map[time.Duration]bool{}
	for i := range 200 {
		subject := string(id.NewPublic())
		at := now.Add(time.Duration(i) * 777 * time.Millisecond)
		w := WindowAt("actor", "api", subject, time.Minute, at)
		if at.Before(w.Start) || !at.Before(w.End) || w.End.Sub(w.Start) != time.Minute {
			t.Fatalf("%s is not in %s..%s", at, w.Start, w.End)
		}
		if next := WindowAt("actor", "api", subject, time.Minute, w.End); !next.Start.Equal(w.End) {
			t.Fatal("windows do not follow each other")
		}
		starts[w.Start.Sub(w.Start.Truncate(time.Minute))] = true
	}
	if len(starts) < 100 {
		t.Error("all subjects refill at the same time")
	}
}

// broken is a counter that is out of reach, and counts how often it was asked.
type broken struct{ asked int }

func (b *broken) Count(context.Context, Window, int) (int, bool, error) {
	b.asked++
	return 0, false, errors.New("out of reach")
}

// full is a counter without room.
type full struct{ asked int }

func (f *full) Count(context.Context, Window, int) (int, bool, error) {
	f.asked++
	return 0, false, nil
}

func TestF46ALimiterWithoutItsCounterRefuses(t *testing.T) {
	l := limits.Default()
	limiter := &Limiter{Counters: &broken{}, Limits: &l, Now: time.Now}
	err := limiter.Artifact(context.Background(), id.NewArtifact())
	if fault.CodeOf(err) != fault.RateLimitedArtifact || fault.Of(err).RetryAfter <= 0 {
		t.Error(err)
	}
}

func TestARefusalIsRememberedUntilItsWindowEnds(t *testing.T) {
	l := limits.Default()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	counters := &full{}
	limiter := &Limiter{Counters: counters, Limits: &l, Now: func() time.Time { return now }}
	a := id.NewArtifact()
	wait := time.Duration(0)
	for range 5 {
		err := limiter.Artifact(context.Background(), a)
		if wait = fault.Of(err).RetryAfter; fault.CodeOf(err) != fault.RateLimitedArtifact || wait <= 0 || wait > time.Minute {
			t.Fatal(err, wait)
		}
	}
	if counters.asked != 1 {
		t.Errorf("a flood asked the store %d times", counters.asked)
	}
	now = now.Add(wait)
	limiter.Artifact(context.Background(), a)
	if counters.asked != 2 {
		t.Error("after Retry-After the store is not asked again")
	}
}

func TestLimitsThatAreOffCountNothing(t *testing.T) {
	l := limits.Default()
	l.Off = true
	limiter := &Limiter{Counters: &full{}, Limits: &l, Now: time.Now}
	if err := limiter.Actor(context.Background(), id.NewWorkspace(), string(id.NewPublic())); err != nil {
		t.Error(err)
	}
}
