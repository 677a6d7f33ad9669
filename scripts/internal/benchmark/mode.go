package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// mode is a flag that chooses what is measured: rows, in a table with a legend.
type mode struct {
	flag, usage string
	takes       func(o *options, value string) error // the value of the flag; nil: it has none
	rows        func(b *bench, ctx context.Context) ([]row, error)
	columns     []column
	legend      string
	// print prints the rows instead of a table. Its error is a broken budget.
	print    func(b *bench, w io.Writer, rows []*row) error
	seconds  float64 // of a row by default
	compared bool    // its rows may be compared with those of another commit
	inMemory bool    // the tables are, because many items are written of which only the cost is compared
	byName   bool    // the hosts count their calls of AWS by name, and do no jobs, which are counted by themselves
}

// standard is what is measured if no flag chooses.
var standard = mode{
	rows:     (*bench).flowRows,
	columns:  measured,
	print:    (*bench).compareBare,
	legend:   flowsLegend,
	seconds:  3,
	compared: true,
}

// modes are the flags that choose what is measured.
var modes = []mode{
	{
		flag:     "routes",
		usage:    "measure every route on its own, on prepared objects",
		rows:     (*bench).routeRows,
		columns:  measured,
		legend:   routesLegend,
		seconds:  1.2, // there are many
		compared: true,
	},
	{
		flag:   "cost",
		usage:  "count the calls of a few requests and of the jobs, and what a million of each costs by AWS's public prices",
		rows:   (*bench).costRows,
		print:  (*bench).printBills,
		legend: costLegend,
		byName: true,
	},
	{
		flag:    "live",
		usage:   "count what 50 open pages cost that poll, and what 1,000 would cost an hour",
		rows:    (*bench).liveRows,
		print:   (*bench).printPolls,
		legend:  liveLegend,
		seconds: 180,
		byName:  true,
	},
	{
		flag:     "growth",
		usage:    "compare what a small and a large workspace cost; fails when the cost of what must not grow does",
		rows:     (*bench).growthRows,
		columns:  []column{calls, rru, exactly(wru), latency(50), latency(99), weight},
		print:    (*bench).compareGrowth,
		legend:   growthLegend,
		inMemory: true,
	},
	{
		flag:    "memory",
		usage:   "read a file of 25 MB and see what memory the hosts take; fails above the budget",
		rows:    (*bench).memoryRows,
		columns: []column{opCount, latency(50), memoryUsed, memoryPeak},
		print:   (*bench).compareMemory,
		legend:  memoryLegend,
	},
	{
		flag:    "cold",
		usage:   "measure the time from the start of a function to its first answer",
		rows:    (*bench).coldRows,
		columns: []column{opCount, latency(50), latency(0), latency(100), startBudget},
		legend:  coldLegend,
	},
	{
		flag:    "due",
		usage:   "let many artifacts fall due at once, by expiry and by deletion, and see how the jobs work them off",
		rows:    (*bench).dueRows,
		columns: []column{opCount, seconds, perSecond, calls, rru, wru},
		legend:  dueLegend,
		byName:  true,
	},
	{
		flag:   "line",
		usage:  "open shared pages in Chromium by a line of `DELAY,RATE`, as 150ms,200KB, and their bare files",
		takes:  (*options).setLine,
		rows:   (*bench).lineRows,
		print:  (*bench).printOpenings,
		legend: lineLegend,
	},
}

// choose takes the one mode that a run may have.
func (o *options) choose(m mode) error {
	if o.flag != "" {
		return errors.New("only one thing is measured at a time")
	}
	o.mode = m
	return nil
}

// measure measures the rows of a mode and prints them, after a failure those before it.
func measure(ctx context.Context, o options, stdout, stderr io.Writer) error {
	b := &bench{options: o, stderr: stderr}
	err := b.start(ctx)
	if err == nil {
		err = b.measureMode(ctx, stdout)
	}
	return errors.Join(err, b.stop())
}

func (b *bench) measureMode(ctx context.Context, stdout io.Writer) error {
	rows, err := b.asks(ctx)
	if err != nil {
		return err
	}
	var measured []*row
	for _, r := range rows {
		b.say("measuring %s", r.id())
		if err = b.profiled(ctx, r); err != nil && r.optional && ctx.Err() == nil {
			b.say("%s is left out: %v", r.title, err)
			err = nil
			continue
		}
		if err != nil {
			break
		}
		measured = append(measured, r)
	}
	if len(measured) == 0 {
		return err
	}
	show := b.mode.print
	if show == nil {
		show = (*bench).printTable
	}
	err = errors.Join(err, show(b, stdout, measured))
	sayMachine(stdout, b.legend)
	return err
}

// asks prepares the rows that the command line asks for.
func (b *bench) asks(ctx context.Context) (asked []*row, err error) {
	rows, err := b.mode.rows(b, ctx)
	for _, r := range byClients(rows) {
		if b.asked.MatchString(r.id()) {
			asked = append(asked, &r)
		}
	}
	if err == nil && asked == nil {
		err = fmt.Errorf("no row matches %q", b.asked)
	}
	return asked, err
}

func (b *bench) printTable(w io.Writer, rows []*row) error {
	printRows(w, b.columns, rows...)
	return nil
}
