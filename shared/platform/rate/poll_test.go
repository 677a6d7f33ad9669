package rate

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestAPageWaitsLongerTheMorePollsAreCounted(t *testing.T) {
	expect.Results(t, func(counted int) time.Duration { return pollWait(counted, 6000) }, map[int]time.Duration{
		0:      3 * time.Second,
		300:    3 * time.Second,
		600:    6 * time.Second,
		3000:   30 * time.Second,
		6000:   time.Minute,
		10_000: time.Minute,
	})
}

// viewers are open pages, by the instant of their next poll.
type viewers []time.Time

func (v viewers) Len() int           { return len(v) }
func (v viewers) Less(i, j int) bool { return v[i].Before(v[j]) }
func (v viewers) Swap(i, j int)      { v[i], v[j] = v[j], v[i] }
func (v *viewers) Push(x any)        { *v = append(*v, x.(time.Time)) }
func (v *viewers) Pop() any {
	last := (*v)[len(*v)-1]
	*v = (*v)[:len(*v)-1]
	return last
}

// TestPollsOfAnyNumberOfViewersStayBelowTheLimit opens pages within ten seconds and lets each wait as long as it is
// told, at 8 functions. The first two minutes of so many at once may have refusals.
func TestPollsOfAnyNumberOfViewersStayBelowTheLimit(t *testing.T) {
	for _, tt := range []struct {
		viewers  int
		longest  time.Duration // the most that a page waits after five minutes
		refusals bool
	}{
		{1, 4 * time.Second, false}, // permits are taken in blocks, which count as polls
		{10, 5 * time.Second, false},
		{100, 12 * time.Second, false},
		{1000, 35 * time.Second, false},
		{5000, time.Minute, false},
		{20_000, time.Minute, true},
	} {
		f := newFleet(1, 8, 1)
		a, random := id.NewArtifact(), rand.New(rand.NewPCG(1, 2))
		begin := f.clock
		pages := make(viewers, tt.viewers)
		for n := range pages {
			pages[n] = begin.Add(time.Duration(random.Int64N(int64(10 * time.Second))))
		}
		heap.Init(&pages)
		admitted, refused, longest := map[time.Time]int{}, 0, time.Duration(0)
		for f.clock = pages[0]; f.clock.Sub(begin) < 10*time.Minute; f.clock = pages[0] {
			r, wait := f.limiters[random.IntN(8)].Poll(t.Context(), a, "live/link")
			if r.Refusal != nil {
				wait = fault.Of(r.Refusal).RetryAfter
			} else {
				admitted[r.permit.pool.window.Start]++
			}
			if f.clock.Sub(begin) > 5*time.Minute {
				longest = max(longest, wait)
				if r.Refusal != nil {
					refused++
				}
			}
			pages[0] = f.clock.Add(wait)
			heap.Fix(&pages, 0)
		}
		polls := 0
		for w, n := range admitted {
			polls += n
			if n > 6000 {
				t.Errorf("%d viewers: %d polls in the minute from %s", tt.viewers, n, w)
			}
		}
		t.Logf("%d viewers: %d polls a minute for %d writes, wait at most %s, %d refused",
			tt.viewers, polls/10, f.counters.writes, longest, refused)
		if longest > tt.longest || (refused > 0) != tt.refusals {
			t.Errorf("%d viewers wait up to %s, %d polls are refused", tt.viewers, longest, refused)
		}
	}
}

func TestAPollThatIsRefusedWaitsLongest(t *testing.T) {
	limiter, _, now := newLimiter(t)
	limiter.Limits.Live.Limit = 2
	a := id.NewArtifact()
	for n, want := range []fault.Code{"", "", fault.RateLimitedArtifact} {
		r, _ := limiter.Poll(t.Context(), a, "live/link")
		if want == "" && r.Refusal == nil {
			continue
		}
		if f := fault.Of(r.Refusal); r.Refusal == nil || f.Code != want || f.RetryAfter != maxLiveWait {
			t.Errorf("poll %d: %v", n, r.Refusal)
		}
	}
	if r := limiter.Artifact(t.Context(), a, "file"); r.Refusal != nil {
		t.Errorf("polls took a read: %v", r.Refusal)
	}
	*now = now.Add(maxLiveWait)
	if r, _ := limiter.Poll(t.Context(), a, "live/link"); r.Refusal != nil {
		t.Errorf("a minute later: %v", r.Refusal)
	}
}

func TestAPollWithoutItsCounterIsUnavailable(t *testing.T) {
	limiter, counters, _ := newLimiter(t)
	counters.err = errOutOfReach
	r, _ := limiter.Poll(t.Context(), id.NewArtifact(), "live/link")
	if fault.CodeOf(r.Refusal) != fault.DatabaseUnavailable {
		t.Errorf("%v", r.Refusal)
	}
}

func TestAHolderThatIsRefusedOftenPollsNoMore(t *testing.T) {
	limiter, counters, _ := newLimiter(t)
	a := id.NewArtifact()
	for range limiter.Limits.Refused.Limit + 1 {
		r, _ := limiter.Poll(t.Context(), a, "live/link")
		if r.Refusal != nil {
			t.Fatal(r.Refusal)
		}
		limiter.GiveBack(t.Context(), r)
	}
	writes := counters.writes
	r, _ := limiter.Poll(t.Context(), a, "live/link")
	if fault.CodeOf(r.Refusal) != fault.RateLimitedArtifact || counters.writes != writes {
		t.Errorf("%v after %d writes", r.Refusal, counters.writes-writes)
	}
	if r, _ := limiter.Poll(t.Context(), a, "live/other"); r.Refusal != nil {
		t.Errorf("another holder: %v", r.Refusal)
	}
}

func TestWithoutLimitsAPageWaitsShortest(t *testing.T) {
	limiter, counters, _ := newLimiter(t)
	limiter.Limits.Off = true
	r, wait := limiter.Poll(t.Context(), id.NewArtifact(), "live/link")
	if r.Refusal != nil || wait != limits.LiveWait || counters.writes > 0 {
		t.Errorf("%v, wait %s, %d writes", r.Refusal, wait, counters.writes)
	}
}

func TestABucketOfPollsFillsWithTime(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	var p PollBucket
	take := func(at time.Time, want time.Duration) {
		t.Helper()
		after, wait := p.Take(at)
		if wait != want {
			t.Errorf("wait %v, want %v", wait, want)
		}
		p = after
	}
	for range limits.PollBurst {
		take(now, 0)
	}
	take(now, limits.PollInterval)
	take(now.Add(limits.PollInterval-time.Second), time.Second)
	take(now.Add(limits.PollInterval), 0)
	take(now.Add(limits.PollInterval+time.Second), limits.PollInterval-time.Second)
	now = now.Add(time.Hour)
	for range limits.PollBurst { // as many as the bucket holds
		take(now, 0)
	}
	take(now, limits.PollInterval)
	take(now.Add(-time.Minute), time.Minute+limits.PollInterval) // a clock that is behind adds no tokens
}
