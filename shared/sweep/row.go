package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/shared/limits"
)

// Row is where something stands in the list of what is due.
type Row struct {
	Key      string    // of the store's own making
	Due      time.Time // as it was read
	Failures int       // in a row, up to then
}

func (r Row) row() Row { return r }

// Rows is what all jobs need of the list.
type Rows interface {
	// PutOff lets something fall due at another instant, after so many failures, unless it was moved or taken off the list
	// since it was read.
	PutOff(ctx context.Context, r Row, until time.Time, failures int) error
}

// thing is something that falls due, which can say what it is.
type thing interface {
	row() Row
	fmt.Stringer
}

// errUnfinished says that a round ended before the thing did. What was done of it stays done.
var errUnfinished = errors.New("the round is over")

// round does what is due, the oldest first, as long as there is time for it.
type round struct {
	rows Rows
	now  func() time.Time
	over func() bool // nil: there is time for all of it
	many int         // from as many on, others may wait
}

// each does one thing after the other. What fails is put off, for longer each time, and what does not end goes behind
// all others that are due now, so that neither is in the way. more tells that others may wait; it is false if nothing can
// be put off, because whatever fails would come again at once.
func each[T thing](ctx context.Context, r round, due []T, do func(context.Context, T) error) (more bool, err error) {
	var failed []error
	more = len(due) >= r.many
	for n, one := range due {
		if n > 0 && r.over != nil && r.over() {
			return true, errors.Join(failed...)
		}
		err := do(ctx, one)
		if err == nil {
			continue
		}
		until, failures := r.now().Add(retryAfter(one.row().Failures)), one.row().Failures+1
		if errors.Is(err, errUnfinished) {
			until, failures, more = r.now(), one.row().Failures, true
		} else {
			failed = append(failed, fmt.Errorf("%v: %w", one, err))
		}
		if err := r.rows.PutOff(ctx, one.row(), until, failures); err != nil {
			return false, errors.Join(append(failed, err)...)
		}
	}
	return more, errors.Join(failed...)
}

// retryAfter is how long something waits that failed once more than it had before.
func retryAfter(failures int) time.Duration {
	wait := limits.RetryFirst
	for ; failures > 0 && wait < limits.RetryMost; failures-- {
		wait *= 2
	}
	return min(wait, limits.RetryMost)
}
