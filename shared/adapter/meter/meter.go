// Package meter counts what a request asks of AWS: calls, round trips, and the capacity that DynamoDB reports.
package meter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// Call is one finished operation of an AWS client, including its retries.
type Call struct {
	Service   string // "DynamoDB", "S3"
	Operation string // "GetItem"
	// Attempts is how often the request was sent; 0 if it never was.
	Attempts int
	// Start and End enclose all attempts. The body of a streamed answer may be read after End.
	Start, End time.Time
	// RRU and WRU are the read and write request units that DynamoDB reported. They are zero for a failed call.
	RRU, WRU float64
	// Code is the error code of the service, "error" for a failure without one, and "" on success.
	Code string
}

// Counts holds the calls of one request. It is safe for concurrent use.
type Counts struct {
	mu     sync.Mutex
	calls  []Call
	active int
	trips  int
}

type contextKey struct{}

// With returns a context whose AWS calls are counted. If ctx counts already, its own counts do not include the new
// ones.
func With(ctx context.Context) (context.Context, *Counts) {
	c := new(Counts)
	return context.WithValue(ctx, contextKey{}, c), c
}

// Calls returns the number of finished calls.
func (c *Counts) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// RoundTrips returns how often a call started while no other was under way. Overlapping calls thus count as one.
func (c *Counts) RoundTrips() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips
}

// RRU returns the sum of the read request units.
func (c *Counts) RRU() float64 { return c.total().rru }

// WRU returns the sum of the write request units.
func (c *Counts) WRU() float64 { return c.total().wru }

// List returns the finished calls in the order in which they ended.
func (c *Counts) List() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Call(nil), c.calls...)
}

// Attrs returns the fields for the request's log line.
func (c *Counts) Attrs() []slog.Attr {
	t := c.total()
	attrs := []slog.Attr{
		slog.Int("aws_calls", t.calls), slog.Int("aws_round_trips", t.trips), slog.Int("aws_retries", t.retries),
		slog.Float64("rru", t.rru), slog.Float64("wru", t.wru),
	}
	if t.denied > 0 {
		attrs = append(attrs, slog.Int("object_denied", t.denied))
	}
	return attrs
}

// objectDenied reports whether S3 denied reading an object. S3 does that for a missing object too, because the hosts
// may not list the bucket. An answer to HeadObject has no body, so its code is made from the status.
func (c Call) objectDenied() bool {
	switch c.Operation {
	case "GetObject":
		return c.Code == "AccessDenied"
	case "HeadObject":
		return c.Code == "Forbidden"
	}
	return false
}

type totals struct {
	calls, trips, retries int
	denied                int // objects
	rru, wru              float64
}

func (c *Counts) total() totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := totals{calls: len(c.calls), trips: c.trips}
	for _, call := range c.calls {
		t.rru += call.RRU
		t.wru += call.WRU
		t.retries += max(call.Attempts-1, 0)
		if call.objectDenied() {
			t.denied++
		}
	}
	return t
}

func (c *Counts) begin() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == 0 {
		c.trips++
	}
	c.active++
	return time.Now()
}

func (c *Counts) end(call Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active--
	c.calls = append(c.calls, call)
}

// Add puts the meter on an operation's stack. It is an entry of aws.Config.APIOptions. It does not touch calls whose
// context is not from With. For the others it asks DynamoDB for the consumed capacity. Presigning is not counted.
func Add(stack *middleware.Stack) error {
	if _, sends := stack.Finalize.Get((*retry.Attempt)(nil).ID()); !sends {
		return nil
	}
	// The meter runs after validation and the idempotency token, and before everything that takes time.
	if err := stack.Initialize.Add(measure{}, middleware.After); err != nil {
		return fmt.Errorf("add meter: %w", err)
	}
	return nil
}

type measure struct{}

func (measure) ID() string { return "vitrine.meter" }

// HandleInitialize implements middleware.InitializeMiddleware. It counts the call if the context comes from With.
func (measure) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	out middleware.InitializeOutput, md middleware.Metadata, err error,
) {
	counts, _ := ctx.Value(contextKey{}).(*Counts)
	if counts == nil {
		return next.HandleInitialize(ctx, in)
	}
	call := Call{Service: middleware.GetServiceID(ctx), Operation: middleware.GetOperationName(ctx), Code: "error"}
	in.Parameters = askCapacity(in.Parameters)
	call.Start = counts.begin()
	defer func() { // deferred, so that a panic does not leave the call open
		call.End = time.Now()
		counts.end(call)
	}()
	out, md, err = next.HandleInitialize(ctx, in)
	call.Code = codeOf(err)
	if results, ok := retry.GetAttemptResults(md); ok {
		call.Attempts = len(results.Results)
	}
	call.RRU, call.WRU = capacity(out.Result)
	return out, md, err
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return "error"
}
