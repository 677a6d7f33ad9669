package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// row is one line of the table.
type row struct {
	name    string // for -row
	title   string
	clients int
	work    operation
	// stock, if there is any, makes what the operations use up, which is not measured; work is then unset. Such a row is
	// measured once, until its time is over or nothing is left.
	stock func(ctx context.Context) ([]task, error)
	// logged is how many lines an operation leaves in the request log of the hosts; 0: it asks engines only.
	logged int
	// designed are the round trips, RRU and WRU that the tables were designed for, as text; empty: there is no such figure.
	designed string

	took     []time.Duration // of each measured operation
	elapsed  time.Duration
	used     reading       // by all measured operations
	engines  time.Duration // of CPU of the engines; 0: not known
	resident int64         // bytes of memory of the hosts' process at the end; 0: not known
}

func (r *row) id() string { return fmt.Sprintf("%s/%d", r.name, r.clients) }

// byClients returns each row with 1 client and with many, unless it says how many.
func byClients(rows []row) []row {
	var out []row
	for _, r := range rows {
		counts := []int{1, manyClients}
		if r.clients != 0 {
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
	slices.Sort(r.took)
	return r.took[(len(r.took)-1)*p/100]
}

// engineCPU is the time that the engines worked for one operation.
func (r *row) engineCPU() time.Duration { return r.engines / time.Duration(max(len(r.took), 1)) }

// per is a sum divided among the operations.
func (r *row) per(sum float64) float64 { return sum / float64(max(len(r.took), 1)) }

// cpu is the time that the counting process worked for one operation.
func (r *row) cpu() time.Duration { return r.used.CPU / time.Duration(max(len(r.took), 1)) }

// rate is operations in a second.
func (r *row) rate() float64 { return float64(len(r.took)) / r.elapsed.Seconds() }

// task is an operation that can be done once, because it uses something up.
type task func(ctx context.Context) error

// consuming does each task once, by the first client that is free.
func consuming(tasks []task) operation {
	left := make(chan task, len(tasks))
	for _, t := range tasks {
		left <- t
	}
	close(left)
	return func(ctx context.Context, _ int) error {
		t, ok := <-left
		if !ok {
			return errNoMore
		}
		return t(ctx)
	}
}

// Rows of a group are to be compared: they take turns, so that whatever else the machine does falls on all of them.
const (
	turns = 6
)

// takeTurns runs a group of rows for the asked time each.
func (b *bench) takeTurns(ctx context.Context, group []*row) error {
	for _, r := range group {
		if r.stock != nil {
			return b.consume(ctx, r)
		}
		if _, err := drive(ctx, r.clients, b.duration/turns, r.work); err != nil {
			return fmt.Errorf("%s: %w", r.id(), err)
		}
	}
	for range turns {
		for _, r := range group {
			if err := b.turn(ctx, r, b.duration/turns); err != nil {
				return fmt.Errorf("%s: %w", r.id(), err)
			}
		}
	}
	return nil
}

// consume measures a row that uses something up. Making that has warmed everything.
func (b *bench) consume(ctx context.Context, r *row) error {
	tasks, err := r.stock(ctx)
	if err == nil {
		r.work = consuming(tasks)
		err = b.turn(ctx, r, b.duration)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.id(), err)
	}
	return nil
}

// turn measures a row once and adds to what it has.
func (b *bench) turn(ctx context.Context, r *row, long time.Duration) error {
	before, err := b.before(r)
	if err != nil {
		return err
	}
	engines := b.running().usage().engines
	began := time.Now()
	took, err := drive(ctx, r.clients, long, r.work)
	elapsed := time.Since(began)
	if err != nil {
		return err
	}
	after, err := b.after(ctx, r, before.Requests+len(took)*r.logged)
	if err != nil {
		return err
	}
	r.took, r.elapsed = append(r.took, took...), r.elapsed+elapsed
	r.used.CPU += after.CPU - before.CPU
	r.used.Allocated += after.Allocated - before.Allocated
	r.used.spent.add(after.spent.minus(before.spent))
	r.used.Sent += after.Sent - before.Sent
	r.used.Logged += after.Logged - before.Logged
	r.used.Names = after.Names.minus(before.Names)
	used := b.running().usage()
	r.engines, r.resident = r.engines+used.engines-engines, used.resident
	return nil
}

// running finds the processes of the stack once: all that this process has started.
func (b *bench) running() processes {
	if b.known.hosts == 0 && b.hosts.process != nil {
		hosts := b.hosts.process.Process.Pid
		b.known = processes{hosts: hosts, engines: descendants(os.Getpid(), hosts)}
	}
	return b.known
}

// before reads the sums of the process that a row's operations are counted in: the hosts', or this one.
func (b *bench) before(r *row) (reading, error) {
	if r.logged == 0 {
		return b.bare.reading(), nil
	}
	return b.hosts.quiet()
}

func (b *bench) after(ctx context.Context, r *row, requests int) (reading, error) {
	if r.logged == 0 {
		return b.bare.reading(), nil
	}
	return b.hosts.settled(ctx, requests)
}
