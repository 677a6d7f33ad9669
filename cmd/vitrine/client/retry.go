package client

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
)

// RetryPolicy says how often and how long the client retries.
type RetryPolicy struct {
	MaxAttempts  int           // attempts of one call, including the first
	MeanWait     time.Duration // mean wait before the second attempt; later waits are longer
	MaxWait      time.Duration // gives up when the server asks for a longer wait
	InFlight     time.Duration // how long to wait for an earlier attempt that the server still processes
	ClockDivisor int64         // divides the times of a sign-in on another device, for tests; 0 is 1
}

// DefaultRetryPolicy returns a policy that outlasts a rate limit of a minute, and the lease of 90 s that an attempt
// which crashed on the server leaves behind.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{
		MaxAttempts: 4,
		MeanWait:    500 * time.Millisecond,
		MaxWait:     time.Minute,
		InFlight:    100 * time.Second,
	}
}

// noteAfter is the shortest wait that is shown to the person.
const noteAfter = time.Second

// retry repeats attempt as long as another one may succeed. All attempts carry the same Idempotency-Key.
func (c *Caller) retry(ctx context.Context, attempt func(context.Context) error) error {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = c.Patience.MeanWait, 10*c.Patience.MeanWait
	var waited time.Duration
	for try := 1; ; try++ {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		f := failure.Of(err)
		wait := max(waits.NextBackOff(), f.RetryAfter)
		if !c.Patience.worth(f, try, waited) {
			return err
		}
		if wait >= noteAfter {
			c.Note("%s; trying again in %s", f.Message, wait.Round(time.Second))
		}
		if err := async.Sleep(ctx, wait); err != nil {
			return err
		}
		waited += wait
	}
}

// keepOn is retry as long as each round of attempts brings new bytes; arrived returns how many there are.
func (c *Caller) keepOn(ctx context.Context, arrived func() int64, attempt func(context.Context) error) error {
	for {
		before := arrived()
		err := c.retry(ctx, attempt)
		if err == nil || arrived() <= before || !failure.Of(err).Transient || ctx.Err() != nil {
			return err
		}
	}
}

// worth reports whether another attempt makes sense after try attempts that waited for this long in total.
func (p RetryPolicy) worth(f *failure.Failure, try int, waited time.Duration) bool {
	if f.Code == fault.IdempotencyInFlight {
		return waited < p.InFlight
	}
	return f.Transient && try < p.MaxAttempts && f.RetryAfter <= p.MaxWait
}

// Pause waits before the caller checks whether a conflict is over, longer each time. It returns false if waiting makes
// no sense any more.
func (d *Deployment) Pause(ctx context.Context, times int) (bool, error) {
	p := d.caller.Patience
	if times >= p.MaxAttempts {
		return false, nil
	}
	return true, async.Sleep(ctx, p.MeanWait<<(times-1))
}

// scale divides a time that the server sets for a sign-in by ClockDivisor.
func (p RetryPolicy) scale(d time.Duration) time.Duration {
	return d / time.Duration(max(p.ClockDivisor, 1))
}
