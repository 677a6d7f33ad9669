package fake

import (
	"context"
	"maps"
	"sync"

	"vitrine/shared/platform/rate"
)

// Counters count by kind of window, unless every window is full.
type Counters struct {
	Full bool

	mu      sync.Mutex
	counted map[string]int
}

var _ rate.Counters = &Counters{}

// Count implements rate.Counters.
func (c *Counters) Count(_ context.Context, w rate.Window, _ int) (int, bool, error) {
	if c.Full {
		return 0, false, nil
	}
	return c.add(w, 1), true, nil
}

// Uncount implements rate.Counters.
func (c *Counters) Uncount(_ context.Context, w rate.Window) error {
	c.add(w, -1)
	return nil
}

// Counted returns what was counted, by kind.
func (c *Counters) Counted() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counted)
}

func (c *Counters) add(w rate.Window, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counted == nil {
		c.counted = map[string]int{}
	}
	c.counted[w.Kind] += n
	return c.counted[w.Kind]
}
