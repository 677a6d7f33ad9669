package pow

import (
	"context"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Gate counts what people without an account send, and asks for proof of work where much of it arrives.
type Gate struct {
	Pow      *Service
	Limiter  *rate.Limiter
	Counters Counters
	Limits   *limits.Limits
	Now      func() time.Time
}

// Counters reads how much of all senders was counted.
type Counters interface {
	// CountOf returns the count of a window. An eventually consistent read will do.
	CountOf(ctx context.Context, w rate.Window) (int, error)
}

// Proof is a solved challenge.
type Proof struct {
	Challenge contract.Challenge
	Solution  contract.Solution
}

// Count is a limit and its subject.
type Count struct {
	limits.Rate
	Subject string
}

// Admit counts a request of a sender under own, asks for proof of work if it is due, and counts the request of all senders
// under all. proof is nil if none was sent. Errors: rate_limited_actor, *Required with the time until no work is required,
// pow_invalid, database_unavailable.
func (g *Gate) Admit(ctx context.Context, own, all Count, proof *Proof) error {
	if g.Limits.Off {
		return nil
	}
	sent, err := g.Limiter.Count(ctx, own.Rate, own.Subject)
	if err != nil {
		return err
	}
	if err := g.work(ctx, own, all, sent, proof); err != nil {
		return err
	}
	return g.Limiter.Take(ctx, all.Rate, all.Subject)
}

// work checks the proof of work that was sent, or asks for one if it is due.
func (g *Gate) work(ctx context.Context, own, all Count, sent int, proof *Proof) error {
	switch {
	case g.Limits.Pow == limits.PowOff:
		return nil
	case proof != nil:
		return g.Pow.Check(ctx, proof.Challenge, proof.Solution)
	}
	now := g.Now()
	every := rate.WindowOf(all.Rate, all.Subject, now)
	passed, err := g.Counters.CountOf(ctx, every)
	if err != nil {
		return fault.Wrap(fault.DatabaseUnavailable, err, "%s cannot be counted now; try again in a moment", all.Events)
	}
	var wait time.Duration
	if sent > limits.PowFree {
		wait = rate.WindowOf(own.Rate, own.Subject, now).End.Sub(now)
	}
	if passed*5 > all.Limit { // more than a fifth of the limit of all senders
		wait = max(wait, every.End.Sub(now))
	}
	switch {
	case passed*5 > all.Limit*4: // more than four fifths
		return g.ask(limits.PowBitsBusy, all.Events, wait)
	case wait > 0, g.Limits.Pow == limits.PowAlways:
		return g.ask(limits.PowBits, all.Events, wait)
	}
	return nil
}

// ask returns a request for proof of work. None is required any more after wait.
func (g *Gate) ask(difficulty int, of string, wait time.Duration) *Required {
	required := g.Pow.Ask(difficulty, "many "+of+" arrive")
	required.Fault = required.After(wait)
	return required
}
