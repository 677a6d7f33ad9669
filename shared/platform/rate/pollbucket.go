package rate

import (
	"time"

	"vitrine/shared/platform/limits"
)

// PollBucket is a bucket of polls that may come at once, as of an instant: it holds limits.PollBurst and gets one back per
// limits.PollInterval. Its zero value is full.
type PollBucket struct {
	Left int
	At   time.Time // when the newest of them was added
}

// Take takes a poll out; wait tells how long an empty bucket takes for the next one.
func (p PollBucket) Take(now time.Time) (after PollBucket, wait time.Duration) {
	gained := max(0, now.Sub(p.At)/limits.PollInterval)
	if have := time.Duration(p.Left) + gained; have < limits.PollBurst {
		p = PollBucket{int(have), p.At.Add(gained * limits.PollInterval)}
	} else {
		p = PollBucket{limits.PollBurst, now}
	}
	if p.Left == 0 {
		return p, p.At.Add(limits.PollInterval).Sub(now)
	}
	p.Left--
	return p, 0
}
