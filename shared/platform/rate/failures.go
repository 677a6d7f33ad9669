package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// FailureLimiter limits the wrong codes of one kind that members type.
type FailureLimiter struct {
	Limiter *Limiter
	Counter FailureCounter
	Kind    string
	Rate    limits.Rate
}

// Allow refuses a member who typed too many wrong codes, even if the next one is right.
func (g FailureLimiter) Allow(ctx context.Context, m id.Member) error {
	wait, err := g.Limiter.Exhausted(ctx, g.Counter, g.Kind, string(m), g.Rate)
	if err == nil && wait > 0 {
		err = guessedOften(wait)
	}
	return err
}

// Record counts a wrong code and returns the error to answer: refusal, or the refusal of the limit
// if this one reached it.
func (g FailureLimiter) Record(ctx context.Context, m id.Member, refusal error) error {
	wait, err := g.Limiter.Allow(ctx, g.Kind, string(m), g.Rate)
	switch {
	case err != nil:
		return err
	case wait > 0:
		return guessedOften(wait)
	}
	return refusal
}

func guessedOften(wait time.Duration) error {
	return fault.New(fault.RateLimitedActor, "too many wrong codes; wait as long as Retry-After says").After(wait)
}
