package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/shared/platform/limits"
)

// QueueItem is where something stands in the list of what is due.
type QueueItem struct {
	Key      string    // of the store's own making
	Due      time.Time // as it was read
	Failures int       // in a row, up to then
}

func (r QueueItem) queueItem() QueueItem { return r }

// Queue is what all jobs need of the list.
type Queue interface {
	// Reschedule lets something fall due at another instant, after so many failures, unless it was moved or taken off the list
	// since it was read.
	Reschedule(ctx context.Context, r QueueItem, until time.Time, failures int) error
}

// queued is something that falls due, which can say what it is.
type queued interface {
	queueItem() QueueItem
	fmt.Stringer
}

// Round is what one round found of a kind of work.
type Round struct {
	Due    int           // how many things were due
	Oldest time.Duration // how long the oldest of them has been due
	More   bool          // whether others may wait
}

// foundIn describes what was due at an instant, the oldest first.
func foundIn[T queued](due []T, now time.Time) Round {
	r := Round{Due: len(due)}
	if len(due) > 0 {
		r.Oldest = max(0, now.Sub(due[0].queueItem().Due))
	}
	return r
}

// Join adds up the rounds of two kinds of work.
func (r Round) Join(other Round) Round {
	return Round{
		Due:    r.Due + other.Due,
		Oldest: max(r.Oldest, other.Oldest),
		More:   r.More || other.More,
	}
}

// errUnfinished says that a round ended before the thing did. What was done of it stays done.
var errUnfinished = errors.New("the round is over")

// round does what is due, the oldest first, as long as there is time for it.
type round struct {
	rows Queue
	now  func() time.Time
	over func() bool // nil: there is time for all of it
	many int         // from as many on, others may wait
}

// each does limits.JobWorkers things at once; the conditions of the store make that safe, as they do for two processes.
// What fails is put off, for longer each time, and what does not end goes behind all others that are due now, so that
// neither is in the way. Round.More is false if nothing can be put off, because whatever fails would come again at once.
func each[T queued](ctx context.Context, r round, due []T, do func(context.Context, T) error) (Round, error) {
	found := foundIn(due, r.now())
	one := make([][]T, len(due))
	for n := range due {
		one[n] = due[n : n+1]
	}
	more, err := eachGroup(ctx, r, one, do)
	found.More = more
	return found, err
}

// eachGroup is each for groups of things, of which one worker does one after the other.
func eachGroup[T queued](ctx context.Context, r round, groups [][]T, do func(context.Context, T) error) (more bool, err error) {
	w := work{round: r}
	var workers errgroup.Group
	workers.SetLimit(limits.JobWorkers)
	total := 0
	for n, group := range groups {
		total += len(group)
		if w.stuck.Load() {
			break
		}
		if n > 0 && r.over != nil && r.over() {
			w.wait.Store(true)
			break
		}
		workers.Go(func() error {
			for _, one := range group {
				w.done(ctx, one, do(ctx, one))
			}
			return nil
		})
	}
	_ = workers.Wait() // failures are in w
	return !w.stuck.Load() && (w.wait.Load() || total >= r.many), errors.Join(w.failed...)
}

// work is what came of a round.
type work struct {
	round
	wait  atomic.Bool // something goes on in the next round
	stuck atomic.Bool // nothing can be put off

	mu     sync.Mutex
	failed []error
}

// done notes what came of one thing, and puts it off unless it ended.
func (w *work) done(ctx context.Context, one queued, err error) {
	if err == nil {
		return
	}
	until, failures := w.now().Add(retryAfter(one.queueItem().Failures)), one.queueItem().Failures+1
	if errors.Is(err, errUnfinished) {
		until, failures = w.now(), one.queueItem().Failures
		w.wait.Store(true)
	} else {
		w.fail(fmt.Errorf("%v: %w", one, err))
	}
	if err := w.rows.Reschedule(ctx, one.queueItem(), until, failures); err != nil {
		w.stuck.Store(true)
		w.fail(err)
	}
}

func (w *work) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = append(w.failed, err)
}

// retryAfter is how long something waits that failed once more than it had before.
func retryAfter(failures int) time.Duration {
	wait := limits.MinRetry
	for ; failures > 0 && wait < limits.MaxRetry; failures-- {
		wait *= 2
	}
	return min(wait, limits.MaxRetry)
}
