package harness

import (
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/clock"
)

// Clock is the clock of a deployment; the test moves it.
type Clock struct{ *clock.Clock }

// NewClock returns a clock that shows the present.
func NewClock() *Clock { return &Clock{clock.New(time.Now())} }

// Use makes this the clock of a deployment.
func (c *Clock) Use(o *stack.Options) { o.Now = c.Now }
