package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Guesses counts codes of one kind that members type wrong.
type Guesses struct {
	Limiter *Limiter
	Tries   Tries
	Kind    string
}

// Open refuses a member who typed too many wrong ones, whatever they type next.
func (g Guesses) Open(ctx context.Context, m id.Member) error {
	wait, err := g.Limiter.Spent(ctx, g.Tries, g.Kind, string(m), g.Limiter.Limits.WrongCode)
	if err == nil && wait > 0 {
		err = guessedOften(wait)
	}
	return err
}

// Wrong counts one more and answers it: with refusal, unless it was one too many.
func (g Guesses) Wrong(ctx context.Context, m id.Member, refusal error) error {
	wait, err := g.Limiter.Allow(ctx, g.Kind, string(m), g.Limiter.Limits.WrongCode)
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
