package fake

import (
	"context"
	"maps"
	"sync"
	"testing"

	"vitrine/shared/platform/id"
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
func (c *Counters) Count(_ context.Context, w rate.Window, add, _ int) (int, bool, error) {
	if c.Full {
		return 0, false, nil
	}
	return c.add(w, add), true, nil
}

// WantSpent expects how many permits reads of an artifact spent: of all its readers, and of those who were refused.
func (c *Counters) WantSpent(t testing.TB, l *rate.Limiter, a id.Artifact, all, refused int) {
	t.Helper()
	gotRefused := c.Counted()["refused"]
	if n := c.spent(l, a); n != all || gotRefused != refused {
		t.Errorf("%d reads of all and %d refusals were counted", n, gotRefused)
	}
}

// spent returns how many permits for reads of an artifact a limiter spent: those that it took, without the one that it
// holds and lets a probe have.
func (c *Counters) spent(l *rate.Limiter, a id.Artifact) int {
	taken := c.Counted()["artifact"]
	if taken == 0 {
		return 0
	}
	l.Artifact(context.Background(), a, "probe")
	if c.Counted()["artifact"] == taken {
		return taken - 1
	}
	return taken
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
