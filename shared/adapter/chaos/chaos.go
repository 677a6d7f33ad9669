// Package chaos makes real AWS clients fail, wait and die on command, so that tests can produce every fault of the
// engines.
package chaos

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// Call describes one attempt to an action.
type Call struct {
	Service, Operation string // "DynamoDB", "GetItem"
	Input              any    // for example *dynamodb.GetItemInput; read-only
	// Output and Err are the engine's answer, set for After actions. An After action may change what Output points to.
	Output any
	Err    error
}

// Action affects an attempt. Its error becomes the answer of the attempt. After an error of a Before action, the
// request is not sent; after one of an After action, the engine's answer is lost.
type Action func(ctx context.Context, c *Call) error

// Injector holds rules for the clients that it is added to. Several clients may share one; together they are the
// process that Crash ends.
//
// It runs inside the SDK's retry loop, so that a rule sees each attempt. The SDK retries injected failures like real
// ones, and sends the very same request again. Before actions run ahead of signing and sending, or instead of it. After
// actions run when the engine has answered and the effect is there. Only Unprocessed works on whole operations, because
// the request must not contain what it holds back.
type Injector struct {
	mu    sync.Mutex
	rules []*Rule
	whole *process
}

// New returns an injector without rules. It changes no call.
func New() *Injector { return &Injector{whole: new(process)} }

// For returns an injector that fails the test at its end if a rule never fired.
func For(t interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}) *Injector {
	i := New()
	t.Cleanup(func() {
		t.Helper()
		for _, rule := range i.Unfired() {
			t.Errorf("this fault never happened: %s", rule)
		}
	})
	return i
}

// Unfired describes the rules that never fired.
func (i *Injector) Unfired() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []string
	for _, r := range i.rules {
		if r.fired == 0 {
			all = append(all, r.String())
		}
	}
	return all
}

// Clear removes all rules, fired or not.
func (i *Injector) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.rules = nil
}

// Record returns the attempts that are made while do runs, in order, as a Before action sees them. It removes all rules
// afterwards.
func (i *Injector) Record(do func()) []Call {
	var mu sync.Mutex
	var seen []Call
	i.On("").Always().Before(func(_ context.Context, c *Call) error {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, *c)
		return nil
	})
	do()
	i.Clear()
	mu.Lock()
	defer mu.Unlock()
	return seen
}

// Add puts the injector on an operation's stack. It is an entry of aws.Config.APIOptions. It does not affect
// presigning, which sends no request.
func (i *Injector) Add(stack *middleware.Stack) error {
	loop := (*retry.Attempt)(nil).ID()
	if _, sends := stack.Finalize.Get(loop); !sends {
		return nil
	}
	if err := stack.Initialize.Add(operation{i}, middleware.After); err != nil {
		return fmt.Errorf("add chaos: %w", err)
	}
	if err := stack.Finalize.Insert(attempt{i}, loop, middleware.After); err != nil {
		return fmt.Errorf("add chaos: %w", err)
	}
	return nil
}

// due counts the call for every rule that matches it, and returns the rules that fire for it.
func (i *Injector) due(c *Call, batch bool) []*Rule {
	i.mu.Lock()
	defer i.mu.Unlock()
	var due []*Rule
	for _, r := range i.rules {
		if r.isBatch() == batch && r.matches(c) && r.count() {
			due = append(due, r)
		}
	}
	return due
}

// operation is the middleware around a whole operation. It stores the input for the attempts and holds back parts of
// batches.
type operation struct{ *Injector }

type inputKey struct{}

func (operation) ID() string { return "vitrine.chaos.operation" }

// HandleInitialize implements middleware.InitializeMiddleware.
func (o operation) HandleInitialize(
	ctx context.Context,
	in middleware.InitializeInput,
	next middleware.InitializeHandler,
) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	ctx = middleware.WithStackValue(ctx, inputKey{}, in.Parameters)
	held := 0
	for _, r := range o.due(callOf(ctx), true) {
		r.fire()
		held += r.unprocessed
	}
	if held == 0 {
		return next.HandleInitialize(ctx, in)
	}
	if o.processOf(ctx).isDead() {
		return middleware.InitializeOutput{}, middleware.Metadata{}, ErrCrashed
	}
	return holdBack(ctx, in, next, held)
}

// attempt is the middleware that runs the rules around each attempt.
type attempt struct{ *Injector }

func (attempt) ID() string { return "vitrine.chaos.attempt" }

// HandleFinalize implements middleware.FinalizeMiddleware. It runs inside the retry loop, before signing and sending.
func (a attempt) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	out middleware.FinalizeOutput, md middleware.Metadata, err error,
) {
	call, alive := callOf(ctx), a.processOf(ctx)
	if alive.isDead() {
		return out, md, ErrCrashed
	}
	ctx = context.WithValue(ctx, processKey{}, alive) // for Crash
	rules := a.due(call, false)
	for _, r := range rules {
		if err := r.runBefore(ctx, call); err != nil {
			return out, md, err
		}
	}
	if alive.isDead() { // it may have crashed while an action waited
		return out, md, ErrCrashed
	}
	out, md, err = next.HandleFinalize(ctx, in)
	call.Output, call.Err = out.Result, err
	for _, r := range rules {
		if err := r.runAfter(ctx, call); err != nil {
			discard(out.Result)
			return middleware.FinalizeOutput{}, md, err
		}
	}
	if alive.isDead() {
		discard(out.Result)
		return middleware.FinalizeOutput{}, md, ErrCrashed
	}
	return out, md, err
}

func callOf(ctx context.Context) *Call {
	return &Call{
		Service: middleware.GetServiceID(ctx), Operation: middleware.GetOperationName(ctx),
		Input: middleware.GetStackValue(ctx, inputKey{}),
	}
}
