package harness

import (
	"sync"
	"time"

	"vitrine/scripts/internal/local/stack"
)

// Clock is a deployment's clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	Now time.Time
}

func (c *Clock) Use(o *stack.Options) {
	o.Now = func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.Now
	}
}

func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Now = c.Now.Add(d)
}
