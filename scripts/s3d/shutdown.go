package main

import (
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v3"
)

// settle is for how long no request may be under way before the server ends, because the rest of an answer is written
// after its request has left the count.
const settle = 250 * time.Millisecond

// requests counts those that are being answered.
type requests struct{ now atomic.Int64 }

func (r *requests) count(c fiber.Ctx) error {
	r.now.Add(1)
	defer r.now.Add(-1)
	return c.Next()
}

// end shuts a server down, and does not wait for connections that were never used: Go's clients open some and keep them
// for later, and versitygw would wait for them until its limit.
func (r *requests) end(shutDown func() error) error {
	done := make(chan error, 1)
	go func() { done <- shutDown() }()
	tick := time.NewTicker(settle / 25)
	defer tick.Stop()
	for quiet := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case now := <-tick.C:
			if r.now.Load() > 0 {
				quiet = now
			}
			if now.Sub(quiet) >= settle {
				return nil
			}
		}
	}
}
