package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// operation does one unit of work for one of several clients that work at the same time.
type operation func(ctx context.Context, client int) error

// errNoMore ends the work of a client without being a failure: what was prepared is used up.
var errNoMore = errors.New("nothing is left of what was prepared")

// drive lets clients repeat an operation, each as fast as it can, for a while. It returns how long each operation took;
// those that run at the end are awaited and count. The first error ends everything.
func drive(ctx context.Context, clients int, long time.Duration, work operation) (took []time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := time.Now().Add(long)
	each := make([][]time.Duration, clients)
	var wait sync.WaitGroup
	for n := range clients {
		wait.Go(func() {
			for begin := time.Now(); begin.Before(end) && ctx.Err() == nil; {
				err := work(ctx, n)
				if errors.Is(err, errNoMore) {
					return
				}
				if err != nil {
					cancel(err)
					return
				}
				now := time.Now()
				each[n] = append(each[n], now.Sub(begin))
				begin = now
			}
		})
	}
	wait.Wait()
	for _, some := range each {
		took = append(took, some...)
	}
	return took, context.Cause(ctx)
}
