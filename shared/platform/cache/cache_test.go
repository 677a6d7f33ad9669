package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
)

// away is the code of callers that leave.
var away = fault.DatabaseUnavailable

type number int

// source reads texts of one size and counts how often.
type source struct {
	size  int64
	err   error
	reads atomic.Int32
}

func (s *source) read(context.Context) (string, int64, error) {
	n := s.reads.Add(1)
	return fmt.Sprint("text ", n), s.size, s.err
}

func get(t *testing.T, c *Cache, key number, s *source) string {
	t.Helper()
	text, err := Get(t.Context(), c, key, away, s.read)
	if !errors.Is(err, s.err) {
		t.Fatalf("%v, want %v", err, s.err)
	}
	return text
}

func TestAValueIsReadOnceIfItMayBeKept(t *testing.T) {
	const capacity = 10_000
	for name, c := range map[string]struct {
		cache  *Cache
		source *source
		reads  int32 // of three
	}{
		"one that fits":                {New(capacity), &source{size: 100}, 1},
		"one that fits exactly":        {New(capacity), &source{size: capacity - overhead}, 1},
		"one that is larger":           {New(capacity), &source{size: capacity - overhead + 1}, 3},
		"one that must not be kept":    {New(capacity), &source{}, 3},
		"one that cannot be read":      {New(capacity), &source{size: 100, err: errors.New("broken")}, 3},
		"in a cache that keeps none":   {New(0), &source{size: 100}, 3},
		"in a cache that is too small": {New(1), &source{size: 100}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				get(t, c.cache, 1, c.source)
			}
			if got := c.source.reads.Load(); got != c.reads {
				t.Errorf("it is read %d times, want %d", got, c.reads)
			}
		})
	}
}

func TestTheValueThatWasUsedLongestAgoIsDroppedFirst(t *testing.T) {
	c, s := New(3*(100+overhead)), &source{size: 100}
	for key := range number(3) {
		get(t, c, key, s)
	}
	get(t, c, 0, s) // now 1 is the oldest
	get(t, c, 3, s)
	for _, key := range []number{0, 2, 3} {
		before := s.reads.Load()
		if get(t, c, key, s); s.reads.Load() != before {
			t.Errorf("%d was dropped", key)
		}
	}
	before := s.reads.Load()
	if get(t, c, 1, s); s.reads.Load() == before {
		t.Error("1 was kept")
	}
}

func TestALargeValueDropsAsManyAsItNeeds(t *testing.T) {
	c := New(10 * (100 + overhead))
	for key := range number(10) {
		get(t, c, key, &source{size: 100})
	}
	get(t, c, 10, &source{size: 4 * (100 + overhead)})
	if len(c.entries) != 6 || c.recent.Len() != 6 || c.size > c.capacity {
		t.Errorf("%d entries of %d bytes", len(c.entries), c.size)
	}
}

func TestKeysOfDifferentTypesNeverMeet(t *testing.T) {
	type other int
	c := New(10_000)
	ctx := t.Context()
	one := func(text string) func(context.Context) (string, int64, error) {
		return func(context.Context) (string, int64, error) { return text, 1, nil }
	}
	a, _ := Get(ctx, c, number(1), away, one("a"))
	b, _ := Get(ctx, c, other(1), away, one("b"))
	n, err := Get(ctx, c, number(1), away, func(context.Context) (int, int64, error) { return 7, 1, nil })
	if a != "a" || b != "b" || n != 7 || err != nil {
		t.Errorf("%q %q %d %v", a, b, n, err)
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryStaysBelowTheCapacity reads ten thousand texts of different sizes, small ones too, where the entries
// themselves are most of it.
func TestMemoryStaysBelowTheCapacity(t *testing.T) {
	type key struct{ home, name string }
	for name, step := range map[string]int{"small": 0, "mixed": 2} {
		t.Run(name, func(t *testing.T) {
			const capacity = 4 << 20
			c, before := New(capacity), heap()
			for n := range 10_000 {
				size := 10 + n*step
				k := key{fmt.Sprintf("workspace-%016d", n), fmt.Sprintf("session-%016d", n)}
				_, err := Get(t.Context(), c, k, away, func(context.Context) (string, int64, error) {
					return strings.Repeat("x", size), int64(size + size/8), nil
				})
				if err != nil || c.size > capacity {
					t.Fatalf("%d bytes are kept, %v", c.size, err)
				}
			}
			grown := heap() - before
			if grown > capacity || len(c.entries) == 0 || c.size < capacity*9/10 {
				t.Errorf("%d bytes are in use; %d entries count as %d of %d", grown, len(c.entries), c.size, capacity)
			}
			t.Logf("%d entries count as %d bytes and take %d", len(c.entries), c.size, grown)
			runtime.KeepAlive(c)
		})
	}
}

func TestReadersAtOnceReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, release := New(10_000), &source{size: 100}, make(chan struct{})
		var readers sync.WaitGroup
		for range 50 {
			readers.Go(func() {
				text, err := Get(t.Context(), c, number(1), away, func(ctx context.Context) (string, int64, error) {
					<-release
					return s.read(ctx)
				})
				if text != "text 1" || err != nil {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		readers.Wait()
		if s.reads.Load() != 1 || len(c.fills) != 0 {
			t.Errorf("%d reads, %d under way", s.reads.Load(), len(c.fills))
		}
	})
}

func TestAReaderWhoLeavesFailsNoOther(t *testing.T) {
	type valueKey struct{}
	synctest.Test(t, func(t *testing.T) {
		c, release := New(10_000), make(chan struct{})
		read := func(ctx context.Context) (string, int64, error) {
			<-release
			if end, ok := ctx.Deadline(); !ok || time.Until(end) != maxReadTime || ctx.Value(valueKey{}) != "first" {
				t.Errorf("the read ends at %v, with the value %v", end, ctx.Value(valueKey{}))
			}
			return "text", 4, ctx.Err()
		}
		first, leave := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "first"))
		var readers sync.WaitGroup
		readers.Go(func() {
			if text, err := Get(first, c, number(1), away, read); text != "" || !errors.Is(err, context.Canceled) ||
				fault.CodeOf(err) != away {
				t.Errorf("who left got %q, %v", text, err)
			}
		})
		synctest.Wait()
		for range 5 {
			readers.Go(func() {
				if text, err := Get(t.Context(), c, number(1), away, read); text != "text" || err != nil {
					t.Errorf("who stayed got %q, %v", text, err)
				}
			})
		}
		leave()
		synctest.Wait()
		close(release)
		readers.Wait()
		if c.size != 4+overhead {
			t.Errorf("%d bytes are kept", c.size)
		}
	})
}

func TestAReadThatHangsEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, started := New(10_000), time.Now()
		_, err := Get(t.Context(), c, number(1), away, func(ctx context.Context) (string, int64, error) {
			<-ctx.Done()
			return "half a text", 10, ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != maxReadTime || c.size != 0 {
			t.Errorf("after %v: %v, %d bytes are kept", time.Since(started), err, c.size)
		}
	})
}

func TestAReadThatEndsItsGoroutineFailsItsReaders(t *testing.T) {
	c := New(10_000)
	_, err := Get(t.Context(), c, number(1), away, func(context.Context) (string, int64, error) {
		runtime.Goexit()
		return "text", 4, nil
	})
	if !errors.Is(err, errUnfinished) || c.size != 0 || len(c.fills) != 0 {
		t.Errorf("%v, %d bytes are kept", err, c.size)
	}
}

// TestManyReadersOfManyKeysGetTheirOwn is for the race detector, too: keys are dropped while others are read.
func TestManyReadersOfManyKeysGetTheirOwn(t *testing.T) {
	const keys, kept = 40, 10
	c := New(kept * (20 + overhead))
	var readers sync.WaitGroup
	for reader := range 8 {
		readers.Go(func() {
			for n := range 2_000 {
				key := number((n*7 + reader) % keys)
				want := fmt.Sprint("text of ", int(key))
				text, err := Get(t.Context(), c, key, away, func(context.Context) (string, int64, error) { return want, 20, nil })
				if text != want || err != nil {
					t.Errorf("key %d: %q, %v", key, text, err)
				}
			}
		})
	}
	readers.Wait()
	if len(c.entries) != kept || c.recent.Len() != kept || c.size != c.capacity || len(c.fills) != 0 {
		t.Errorf("%d entries of %d bytes, %d reads under way", len(c.entries), c.size, len(c.fills))
	}
}

func TestAPanicOfAReadIsItsError(t *testing.T) {
	read := func(context.Context) (string, int64, error) { panic("broken") }
	_, err := Get(t.Context(), New(1<<10), number(1), away, read)
	if async.StackOf(err) == nil {
		t.Error(err)
	}
}
