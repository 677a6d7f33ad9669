package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/limits"
)

// FailureCounter counts what was guessed wrong, or refused.
type FailureCounter interface {
	// Failures tells, strongly, how many were counted in a window.
	Failures(ctx context.Context, w Window) (int, error)
}

// Exhausted tells, without counting, how long a subject has to wait that was allowed something as often as it may be; zero: it
// may go on. Where only failures are counted it keeps those from being served who had too many.
func (l *Limiter) Exhausted(ctx context.Context, tries FailureCounter, kind, subject string, r limits.Rate) (wait time.Duration, err error) {
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
