package rate

import (
	"testing"
	"time"

	"vitrine/shared/platform/limits"
)

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
