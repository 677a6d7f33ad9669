package main

import (
	"bytes"
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/adapter/meter"
)

// reading is what a stack has used so far, or has used between two readings.
type reading struct {
	Requests          int // in the request log
	Calls, RoundTrips int // of AWS
	RRU, WRU          float64
	Names             map[string]int // calls by service and operation, as "S3.GetObject", if they are counted by name
	Sent, Logged      int64          // bytes of the bodies of all answers, and of the request log
	CPU               time.Duration  // user and system
	Allocated         int64          // bytes of heap, freed or not
	Resident, Peak    int64          // bytes of memory at the end, and at most in the row; 0: not known
}

// plus adds another reading, so many times.
func (r reading) plus(o reading, times int) reading {
	r.Requests += times * o.Requests
	r.Calls += times * o.Calls
	r.RoundTrips += times * o.RoundTrips
	r.RRU += float64(times) * o.RRU
	r.WRU += float64(times) * o.WRU
	r.Sent += int64(times) * o.Sent
	r.Logged += int64(times) * o.Logged
	r.CPU += time.Duration(times) * o.CPU
	r.Allocated += int64(times) * o.Allocated
	if len(o.Names) > 0 {
		names := map[string]int{}
		maps.Copy(names, r.Names)
		for name, n := range o.Names {
			names[name] += times * n
		}
		r.Names = names
	}
	return r
}

// totals are sums over requests that end on several goroutines.
type totals struct {
	mu   sync.Mutex
	sum  reading
	rest []byte // of a line of the log whose end has not come
}

// add adds the calls of an operation.
func (t *totals) add(c *meter.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum = t.sum.plus(reading{Calls: c.Calls(), RoundTrips: c.RoundTrips(), RRU: c.RRU(), WRU: c.WRU()}, 1)
}

// reading is the sum so far, with what this process used.
func (t *totals) reading() reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := t.sum
	sum.Names = maps.Clone(sum.Names)
	sum.CPU, sum.Allocated = cpu(), allocated()
	return sum
}

// name is an entry of aws.Config.APIOptions that counts calls by name. Presigning is none.
func (t *totals) name(stack *middleware.Stack) error {
	if _, sends := stack.Finalize.Get((*retry.Attempt)(nil).ID()); !sends {
		return nil
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("benchmark.name", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		name := middleware.GetServiceID(ctx) + "." + middleware.GetOperationName(ctx)
		t.mu.Lock()
		if t.sum.Names == nil {
			t.sum.Names = map[string]int{}
		}
		t.sum.Names[name]++
		t.mu.Unlock()
		return next.HandleInitialize(ctx, in)
	}), middleware.After)
}

// Write adds up the lines of a request log that have ended.
func (t *totals) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Logged += int64(len(p))
	text := append(t.rest, p...)
	for {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		if !ended {
			t.rest = append(t.rest[:0], line...)
			return len(p), nil
		}
		t.read(line)
		text = rest
	}
}

// read adds what the meter put into the line of a request.
func (t *totals) read(line []byte) {
	calls, found := number(line, "aws_calls")
	if !found {
		return
	}
	trips, _ := number(line, "aws_round_trips")
	rru, _ := number(line, "rru")
	wru, _ := number(line, "wru")
	sent, _ := number(line, "bytes")
	t.sum.Requests++
	t.sum.Calls += int(calls)
	t.sum.RoundTrips += int(trips)
	t.sum.RRU += rru
	t.sum.WRU += wru
	t.sum.Sent += int64(sent)
}

// number is a field of a line of JSON.
func number(line []byte, name string) (value float64, found bool) {
	_, after, found := bytes.Cut(line, []byte(`"`+name+`":`))
	value, err := strconv.ParseFloat(string(after[:max(0, bytes.IndexAny(after, ",}"))]), 64)
	return value, found && err == nil
}
