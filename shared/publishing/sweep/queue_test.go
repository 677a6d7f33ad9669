package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/limits"
)

var start = time.Unix(1_800_000_000, 0)

type fakeThing struct{ QueueItem }

func (f fakeThing) String() string { return f.Key }

// things fall due one second after the other, the last one now.
func things(n int) (due []fakeThing) {
	for i := range n {
		due = append(due, fakeThing{QueueItem{Key: fmt.Sprint(i), Due: start.Add(time.Duration(i-n+1) * time.Second)}})
	}
	return due
}

// fakeRows notes what is put off.
type fakeRows struct {
	mu  sync.Mutex
	off map[string]time.Time
	err error
}

func (f *fakeRows) Reschedule(_ context.Context, r QueueItem, until time.Time, _ int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off[r.Key] = until
	return f.err
}

func newRound(rows *fakeRows) round {
	rows.off = map[string]time.Time{}
	return round{rows: rows, now: func() time.Time { return start }, many: 1000}
}

func TestARoundDoesSomeThingsAtOnceAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, did atomic.Int32
		began := time.Now()
		r, err := each(t.Context(), newRound(&fakeRows{}), things(3*limits.JobWorkers), func(context.Context, fakeThing) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(time.Second) // of the bubble
			now.Add(-1)
			did.Add(1)
			return nil
		})
		if err != nil || r.More || r.Due != 3*limits.JobWorkers || did.Load() != 3*limits.JobWorkers {
			t.Errorf("%+v, %v, did %d", r, err, did.Load())
		}
		if most.Load() != limits.JobWorkers || time.Since(began) != 3*time.Second {
			t.Errorf("%d at once, %s", most.Load(), time.Since(began))
		}
		if r.Oldest != time.Duration(3*limits.JobWorkers-1)*time.Second {
			t.Errorf("the oldest has been due for %s", r.Oldest)
		}
	})
}

func TestWhatFailsIsPutOffAndTheRestIsDone(t *testing.T) {
	rows, broken := &fakeRows{}, errors.New("broken")
	var did atomic.Int32
	r, err := each(t.Context(), newRound(rows), things(40), func(_ context.Context, one fakeThing) error {
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
		t.Errorf("%+v, %v, did %d", r, err, did.Load())
	}
	if len(rows.off) != 2 || !rows.off["7"].Equal(start.Add(limits.MinRetry)) || !rows.off["9"].Equal(start) {
		t.Errorf("put off: %v", rows.off)
	}
}

func TestARoundThatCannotPutOffSaysThatNothingGoesOn(t *testing.T) {
	rows := &fakeRows{err: errors.New("no store")}
	round := newRound(rows)
	round.many = 1
	r, err := each(t.Context(), round, things(400), func(context.Context, fakeThing) error { return errors.New("broken") })
	if r.More || !errors.Is(err, rows.err) || len(rows.off) == 400 {
		t.Errorf("%+v, %v after %d", r, err, len(rows.off))
	}
}

func TestARoundWhoseTimeIsOverBeginsNothingNew(t *testing.T) {
	var did atomic.Int32
	round := newRound(&fakeRows{})
	round.over = func() bool { return true }
	r, err := each(t.Context(), round, things(50), func(context.Context, fakeThing) error { did.Add(1); return nil })
	if err != nil || !r.More || did.Load() != 1 {
		t.Errorf("%+v, %v, did %d", r, err, did.Load())
	}
}

func TestAGroupIsDoneInItsOrder(t *testing.T) {
	var mu sync.Mutex
	var did []string
	due := things(30)
	more, err := eachGroup(t.Context(), newRound(&fakeRows{}), [][]fakeThing{due[:10], due[10:20], due[20:]}, func(_ context.Context, one fakeThing) error {
		mu.Lock()
		defer mu.Unlock()
		did = append(did, one.Key)
		return nil
	})
	if more || err != nil || len(did) != 30 {
		t.Fatal(more, err, did)
	}
	for _, group := range [][]fakeThing{due[:10], due[10:20], due[20:]} {
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
