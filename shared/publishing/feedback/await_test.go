package feedback

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/id"
)

// counted is a store whose Seq is the number of reads.
type counted struct {
	Store
	reads int64
	fail  error
}

func (c *counted) Seq(context.Context, id.Artifact) (int64, error) {
	c.reads++
	return c.reads, c.fail
}

func TestAWaitEndsWithAChangeOrItsTime(t *testing.T) {
	failed := errors.New("down")
	for name, c := range map[string]struct {
		since   int64
		most    time.Duration
		fail    error
		changed bool
		reads   int64
		took    time.Duration
	}{
		"a change":      {2, time.Minute, nil, true, 3, 3 * awaitEvery},
		"none":          {9, 3 * time.Second, nil, false, 2, 3 * time.Second},
		"no time":       {0, 0, nil, false, 0, 0},
		"a failed read": {9, time.Minute, failed, false, 1, awaitEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, begun := &counted{fail: c.fail}, time.Now()
			s := Service{Store: store}
			changed, err := s.Await(t.Context(), "art_1", c.since, c.most)
			if changed != c.changed || !errors.Is(err, c.fail) || store.reads != c.reads || time.Since(begun) != c.took {
				t.Errorf("%s: %t, %v after %d reads and %v", name, changed, err, store.reads, time.Since(begun))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := s.Await(ctx, "art_1", 99, time.Minute); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: the caller has left: %v", name, err)
			}
		})
	}
}
