package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/limits"
)

// FailureCounter counts failures: wrong guesses and refusals.
type FailureCounter interface {
	// Failures returns, by a consistent read, how many were counted in a window.
	Failures(ctx context.Context, w Window) (int, error)
}

// Exhausted returns how long a subject that reached a limit has to wait, zero if it may go on. It
// does not count. Where only failures are counted it stops serving a subject that had too many.
func (l *Limiter) Exhausted(
	ctx context.Context,
	tries FailureCounter,
	kind, subject string,
	r limits.Rate,
) (wait time.Duration, err error) {
	if l.Limits.Off {
		return 0, nil
	}
	now := l.Now()
	w := WindowAt(kind, "", subject, r.Window, now)
	n, err := tries.Failures(ctx, w)
	if err != nil || n < r.Limit {
		return 0, err
	}
	return w.End.Sub(now), nil
}
