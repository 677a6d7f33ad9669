package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
)

// QueueItem is the position of an item in the queue of due work.
type QueueItem struct {
	Key      string    // opaque, made by the store
	Due      time.Time // when it was read
	Failures int       // in a row, when it was read
}

func (i QueueItem) queueItem() QueueItem { return i }

// Queue postpones work.
type Queue interface {
	// Reschedule makes an item due at another instant and records its failures. It has no effect if the item was moved or
	// removed since it was read.
	Reschedule(ctx context.Context, r QueueItem, until time.Time, failures int) error
}

// queued is an item of the queue that names itself in errors.
type queued interface {
	queueItem() QueueItem
	fmt.Stringer
}

// Round describes one round of one kind of work.
type Round struct {
	Due    int           // how many items were due
	Oldest time.Duration // how long the oldest of them has been due
	More   bool          // whether more items may be due
}

// summarize describes what was due, oldest first, at an instant.
func summarize[T queued](due []T, now time.Time) Round {
	r := Round{Due: len(due)}
	if len(due) > 0 {
		r.Oldest = max(0, now.Sub(due[0].queueItem().Due))
	}
	return r
}

// errUnfinished means that the round ended before the item was finished. The finished part is kept.
var errUnfinished = errors.New("the round is over")

// round processes due items, oldest first, until it is over.
type round struct {
	rows Queue
	now  func() time.Time
	over func() bool // nil: never
	many int         // as many items suggest that more are due
	// workers is how many items are processed at once; 0: limits.JobWorkers
	workers int
}

// run does one round of up to n due items, which read returns.
// maxRoundTime is how long a round of purges or removals starts new ones.
const maxRoundTime = 10 * time.Second

func run[T queued](
	ctx context.Context, r round, n int, read func(context.Context, time.Time, int) ([]T, error),
	do func(context.Context, T) error,
) (Round, error) {
	due, err := read(ctx, r.now(), n)
	if err != nil {
		return Round{}, err
	}
	r.many = n / limits.QueueShards // what one shard returns when it has more
	return each(ctx, r, due, do)
}

// each processes several items at once, which is safe because every write is conditional. It reschedules a failed item
// with a growing delay, and an unfinished one to now, behind all other due items, so that neither delays the rest.
// Round.More is false if an item cannot be rescheduled, because that item would fail again at once.
func each[T queued](ctx context.Context, r round, due []T, do func(context.Context, T) error) (Round, error) {
	found := summarize(due, r.now())
	one := make([][]T, len(due))
	for n := range due {
		one[n] = due[n : n+1]
	}
	more, err := eachGroup(ctx, r, one, do)
	found.More = more
	return found, err
}

// eachGroup processes groups as each processes items. One worker takes the items of a group in order.
func eachGroup[T queued](
	ctx context.Context, r round, groups [][]T, do func(context.Context, T) error,
) (more bool, err error) {
	w := work{round: r}
	workers, _ := async.WithContext(ctx)
	workers.SetLimit(cmp.Or(r.workers, limits.JobWorkers))
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
				w.record(ctx, one, async.Run(func() error { return do(ctx, one) }))
			}
			return nil
		})
	}
	err = workers.Wait() // only a panic while an item was rescheduled, because other errors are in w
	w.stuck.CompareAndSwap(false, err != nil)
	return !w.stuck.Load() && (w.wait.Load() || total >= r.many), errors.Join(append(w.failed, err)...)
}

// work collects the results of a round.
type work struct {
	round
	wait  atomic.Bool // some items are left for the next round
	stuck atomic.Bool // an item could not be rescheduled

	mu     sync.Mutex
	failed []error
}

// record keeps the error of an item and reschedules the item. It returns at once if err is nil.
func (w *work) record(ctx context.Context, one queued, err error) {
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

// retryAfter returns the delay before the next attempt of an item that failed again after that many failures in a row.
func retryAfter(failures int) time.Duration {
	wait := limits.MinRetry
	for ; failures > 0 && wait < limits.MaxRetry; failures-- {
		wait *= 2
	}
	return min(wait, limits.MaxRetry)
}
