package rate

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"vitrine/shared/platform/async"
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

// fakeCounters counts as the store does.
type fakeCounters struct {
	mu     sync.Mutex
	counts map[Window]int
	writes int
	err    error  // of the next writes
	lost   bool   // their answers: they count, and fail
	panics string // kind whose calls do
}

func (f *fakeCounters) Count(_ context.Context, w Window, add, limit int) (int, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if w.Kind == f.panics {
		panic("broken")
	}
	if f.err != nil && !f.lost {
		return 0, false, f.err
	}
	if f.counts[w] >= limit {
		return 0, false, nil
	}
	if f.counts == nil {
		f.counts = make(map[Window]int)
	}
	f.counts[w] += add
	return f.counts[w], true, f.err
}

var errOutOfReach = errors.New("out of reach")

// newLimiter returns a limiter with a clock that the test sets.
func newLimiter(t *testing.T) (*Limiter, *fakeCounters, *time.Time) {
	t.Helper()
	numbers, counters := limits.Default(), &fakeCounters{}
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	return &Limiter{Counters: counters, Limits: &numbers, Now: func() time.Time { return now }}, counters, &now
}

// setReads sets the limit of reads of every tier.
func setReads(l *limits.Limits, reads int) {
	for tier, policy := range l.Tiers {
		policy.Reads = reads
		l.Tiers[tier] = policy
	}
}

func TestF46ALimiterWithoutItsCounterRefuses(t *testing.T) {
	limiter, counters, _ := newLimiter(t)
	counters.err = errOutOfReach
	err := limiter.Artifact(t.Context(), id.NewArtifact(), "file").Refusal
	if fault.CodeOf(err) != fault.RateLimitedArtifact || fault.Of(err).RetryAfter != failureWait {
		t.Error(err)
	}
	err = limiter.Actor(t.Context(), id.NewWorkspace(), "actor")
	if fault.CodeOf(err) != fault.RateLimitedActor || fault.Of(err).RetryAfter != failureWait {
		t.Error(err)
	}
}

func TestARefusalIsRememberedUntilItsWindowEnds(t *testing.T) {
	limiter, counters, now := newLimiter(t)
	setReads(limiter.Limits, 1)
	a := id.NewArtifact()
	if err := limiter.Artifact(t.Context(), a, "file").Refusal; err != nil {
		t.Fatal(err)
	}
	wait := time.Duration(0)
	for range 5 {
		err := limiter.Artifact(t.Context(), a, "file").Refusal
		if wait = fault.Of(err).RetryAfter; fault.CodeOf(err) != fault.RateLimitedArtifact || wait <= 0 ||
			wait > time.Minute {
			t.Fatal(err, wait)
		}
	}
	if counters.writes != 2 {
		t.Errorf("a flood asked the store %d times", counters.writes)
	}
	*now = now.Add(wait)
	if err := limiter.Artifact(t.Context(), a, "file").Refusal; err != nil {
		t.Errorf("after Retry-After: %v", err)
	}
}

func TestARefusalSaysWhatIsAllowedAndUntilWhenToWait(t *testing.T) {
	for events, tt := range map[string]struct {
		window time.Duration
		want   string
	}{
		"sign-ins":    {time.Minute, "too many sign-ins: 2 are allowed in a minute; wait until "},
		"wrong codes": {10 * time.Minute, "too many wrong codes: 2 are allowed in 10 minutes; wait until "},
		"apps":        {time.Hour, "too many apps: 2 are allowed in an hour; wait until "},
		"exports":     {limits.Day, "too many exports: 2 are allowed in a day; wait until "},
	} {
		limiter, counters, now := newLimiter(t)
		r := limits.Rate{Limit: 2, Window: tt.window, Counter: "kind", Events: events}
		if n, err := limiter.Count(t.Context(), r, "subject"); n != 1 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		for range 3 { // the last one is remembered
			_ = limiter.Take(t.Context(), r, "subject")
		}
		err := limiter.Take(t.Context(), r, "subject")
		refused := fault.Of(err)
		until := now.Add(refused.RetryAfter + time.Second - 1).Format("15:04:05 UTC")
		if refused.Code != fault.RateLimitedActor || refused.Message != tt.want+until || counters.writes != 3 {
			t.Errorf("%v after %d writes, want %q", err, counters.writes, tt.want+until)
		}
		if err := limiter.Take(t.Context(), r, "another"); err != nil {
			t.Error(err)
		}
		*now = now.Add(refused.RetryAfter)
		if err := limiter.Take(t.Context(), r, "subject"); err != nil {
			t.Errorf("after Retry-After: %v", err)
		}
	}
}

func TestAReadThatIsGivenBackIsItsHoldersAlone(t *testing.T) {
	limiter, counters, now := newLimiter(t)
	a, most := id.NewArtifact(), limiter.Limits.Refused.Limit
	gone, cancel := context.WithCancel(t.Context())
	read := func(holder string) Read { return limiter.Artifact(t.Context(), a, holder) }
	limiter.GiveBack(gone, read("refused"))
	cancel() // the caller did not wait for the answer
	for range 3 * most {
		limiter.GiveBack(gone, read("refused"))
	}
	if at := WindowAt("artifact", "", string(a), time.Minute, *now); counters.counts[at] != 1 ||
		counters.writes != 1+most+1 {
		t.Errorf("%d of the budget are gone after %d writes", counters.counts[at], counters.writes)
	}
	if err := read("refused").Refusal; fault.CodeOf(err) != fault.RateLimitedArtifact || fault.Of(err).RetryAfter <= 0 {
		t.Errorf("a holder that was refused so often is counted again: %v", err)
	}
	if err := read("welcome").Refusal; err != nil {
		t.Errorf("another reader: %v", err)
	}
	*now = now.Add(time.Minute)
	if err := read("refused").Refusal; err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

func TestLimitsThatAreOffCountNothing(t *testing.T) {
	limiter, counters, _ := newLimiter(t)
	limiter.Limits.Off = true
	if err := limiter.Actor(t.Context(), id.NewWorkspace(), string(id.NewPublic())); err != nil {
		t.Error(err)
	}
	read := limiter.Confirm(t.Context(), limiter.Artifact(t.Context(), id.NewArtifact(), "file"), limits.Free, 0)
	if limiter.GiveBack(t.Context(), read); read.Refusal != nil || counters.writes != 0 {
		t.Errorf("%v, after %d writes", read.Refusal, counters.writes)
	}
}

func TestAPanicBesideALimitIsItsError(t *testing.T) {
	l, counters, _ := newLimiter(t)
	counters.panics = "workspace"
	if err := l.Actor(t.Context(), id.NewWorkspace(), "actor"); async.StackOf(err) == nil {
		t.Error(err)
	}
	counters.panics = "artifact"
	if read := l.Begin(t.Context(), id.NewArtifact(), "file")(); async.StackOf(read.Refusal) == nil {
		t.Error(read.Refusal)
	}
	s, store, _ := newStreams()
	store.taken = func(st Stream) {
		if st.Kind == addressStream {
			panic("broken")
		}
	}
	if _, err := s.Acquire(t.Context(), "1", id.NewArtifact(), large); async.StackOf(err) == nil || len(store.held) > 0 {
		t.Error(err, store.held)
	}
}

// marked keeps marks, and then fails.
type marked struct{ marks []Hot }

func (m *marked) Mark(_ context.Context, h Hot) error {
	m.marks = append(m.marks, h)
	return errors.New("the table is away")
}

func TestAnArtifactThatIsReadOftenIsMarkedOnceInAWindow(t *testing.T) {
	limiter, _, now := newLimiter(t)
	kept := &marked{}
	limiter.Marks = kept
	read := func(a id.Artifact, reads int, every time.Duration) {
		t.Helper()
		for range reads {
			r := limiter.Artifact(t.Context(), a, "file")
			if r = limiter.Confirm(t.Context(), r, limits.Free, 0); r.Refusal != nil {
				t.Fatal(r.Refusal)
			}
			*now = now.Add(every)
		}
	}
	*now = now.Truncate(limits.ReadWindow)
	hot, cold := id.NewArtifact(), id.NewArtifact()
	read(cold, 20, time.Millisecond)
	if len(kept.marks) > 0 {
		t.Errorf("20 reads: %+v", kept.marks)
	}
	read(hot, 400, time.Millisecond)
	if len(kept.marks) != 1 || kept.marks[0].Artifact != hot || now.Sub(kept.marks[0].At) > time.Second {
		t.Errorf("400 reads: %+v", kept.marks)
	}
	*now = now.Add(limits.ReadWindow)
	read(hot, 400, time.Millisecond)
	if len(kept.marks) != 2 {
		t.Errorf("in the next window: %+v", kept.marks)
	}
}
