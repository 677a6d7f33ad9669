package rate

import (
	"time"

	"vitrine/shared/platform/limits"
)

// Polls is a bucket of polls that may come at once, as of an instant: it holds limits.PollBurst and gets one back per
// limits.PollInterval. Its zero value is full.
type Polls struct {
	Left int
	At   time.Time // when the newest of them was added
}

// Take takes a poll out; wait tells how long an empty bucket takes for the next one.
func (p Polls) Take(now time.Time) (after Polls, wait time.Duration) {
	gained := max(0, now.Sub(p.At)/limits.PollInterval)
	if have := time.Duration(p.Left) + gained; have < limits.PollBurst {
		p = Polls{int(have), p.At.Add(gained * limits.PollInterval)}
	} else {
		p = Polls{limits.PollBurst, now}
	}
	if p.Left == 0 {
		return p, p.At.Add(limits.PollInterval).Sub(now)
	}
	p.Left--
	return p, 0
}
