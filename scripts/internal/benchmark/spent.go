package main

import (
	"context"
	"log/slog"
	"sync"

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
	spent    spent
}

func (t *totals) add(s spent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
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
	metered := false
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
		}
		return true
	})
	if metered {
		t.sum.add(s)
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs keeps the sum.
func (t tally) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tally{t.Handler.WithAttrs(attrs), t.sum}
}

// WithGroup keeps the sum.
func (t tally) WithGroup(name string) slog.Handler { return tally{t.Handler.WithGroup(name), t.sum} }
