package abuse

import (
	"context"
	"time"

	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// admit counts a request for its sender, asks for proof of work if it is due, and counts the request for all senders.
func (s *Service) admit(ctx context.Context, reporter string, p *Proof) error {
	if s.Limits.Off {
		return nil
	}
	sent, err := s.Limiter.Count(ctx, s.Limits.Report, reporter)
	if err != nil {
		return err
	}
	if err := s.work(ctx, reporter, sent, p); err != nil {
		return err
	}
	return s.Limiter.Take(ctx, s.Limits.Reports, "all")
}

// work checks the proof of work that was sent, or asks for one if it is due.
func (s *Service) work(ctx context.Context, reporter string, sent int, p *Proof) error {
	switch {
	case s.Limits.Pow == limits.PowOff:
		return nil
	case p != nil:
		return s.Pow.Check(ctx, p.Challenge, p.Solution)
	}
	now := s.Now()
	all := rate.WindowOf(s.Limits.Reports, "all", now)
	passed, err := s.Counters.CountOf(ctx, all)
	if err != nil {
		return fault.Wrap(fault.DatabaseUnavailable, err, "reports cannot be counted now; try again in a moment")
	}
	most := s.Limits.Reports.Limit
	own := rate.WindowOf(s.Limits.Report, reporter, now)
	var wait time.Duration
	if sent > limits.PowFree {
		wait = own.End.Sub(now)
	}
	if passed*5 > most { // more than a fifth of the limit of all senders
		wait = max(wait, all.End.Sub(now))
	}
	switch {
	case passed*5 > most*4: // more than four fifths
		return s.ask(limits.PowBitsBusy, wait)
	case wait > 0, s.Limits.Pow == limits.PowAlways:
		return s.ask(limits.PowBits, wait)
	}
	return nil
}

// ask returns a request for proof of work. None is required any more after wait.
func (s *Service) ask(difficulty int, wait time.Duration) *pow.Required {
	required := s.Pow.Ask(difficulty, "many reports arrive")
	required.Fault = required.After(wait)
	return required
}
