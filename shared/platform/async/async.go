// Package async runs steps of a request concurrently and turns a panic in a step into its error, because an unrecovered
// panic in a goroutine ends the process with every other request in it. It also pauses a request.
package async

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
)

// Panic is the error of a step that panicked. Its text has no stack, so that a log writes the stack once.
type Panic struct {
	value any
	stack []byte
}

// Recovered makes an error of the value that recover returned. The deferred function has to call it, so that the stack
// is that of the panic.
func Recovered(v any) *Panic { return &Panic{value: v, stack: debug.Stack()} }

// Error implements error.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// StackTrace returns the stack of the step when it panicked.
func (p *Panic) StackTrace() []byte { return p.stack }

// StackOf returns the stack of the panic in err, or nil if there is none.
func StackOf(err error) []byte {
	if p, ok := errors.AsType[*Panic](err); ok {
		return p.stack
	}
	return nil
}

// Call runs a step in this goroutine and returns its panic as a *Panic.
func Call[T any](step func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
	}()
	return step()
}

// Run is Call for a step without a result.
func Run(step func() error) error {
	_, err := Call(func() (struct{}, error) { return struct{}{}, step() })
	return err
}

// Future is the result of a step that runs concurrently with its caller.
type Future[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// Go starts a step.
func Go[T any](step func() (T, error)) *Future[T] {
	f := &Future[T]{done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.value, f.err = Call(step)
	}()
	return f
}

// Done is closed when the step has ended.
func (f *Future[T]) Done() <-chan struct{} { return f.done }

// Wait returns the result of the step, or its panic as a *Panic. It may be called repeatedly and by several goroutines.
func (f *Future[T]) Wait() (T, error) {
	<-f.done
	return f.value, f.err
}

// Start is Go for a step without a result. wait may be called like Future.Wait.
func Start(step func() error) (wait func() error) {
	f := Go(func() (struct{}, error) { return struct{}{}, step() })
	return func() error {
		_, err := f.Wait()
		return err
	}
}

// All runs steps concurrently and waits for all of them. It returns the error of the first failed step in the order of
// the arguments.
func All(steps ...func() error) error {
	waits := make([]func() error, len(steps))
	for n, step := range steps {
		waits[n] = Start(step)
	}
	var first error
	for _, wait := range waits {
		if err := wait(); first == nil {
			first = err
		}
	}
	return first
}

// Sleep waits for d, or until ctx ends, with its error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Group is an errgroup.Group that turns a panic of a step into its error.
type Group struct{ *errgroup.Group }

// WithContext makes a group. The first failure of a step cancels the context.
func WithContext(ctx context.Context) (Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return Group{g}, ctx
}

// Go starts a step, and waits first while the group is at its limit.
func (g Group) Go(step func() error) { g.Group.Go(func() error { return Run(step) }) }
