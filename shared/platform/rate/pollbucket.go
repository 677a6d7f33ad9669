package rate

import (
	"time"

	"vitrine/shared/platform/limits"
)

// PollBucket is the state of a token bucket of polls at an instant. It holds up to limits.PollBurst tokens and gains
// one each limits.PollInterval. Its zero value is full.
type PollBucket struct {
	Left int
	At   time.Time // when the newest token was added
}

// Take takes a token. wait is 0, or how long an empty bucket takes to gain the next one.
func (p PollBucket) Take(now time.Time) (after PollBucket, wait time.Duration) {
	gained := max(0, now.Sub(p.At)/limits.PollInterval)
	if have := time.Duration(p.Left) + gained; have < limits.PollBurst {
		p = PollBucket{int(have), p.At.Add(gained * limits.PollInterval)}
	} else {
		p = PollBucket{limits.PollBurst, now}
	}
	if p.Left == 0 {
		return p, p.At.Add(limits.PollInterval).Sub(now) // a refused poll takes no token, so waiting always helps
	}
	p.Left--
	return p, 0
}
