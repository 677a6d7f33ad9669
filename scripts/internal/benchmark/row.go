package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// operation does one unit of work for one of several clients that work at the same time.
type operation func(ctx context.Context, client int) error

// stock prepares operations each of which is done once, because it uses something up. Preparing is not measured.
type stock func(ctx context.Context) ([]operation, error)

// row is one line of a table: what is done, and what that took.
type row struct {
	name     string // for -row
	title    string
	work     operation                               // again and again
	stock    stock                                   // instead of work: until the time is over or nothing is left
	whole    bool                                    // all of stock is done by one client, however long it takes
	run      func(ctx context.Context, r *row) error // instead of both: fills in what was measured
	clients  int                                     // 0: a row with 1 client and one with many
	lines    int                                     // that an operation leaves in the request log; 0: one
	own      bool                                    // it asks the engines only: its calls are this process's own
	optional bool                                    // it is left out where it fails
	bill     bill                                    // what one operation costs beside what is counted

	cells []string // instead of columns, where the mode prints its own table
	note  string   // printed below that table

	done    int             // operations
	took    []time.Duration // each of them, sorted
	elapsed time.Duration
	used    reading // by all operations
}

// unknown is a number of lines of the request log.
const unknown = -1

func (r *row) id() string { return fmt.Sprintf("%s/%d", r.name, r.clients) }

// byClients returns each row with 1 client and with many, unless it says how many.
func byClients(rows []row) []row {
	var out []row
	for _, r := range rows {
		counts := []int{1, manyClients}
		if r.whole || r.run != nil {
			counts = counts[:1]
		} else if r.clients != 0 {
			counts = []int{r.clients}
		}
		for _, r.clients = range counts {
			out = append(out, r)
		}
	}
	return out
}

// percentile is the time that p percent of the operations stayed below or at.
func (r *row) percentile(p int) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[(len(r.took)-1)*p/100]
}

// per is a sum divided among the operations.
func (r *row) per(sum float64) float64 { return sum / float64(max(r.done, 1)) }

// rate is operations in a second.
func (r *row) rate() float64 { return float64(r.done) / r.elapsed.Seconds() }

// add adds what was measured.
func (r *row) add(took []time.Duration, elapsed time.Duration, used reading) {
	r.done += len(took)
	r.took = append(r.took, took...)
	slices.Sort(r.took)
	r.elapsed += elapsed
	r.used = r.used.plus(used, 1)
	r.used.Resident, r.used.Peak = used.Resident, used.Peak
}

// errNoMore ends the work of a client without being a failure: what was prepared is used up.
var errNoMore = errors.New("nothing is left of what was prepared")

// drive lets clients repeat an operation, each as fast as it can, for a while and at least once. It returns how long
// the operations of each client took; those that run at the end are awaited and count. The first error ends everything.
func drive(ctx context.Context, clients int, long time.Duration, work operation) ([][]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end := time.Now().Add(long)
	each := make([][]time.Duration, clients)
	var wait sync.WaitGroup
	for n := range clients {
		wait.Go(func() {
			for begin := time.Now(); ctx.Err() == nil; {
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
				if begin = now; !now.Before(end) {
					return
				}
			}
		})
	}
	wait.Wait()
	return each, context.Cause(ctx)
}

// consuming does each operation once, by the first client that is free.
func consuming(all []operation) operation {
	left := make(chan operation, len(all))
	for _, work := range all {
		left <- work
	}
	close(left)
	return func(ctx context.Context, client int) error {
		work, ok := <-left
		if !ok {
			return errNoMore
		}
		return work(ctx, client)
	}
}

// repeated does an operation once, which is not measured, and then n times.
func repeated(work operation, n int) stock {
	return func(ctx context.Context) ([]operation, error) {
		return slices.Repeat([]operation{work}, n), work(ctx, 0)
	}
}

// each does something n times, some at once, and returns the results. The first error ends it.
func each[T any](ctx context.Context, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	out, tasks := make([]T, n), make([]operation, n)
	for i := range tasks {
		tasks[i] = func(ctx context.Context, _ int) (err error) {
			out[i], err = do(ctx, i)
			return err
		}
	}
	_, err := drive(ctx, manyClients, forever, consuming(tasks))
	return out, err
}

// forever is longer than any run.
const forever = 24 * time.Hour

// warming is the part of its time for which a row runs before it is measured.
const warming = 6

// measure measures a row. Making what it uses up has warmed everything.
func (b *bench) measure(ctx context.Context, r *row) error {
	if r.work != nil {
		if _, err := drive(ctx, r.clients, b.duration/warming, r.work); err != nil {
			return fmt.Errorf("%s: %w", r.id(), err)
		}
	}
	return b.turn(ctx, r, b.duration)
}

// turn measures a row once. What it uses up is made before.
func (b *bench) turn(ctx context.Context, r *row, long time.Duration) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", r.id(), err)
		}
	}()
	if r.run != nil {
		return r.run(ctx, r)
	}
	work := r.work
	if r.stock != nil {
		tasks, err := r.stock(ctx)
		if err != nil {
			return err
		}
		work = consuming(tasks)
	}
	if r.whole {
		long = forever
	}
	before, err := b.read(ctx, r, unknown)
	if err != nil {
		return err
	}
	b.hosts.resetPeak()
	began := time.Now()
	each, err := drive(ctx, r.clients, long, work)
	elapsed := time.Since(began)
	if err != nil {
		return err
	}
	took := slices.Concat(each...)
	after, err := b.read(ctx, r, before.Requests+len(took)*max(r.lines, 1))
	r.add(took, elapsed, after.plus(before, -1))
	return err
}

const (
	settlePause = 2 * time.Millisecond
	settleQuiet = 10 // pauses without a line
	settleMost  = 5 * time.Second
)

// read reads what has been used once the request log has so many lines: they follow their answers. If the number is
// unknown, it waits until no more come, where there are any. A row of own calls has no lines, and only memory is the
// hosts'.
func (b *bench) read(ctx context.Context, r *row, lines int) (reading, error) {
	if r.own {
		own := b.own.reading()
		now, err := b.hosts.ask(readCommand)
		own.Resident, own.Peak = now.Resident, now.Peak
		return own, err
	}
	deadline := time.Now().Add(settleMost)
	for last, quiet := unknown, 0; ; time.Sleep(settlePause) {
		now, err := b.hosts.ask(readCommand)
		if quiet++; now.Requests != last {
			last, quiet = now.Requests, 0
		}
		settled := lines == unknown && (quiet == settleQuiet || last == 0)
		switch {
		case err != nil || last == lines || settled:
			return now, err
		case ctx.Err() != nil:
			return now, context.Cause(ctx)
		case lines != unknown && (last > lines || time.Now().After(deadline)):
			return now, fmt.Errorf("the request log has %d requests, expected %d", last, lines)
		}
	}
}
