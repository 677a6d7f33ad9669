// Package runtime runs Lambda functions as processes of this machine and serves the Runtime API to them.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Config describes a function.
type Config struct {
	Name    string // the prefix of its lines in Log, and part of its ARN
	Program string // the bootstrap
	// Environment is everything that is set for a process, in addition to what Lambda sets. It
	// includes the region and the keys.
	Environment map[string]string
	Timeout     time.Duration // of one invocation
	MemoryMB    int           // set for the function, not enforced
	// Processes is how many invocations run at once, one a process; Waiting is how many more may wait.
	Processes, Waiting int
	// Log receives what the processes print, in whole lines, from several goroutines.
	Log io.Writer
}

// Limits of Lambda.
const (
	MaxEvent    = 6 << 20     // bytes
	MaxAnswer   = 6<<20 + 100 // bytes of one that is not streamed
	initTimeout = 10 * time.Second
)

var (
	// ErrThrottled refuses an invocation because too many wait already.
	ErrThrottled = errors.New("all processes of the function are busy, and enough invocations wait for one")
	// ErrEventTooLarge refuses an event above MaxEvent.
	ErrEventTooLarge = errors.New("the event is too large")
	// ErrClosed refuses an invocation because the function is closed.
	ErrClosed = errors.New("the function is closed")
)

// Failure is the error of an invocation that the function failed.
type Failure struct {
	Type    string `json:"errorType"` // Lambda's own begin with "Runtime.", "Function." or "Sandbox."
	Message string `json:"errorMessage"`
}

// Error implements error.
func (f *Failure) Error() string { return f.Type + ": " + f.Message }

// Function is a pool of processes. They start on demand, and again after they ended.
type Function struct {
	Config

	mu     sync.Mutex
	live   map[*process]bool
	idle   []*process // those that wait for an invocation; the last is used first, as Lambda does
	queue  []*invocation
	closed bool
}

// New returns a function without a process.
func New(c Config) *Function { return &Function{Config: c, live: map[*process]bool{}} }

// Invoke passes an event to a process and returns the complete answer. An error is a *Failure, one
// of the package's, or that of ctx; a function whose caller leaves runs on.
func (f *Function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	a, err := f.Stream(ctx, event)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	body, err := io.ReadAll(io.LimitReader(a, MaxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > MaxAnswer {
		a.refused = true
		return nil, tooLarge
	}
	return body, nil
}

var tooLarge = &Failure{
	"Function.ResponseSizeTooLarge", fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).",
		MaxAnswer),
}

// Stream passes an event to a process and returns when its answer begins. Its errors are those of
// Invoke.
func (f *Function) Stream(ctx context.Context, event []byte) (*Answer, error) {
	if len(event) > MaxEvent {
		return nil, ErrEventTooLarge
	}
	i := newInvocation(event)
	if err := f.dispatch(i); err != nil {
		return nil, err
	}
	select {
	case b := <-i.begun:
		return b.answer, b.err
	case <-ctx.Done():
		f.leave(i)
		return nil, context.Cause(ctx)
	}
}

// dispatch gives the invocation to an idle process, or queues it.
func (f *Function) dispatch(i *invocation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	if last := len(f.idle) - 1; last >= 0 {
		p := f.idle[last]
		f.idle = f.idle[:last]
		p.take(i)
		p.next <- i
		return nil
	}
	if len(f.live) >= f.Processes && len(f.queue) >= f.Waiting+f.coming() {
		return ErrThrottled
	}
	f.queue = append(f.queue, i)
	f.grow()
	return nil
}

// grow starts a process for each queued invocation that no process will take soon, up to the size
// of the pool.
func (f *Function) grow() {
	coming := f.coming()
	for !f.closed && coming < len(f.queue) && len(f.live) < f.Processes {
		p, err := start(f)
		if err != nil {
			f.failFirst(&Failure{"Runtime.InvalidEntrypoint", err.Error()})
			continue
		}
		coming++
		f.live[p] = true
		go f.watch(p)
	}
}

// coming counts the processes that will soon request an invocation but are not idle yet.
func (f *Function) coming() (n int) {
	for p := range f.live {
		if !p.ready || p.free {
			n++
		}
	}
	return n
}

// failFirst fails the invocation that has waited longest, if any waits.
func (f *Function) failFirst(err error) {
	if len(f.queue) > 0 {
		f.queue[0].begin(nil, err)
		f.queue = f.queue[1:]
	}
}

// leave removes an invocation whose caller has gone; a process that has it finishes it.
func (f *Function) leave(i *invocation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(i.left)
	if at := slices.Index(f.queue, i); at >= 0 {
		f.queue = slices.Delete(f.queue, at, at+1)
	}
}

// await waits for the next invocation of a process whose previous one is done. It returns nil if
// ctx ends first.
func (f *Function) await(ctx context.Context, p *process) *invocation {
	f.mu.Lock()
	p.finish()
	p.ready = true
	if len(f.queue) > 0 {
		i := f.queue[0]
		f.queue = f.queue[1:]
		p.take(i)
		f.mu.Unlock()
		return i
	}
	f.idle = append(f.idle, p)
	f.mu.Unlock()
	select {
	case i := <-p.next:
		return i
	case <-ctx.Done(): // the process has ended; watch sees it too
		return nil
	}
}

// watch waits for the end of a process, fails its unfinished invocation, and replaces it if needed.
func (f *Function) watch(p *process) {
	failure := p.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, p)
	if at := slices.Index(f.idle, p); at >= 0 {
		f.idle = slices.Delete(f.idle, at, at+1)
	}
	if p.current != nil {
		p.current.fail(failure)
		p.finish()
	}
	if !p.ready {
		f.failFirst(failure)
	}
	f.grow()
}

// Close ends all processes at once and fails queued invocations. A caller that needs answers waits
// for them first.
func (f *Function) Close() {
	f.mu.Lock()
	f.closed = true
	for _, i := range f.queue {
		i.begin(nil, ErrClosed)
	}
	f.queue = nil
	var all []*process
	for p := range f.live {
		all = append(all, p)
	}
	f.mu.Unlock()
	for _, p := range all {
		p.kill()
	}
	for _, p := range all {
		<-p.ended
	}
}
