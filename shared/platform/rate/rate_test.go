package rate

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
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

// brokenCounters fails every call and counts the calls.
type brokenCounters struct{ asked int }

func (b *brokenCounters) Count(context.Context, Window, int) (int, bool, error) {
	b.asked++
	return 0, false, errors.New("out of reach")
}

func (b *brokenCounters) Uncount(context.Context, Window) error { return errors.New("out of reach") }

// fullCounters refuses every call and counts the calls.
type fullCounters struct{ asked int }

func (f *fullCounters) Count(context.Context, Window, int) (int, bool, error) {
	f.asked++
	return 0, false, nil
}

func (f *fullCounters) Uncount(context.Context, Window) error { return nil }

func TestF46ALimiterWithoutItsCounterRefuses(t *testing.T) {
	l := limits.Default()
	limiter := &Limiter{Counters: &brokenCounters{}, Limits: &l, Now: time.Now}
	err := limiter.Artifact(context.Background(), id.NewArtifact(), "file").Over
	if fault.CodeOf(err) != fault.RateLimitedArtifact || fault.Of(err).RetryAfter <= 0 {
		t.Error(err)
	}
}

func TestARefusalIsRememberedUntilItsWindowEnds(t *testing.T) {
	l := limits.Default()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	counters := &fullCounters{}
	limiter := &Limiter{Counters: counters, Limits: &l, Now: func() time.Time { return now }}
	a := id.NewArtifact()
	wait := time.Duration(0)
	for range 5 {
		err := limiter.Artifact(context.Background(), a, "file").Over
		if wait = fault.Of(err).RetryAfter; fault.CodeOf(err) != fault.RateLimitedArtifact || wait <= 0 ||
			wait > time.Minute {
			t.Fatal(err, wait)
		}
	}
	if counters.asked != 1 {
		t.Errorf("a flood asked the store %d times", counters.asked)
	}
	now = now.Add(wait)
	limiter.Artifact(context.Background(), a, "file")
	if counters.asked != 2 {
		t.Error("after Retry-After the store is not asked again")
	}
}

// fakeCounters counts in memory, and counts its writes.
type fakeCounters struct {
	mu     sync.Mutex
	counts map[Window]int
	writes int
}

func (l *fakeCounters) Count(_ context.Context, w Window, limit int) (int, bool, error) {
	return l.add(w, 1, limit)
}

func (l *fakeCounters) Uncount(_ context.Context, w Window) error {
	_, _, err := l.add(w, -1, 1<<30)
	return err
}

func (l *fakeCounters) add(w Window, n, limit int) (int, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writes++; l.counts[w] >= limit {
		return 0, false, nil
	}
	l.counts[w] += n
	return l.counts[w], true, nil
}

func TestAReadThatIsGivenBackIsItsHoldersAlone(t *testing.T) {
	numbers := limits.Default()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	book := &fakeCounters{counts: map[Window]int{}}
	limiter := &Limiter{Counters: book, Limits: &numbers, Now: func() time.Time { return now }}
	a := id.NewArtifact()
	gone, cancel := context.WithCancel(context.Background())
	cancel() // the caller did not wait for the answer
	for range 3 * numbers.Refused.Limit {
		limiter.GiveBack(gone, limiter.Artifact(context.Background(), a, "refused"))
	}
	if at := WindowAt("artifact", "", string(a), time.Minute, now); book.counts[at] != 0 ||
		book.writes != 3*(numbers.Refused.Limit+1) {
		t.Errorf("%d of the budget are gone after %d writes", book.counts[at], book.writes)
	}
	if err := limiter.Artifact(context.Background(), a, "refused").Over; fault.CodeOf(err) != fault.RateLimitedArtifact ||
		fault.Of(err).RetryAfter <= 0 {
		t.Errorf("whoever was refused so often is counted again: %v", err)
	}
	if err := limiter.Artifact(context.Background(), a, "welcome").Over; err != nil {
		t.Errorf("another reader: %v", err)
	}
	now = now.Add(time.Minute)
	if err := limiter.Artifact(context.Background(), a, "refused").Over; err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

func TestLimitsThatAreOffCountNothing(t *testing.T) {
	l := limits.Default()
	l.Off = true
	limiter := &Limiter{Counters: &fullCounters{}, Limits: &l, Now: time.Now}
	if err := limiter.Actor(context.Background(), id.NewWorkspace(), string(id.NewPublic())); err != nil {
		t.Error(err)
	}
	read := limiter.Artifact(context.Background(), id.NewArtifact(), "file")
	if limiter.GiveBack(context.Background(), read); read.Over != nil {
		t.Error(read.Over)
	}
}
