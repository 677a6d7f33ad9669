package harness

import (
	"sync"
	"time"

	"vitrine/scripts/internal/local/stack"
)

// Clock is the clock of a deployment; the test moves it.
type Clock struct {
	mu  sync.Mutex
	Now time.Time
}

// Use makes this the clock of a deployment.
func (c *Clock) Use(o *stack.Options) {
	o.Now = func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.Now
	}
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Now = c.Now.Add(d)
}
