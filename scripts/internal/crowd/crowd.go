// Package crowd lets agents and people work on a site, writes down what was acknowledged to them, and asks for it
// afterwards.
package crowd

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/scripts/testkit/wire"
)

const (
	requestTimeout = 30 * time.Second
	maxStep        = 2 * requestTimeout   // of a worker, after the end
	waitEvery      = 5 * time.Millisecond // for what workers do
	maxLoad        = 30 * time.Minute     // for ten thousand artifacts on a busy machine
)

// Crowd is workers on one site.
type Crowd struct {
	Workers []*Worker
	Allowed atomic.Int64 // artifacts that may be made
	made    atomic.Int64
	working sync.WaitGroup
	end     context.CancelFunc // nil: they have not begun
}

// New returns the workers of a site that runs. Random decides what each of them does.
func New(ctx context.Context, s *Site, random *rand.Rand, size int) (*Crowd, error) {
	found, err := wire.Discover(ctx, newHTTP(), s.stack.Origins.API)
	if err != nil {
		return nil, err
	}
	c := &Crowd{}
	for n := range size {
		c.Workers = append(c.Workers, &Worker{
			name:   n,
			random: rand.New(rand.NewPCG(random.Uint64(), random.Uint64())),
			permit: c.permit,
			anyone: &wire.Agent{HTTP: newHTTP(), At: found.At},
		})
	}
	return c, nil
}

func newHTTP() *http.Client {
	return &http.Client{
		Timeout:       requestTimeout,
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// permit takes one of the artifacts that may be made.
func (c *Crowd) permit() bool {
	if c.made.Add(1) <= c.Allowed.Load() {
		return true
	}
	c.made.Add(-1)
	return false
}

// Start lets everybody work until ctx ends or Stop is called.
func (c *Crowd) Start(ctx context.Context) {
	ctx, c.end = context.WithCancel(ctx)
	for _, w := range c.Workers {
		c.working.Go(func() { w.work(ctx) })
	}
}

// Stop returns when everybody has finished the step that was under way. It may be called again, and on nil.
func (c *Crowd) Stop() error {
	if c == nil || c.end == nil {
		return nil
	}
	c.end()
	ended := make(chan struct{})
	go func() {
		c.working.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(maxStep):
		return errors.New("workers hang although every request has a deadline")
	}
}

// Allow raises the number of artifacts that may be made, and returns when nearly all of them are.
func (c *Crowd) Allow(ctx context.Context, n int) error {
	ctx, done := context.WithTimeoutCause(ctx, maxLoad, errors.New("the workers do not get on although everything runs"))
	defer done()
	c.Allowed.Store(int64(n))
	for tick := time.Tick(waitEvery); c.made.Load() < int64(n); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick:
		}
	}
	return nil
}
