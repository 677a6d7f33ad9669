package main

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/adapter/meter"
)

// spent is what operations asked of AWS.
type spent struct {
	Calls, RoundTrips int
	RRU, WRU          float64
}

func (s *spent) add(o spent) {
	s.Calls = s.Calls + o.Calls
	s.RoundTrips = s.RoundTrips + o.RoundTrips
	s.RRU = s.RRU + o.RRU
	s.WRU = s.WRU + o.WRU
}

func (s spent) minus(o spent) spent {
	return spent{s.Calls - o.Calls, s.RoundTrips - o.RoundTrips, s.RRU - o.RRU, s.WRU - o.WRU}
}

func spentOf(c *meter.Counts) spent {
	return spent{c.Calls(), c.RoundTrips(), c.RRU(), c.WRU()}
}

// totals are sums over requests that end on several goroutines.
type totals struct {
	mu       sync.Mutex
	requests int
	sent     int64
	logged   int64
	names    names
	spent    spent
}

// names are how often calls were made, by service and operation, as "S3.GetObject".
type names map[string]int

// minus returns what was called since an earlier reading.
func (n names) minus(earlier names) names {
	out := maps.Clone(n)
	for name := range out {
		out[name] -= earlier[name]
	}
	return out
}

// name is an entry of aws.Config.APIOptions that counts calls by name. Presigning is none.
func (t *totals) name(stack *middleware.Stack) error {
	if _, sends := stack.Finalize.Get((*retry.Attempt)(nil).ID()); !sends {
		return nil
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("benchmark.name", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		t.count(middleware.GetServiceID(ctx) + "." + middleware.GetOperationName(ctx))
		return next.HandleInitialize(ctx, in)
	}), middleware.After)
}

func (t *totals) count(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = names{}
	}
	t.names[name]++
}

// countingWriter counts the bytes of a log.
type countingWriter struct {
	to  io.Writer
	sum *totals
}

// Write writes and counts.
func (w *countingWriter) Write(p []byte) (int, error) {
	w.sum.mu.Lock()
	w.sum.logged += int64(len(p))
	w.sum.mu.Unlock()
	return w.to.Write(p)
}

func (t *totals) add(s spent) { t.answer(s, 0) }

// answer adds a request and the bytes of its answer.
func (t *totals) answer(s spent, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	t.sent += bytes
	t.spent.add(s)
}

// reading is the sum so far, with what this process used.
func (t *totals) reading() reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	return reading{
		Requests:  t.requests,
		CPU:       cpu(),
		Allocated: allocated(),
		Sent:      t.sent,
		Logged:    t.logged,
		Names:     maps.Clone(t.names),
		spent:     t.spent,
	}
}

// tally sums up the request log beside writing it.
type tally struct {
	slog.Handler
	sum *totals
}

// Handle reads what the meter put into the line of a request.
func (t tally) Handle(ctx context.Context, r slog.Record) error {
	var s spent
	metered, bytes := false, int64(0)
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "aws_calls":
			s.Calls, metered = int(a.Value.Int64()), true
		case "aws_round_trips":
			s.RoundTrips = int(a.Value.Int64())
		case "rru":
			s.RRU = a.Value.Float64()
		case "wru":
			s.WRU = a.Value.Float64()
		case "bytes":
			bytes = a.Value.Int64()
		}
		return true
	})
	if metered {
		t.sum.answer(s, bytes)
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs keeps the sum.
func (t tally) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tally{t.Handler.WithAttrs(attrs), t.sum}
}

// WithGroup keeps the sum.
func (t tally) WithGroup(name string) slog.Handler { return tally{t.Handler.WithGroup(name), t.sum} }
