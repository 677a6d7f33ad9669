package rate

import (
	"context"
	"math/rand/v2"
	"time"
)

// waitStream is the kind of stream of a request that waits.
const waitStream = "wait"

// Wait reports whether a request may wait for at most a time. It may not while another request of the caller waits, nor if
// the store is unavailable. end ends the wait, as the release of Acquire does.
func (s *Streams) Wait(ctx context.Context, caller string, most time.Duration) (end func(), ok bool) {
	if s.Limits.Off {
		return func() {}, true
	}
	now := s.Now()
	w := Stream{
		Kind:    waitStream,
		Subject: caller,
		Until:   now.Add(most - time.Duration(rand.Int64N(int64(time.Millisecond)))), // unique, as in acquire
	}
	_, ok, err := s.Store.AcquireStream(ctx, w, 1, now)
	return func() { s.release(ctx, w) }, ok && err == nil
}
