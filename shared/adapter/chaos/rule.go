package chaos

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
)

// Rule says which attempts are affected, and how. Complete it before those attempts start.
type Rule struct {
	injector  *Injector
	where     string // file:line of On, for Unfired
	operation string
	service   string
	match     func(input any) bool

	first, times  int // fires for the matching attempts first to first+times-1
	before, after []Action
	unprocessed   int

	seen, fired int
	reached     chan struct{}
}

// On adds a rule for an operation such as "GetItem"; "" is any operation. By default the rule fires once, for the first
// matching attempt, and only counts.
func (i *Injector) On(operation string) *Rule {
	r := &Rule{
		injector:  i,
		operation: operation,
		first:     1,
		times:     1,
		reached:   make(chan struct{}),
	}
	if _, file, line, ok := runtime.Caller(1); ok {
		r.where = fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.rules = append(i.rules, r)
	return r
}

// Service limits the rule to one service: "DynamoDB" or "S3".
func (r *Rule) Service(name string) *Rule { return r.set(func() { r.service = name }) }

// If limits the rule to inputs that match accepts. match gets the input of the client's method (such as
// *dynamodb.GetItemInput), and must not call the injector.
func (r *Rule) If(match func(input any) bool) *Rule { return r.set(func() { r.match = match }) }

// Nth makes the rule fire from the n-th matching attempt on. The first is 1.
func (r *Rule) Nth(n int) *Rule { return r.set(func() { r.first = n }) }

// Times makes the rule fire for n matching attempts in a row.
func (r *Rule) Times(n int) *Rule { return r.set(func() { r.times = n }) }

// Always makes the rule fire for every matching attempt, or for every one from Nth on.
func (r *Rule) Always() *Rule { return r.Times(math.MaxInt) }

// Before adds actions that run in order before sending, or instead of it. They stop at the first error.
func (r *Rule) Before(actions ...Action) *Rule {
	return r.set(func() { r.before = append(r.before, actions...) })
}

// After adds actions that run in order when the engine has answered. They stop at the first error. They run when the
// engine refuses too: see Call.Err.
func (r *Rule) After(actions ...Action) *Rule {
	return r.set(func() { r.after = append(r.after, actions...) })
}

// Unprocessed holds back the last n keys of a BatchGetItem, or requests of a BatchWriteItem, with tables in order of
// name. They are not sent, and come back as unprocessed. Such a rule counts operations, not attempts, and has no other
// action.
func (r *Rule) Unprocessed(n int) *Rule { return r.set(func() { r.unprocessed = n }) }

// Reached returns a channel that is closed when the rule first fires, as its first action starts.
func (r *Rule) Reached() <-chan struct{} { return r.reached }

// Fired returns how often the rule fired.
func (r *Rule) Fired() int {
	r.injector.mu.Lock()
	defer r.injector.mu.Unlock()
	return r.fired
}

// String describes where the rule was made, what it matches and how often it fired.
func (r *Rule) String() string {
	s := fmt.Sprintf("%s: On(%q)", r.where, r.operation)
	if r.first != 1 {
		s += fmt.Sprintf(".Nth(%d)", r.first)
	}
	return s + fmt.Sprintf(" matched %d times", r.seen)
}

func (r *Rule) set(change func()) *Rule {
	r.injector.mu.Lock()
	defer r.injector.mu.Unlock()
	change()
	if r.unprocessed > 0 && len(r.before)+len(r.after) > 0 {
		panic("chaos: a rule with Unprocessed has no other action; make two rules")
	}
	return r
}

func (r *Rule) isBatch() bool { return r.unprocessed > 0 }

func (r *Rule) matches(c *Call) bool {
	return (r.operation == "" || r.operation == c.Operation) &&
		(r.service == "" || r.service == c.Service) &&
		(r.match == nil || r.match(c.Input))
}

// count adds a matching attempt and reports whether the rule fires for it.
func (r *Rule) count() bool {
	r.seen++
	return r.seen >= r.first && r.seen-r.first < r.times
}

// runBefore fires the rule, unless it has After actions only.
func (r *Rule) runBefore(ctx context.Context, c *Call) error {
	if len(r.before) > 0 || len(r.after) == 0 {
		r.fire()
	}
	return run(ctx, c, r.before)
}

func (r *Rule) runAfter(ctx context.Context, c *Call) error {
	if len(r.before) == 0 && len(r.after) > 0 {
		r.fire()
	}
	return run(ctx, c, r.after)
}

func run(ctx context.Context, c *Call, actions []Action) error {
	for _, act := range actions {
		if err := act(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rule) fire() {
	r.injector.mu.Lock()
	defer r.injector.mu.Unlock()
	if r.fired++; r.fired == 1 {
		close(r.reached)
	}
}
