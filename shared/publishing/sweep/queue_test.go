package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

var start = time.Unix(1_800_000_000, 0)

type fakeItem struct{ QueueItem }

func (f fakeItem) String() string { return f.Key }

// items fall due one second after the other, the last one now.
func items(n int) (due []fakeItem) {
	for i := range n {
		due = append(due, fakeItem{QueueItem{Key: fmt.Sprint(i), Due: start.Add(time.Duration(i-n+1) * time.Second)}})
	}
	return due
}

// fakeQueue records what is rescheduled.
type fakeQueue struct {
	mu  sync.Mutex
	off map[string]time.Time
	err error
}

func (f *fakeQueue) Reschedule(_ context.Context, r QueueItem, until time.Time, _ int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off[r.Key] = until
	return f.err
}

func newRound(rows *fakeQueue) round {
	rows.off = map[string]time.Time{}
	return round{rows: rows, now: func() time.Time { return start }, many: 1000}
}

func TestARoundDoesSomeItemsAtOnceAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, did atomic.Int32
		began := time.Now()
		due := items(3 * limits.JobWorkers)
		r, err := each(t.Context(), newRound(&fakeQueue{}), due, func(context.Context, fakeItem) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(time.Second) // of the bubble
			now.Add(-1)
			did.Add(1)
			return nil
		})
		if err != nil || r.More || r.Due != 3*limits.JobWorkers || did.Load() != 3*limits.JobWorkers {
			t.Errorf("%+v, %v, did %d, want all rows", r, err, did.Load())
		}
		if most.Load() != limits.JobWorkers || time.Since(began) != 3*time.Second {
			t.Errorf("%d at once, %s", most.Load(), time.Since(began))
		}
		if r.Oldest != time.Duration(3*limits.JobWorkers-1)*time.Second {
			t.Errorf("the oldest has been due for %s", r.Oldest)
		}
	})
}

func TestWhatFailsIsRescheduledAndTheRestIsDone(t *testing.T) {
	rows, broken := &fakeQueue{}, errors.New("broken")
	var did atomic.Int32
	r, err := each(t.Context(), newRound(rows), items(40), func(_ context.Context, one fakeItem) error {
		if one.Key == "7" {
			return broken
		}
		if one.Key == "9" {
			return errUnfinished
		}
		did.Add(1)
		return nil
	})
	if !errors.Is(err, broken) || errors.Is(err, errUnfinished) || !r.More || did.Load() != 38 {
		t.Errorf("%+v, %v, did %d, want 38 rows, and the error", r, err, did.Load())
	}
	if len(rows.off) != 2 || !rows.off["7"].Equal(start.Add(limits.MinRetry)) || !rows.off["9"].Equal(start) {
		t.Errorf("put off: %v", rows.off)
	}
}

func TestARoundThatCannotRescheduleReportsNoMore(t *testing.T) {
	rows := &fakeQueue{err: errors.New("no store")}
	round := newRound(rows)
	round.many = 1
	r, err := each(t.Context(), round, items(400), func(context.Context, fakeItem) error { return errors.New("broken") })
	if r.More || !errors.Is(err, rows.err) || len(rows.off) == 400 {
		t.Errorf("%+v, %v after %d, want the queue's error", r, err, len(rows.off))
	}
}

func TestARoundWhoseTimeIsOverStartsNoFurtherItem(t *testing.T) {
	var did atomic.Int32
	round := newRound(&fakeQueue{})
	round.over = func() bool { return true }
	r, err := each(t.Context(), round, items(50), func(context.Context, fakeItem) error { did.Add(1); return nil })
	if err != nil || !r.More || did.Load() != 1 {
		t.Errorf("%+v, %v, did %d, want one row, and more", r, err, did.Load())
	}
}

func TestAGroupIsDoneInItsOrder(t *testing.T) {
	var mu sync.Mutex
	var did []string
	due := items(30)
	groups := [][]fakeItem{due[:10], due[10:20], due[20:]}
	more, err := eachGroup(t.Context(), newRound(&fakeQueue{}), groups, func(_ context.Context, one fakeItem) error {
		mu.Lock()
		defer mu.Unlock()
		did = append(did, one.Key)
		return nil
	})
	if more || err != nil || len(did) != 30 {
		t.Fatal(more, err, did)
	}
	for _, group := range groups {
		last := -1
		for _, one := range group {
			at := slices.Index(did, one.Key)
			if at < last {
				t.Errorf("%s came before the one in front of it: %v", one.Key, did)
			}
			last = at
		}
	}
}

func TestAPanicFailsItsItemAlone(t *testing.T) {
	rows := &fakeQueue{}
	var did atomic.Int32
	_, err := each(t.Context(), newRound(rows), items(9), func(_ context.Context, one fakeItem) error {
		if one.Key == "7" {
			panic("broken")
		}
		did.Add(1)
		return nil
	})
	if async.StackOf(err) == nil || did.Load() != 8 || len(rows.off) != 1 || rows.off["7"].IsZero() {
		t.Errorf("%v, did %d, rescheduled %v", err, did.Load(), rows.off)
	}
}

func TestAPanicWhileAFileIsReadAheadIsItsError(t *testing.T) {
	files := tree.Tree{
		{Path: "a", Size: 1, SHA256: tree.DigestOf("a")},
		{Path: "b", Size: 1, SHA256: tree.DigestOf("b")},
	}
	a := readAhead(t.Context(), files, func(_ context.Context, f tree.File) (io.ReadCloser, error) {
		if f.Path == "b" {
			panic("broken")
		}
		return io.NopCloser(strings.NewReader(f.Path)), nil
	})
	defer a.stop()
	_, err := a.next(files[0])
	_, err2 := a.next(files[1])
	if err != nil || async.StackOf(err2) == nil {
		t.Errorf("%v, then %v", err, err2)
	}
}
