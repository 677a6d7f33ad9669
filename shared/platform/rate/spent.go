package rate

import (
	"context"
	"time"

	"vitrine/shared/platform/limits"
)

// Tries counts what was guessed wrong, or refused.
type Tries interface {
	// Tried tells, strongly, how many were counted in a window.
	Tried(ctx context.Context, w Window) (int, error)
}

// Spent tells, without counting, how long a subject has to wait that was allowed something as often as it may be; zero: it
// may go on. Where only failures are counted it keeps those from being served who had too many.
func (l *Limiter) Spent(ctx context.Context, tries Tries, kind, subject string, r limits.Rate) (wait time.Duration, err error) {
	if l.Limits.Off {
		return 0, nil
	}
	now := l.Now()
	w := WindowAt(kind, "", subject, r.Window, now)
	n, err := tries.Tried(ctx, w)
	if err != nil || n < r.Limit {
		return 0, err
	}
	return w.End.Sub(now), nil
}
