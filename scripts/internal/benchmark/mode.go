package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// rowsOf prepares rows on the hosts of a bench, which may be those of another commit.
type rowsOf func(b *bench, ctx context.Context) ([]row, error)

// mode is a flag that chooses what is measured.
type mode struct {
	flag, usage string
	title       string // among all; empty: it is measured only if it is chosen
	rows        rowsOf // measured one after the other, and printed in a table with a legend
	legend      string
	// do measures instead, once engines and hosts run. Its error may be a broken budget.
	do        func(b *bench, ctx context.Context, stdout io.Writer) error
	compared  rowsOf  // with another commit, instead of rows
	seconds   float64 // of a row by default; 0: routeSeconds
	inRound   float64 // seconds of a row of one side in a round by default; 0: againstSeconds
	inMemory  bool    // the tables are, because many items are written of which only the cost is compared
	byName    bool    // the hosts count their calls of AWS by name, and do no jobs, which are counted by themselves
	functions bool    // the hosts run as functions behind their gateways, with the numbers that a deployment has
}

// How long a row is measured by default.
const (
	flowSeconds  = 3
	routeSeconds = 1.2 // there are many
)

// standard is what is measured if no flag chooses.
var standard = mode{
	title:    "The publish flow and reads of content",
	rows:     (*bench).flowRows,
	legend:   flowsLegend,
	compared: (*bench).essentials,
	seconds:  flowSeconds,
}

// modes are the flags that choose what is measured, in the order of -all.
var modes = []mode{
	{
		flag:    "pages",
		usage:   "measure a page with 20 files, read whole by 1 and by 16 readers",
		title:   "Pages",
		rows:    (*bench).pageRows,
		legend:  pagesLegend,
		seconds: flowSeconds,
	},
	{
		flag:    "publishes",
		usage:   "measure publish flows of 2 to 100 files, and those of a key that is used again and again beside a new one",
		title:   "Publish flows",
		rows:    (*bench).publishRows,
		legend:  publishesLegend,
		seconds: flowSeconds,
	},
	{
		flag:     "mix",
		usage:    "measure 100 users who browse, publish and poll at the same time; fails when a request does",
		title:    "A mix of users",
		do:       (*bench).mix,
		compared: (*bench).mixRows,
		seconds:  mixSeconds,
		inRound:  mixedSeconds,
	},
	{
		flag:   "routes",
		usage:  "measure every route on its own, on prepared objects",
		title:  "Every route",
		rows:   (*bench).routeRows,
		legend: routesLegend,
	},
	{
		flag:   "afterlife",
		usage:  "count what the jobs do with a publication that expires or is deleted",
		title:  "The afterlife of a publication",
		do:     (*bench).afterlives,
		byName: true,
	},
	{
		flag:   "cost",
		usage:  "count the calls of a few requests and what a million of each costs by AWS's public prices",
		title:  "Dollars per million",
		do:     (*bench).cost,
		byName: true,
	},
	{
		flag:    "live",
		usage:   "count what 50 open pages cost that poll, and what 1,000 would cost an hour",
		do:      (*bench).live,
		seconds: liveSeconds,
		byName:  true,
	},
	{
		flag:     "growth",
		usage:    "compare what a small and a large workspace cost; fails when cost grows",
		do:       (*bench).growth,
		inMemory: true,
	},
	{
		flag:     "dashboard",
		usage:    "time, calls and weight of the pages of a member whose workspace has 10,000 artifacts",
		do:       (*bench).dashboard,
		inMemory: true,
	},
	{
		flag:  "memory",
		usage: "read a file of 25 MB and see what memory the hosts take; fails above the budget",
		title: "Memory of a large read",
		do:    (*bench).memory,
	},
	{
		flag:  "cold",
		usage: "measure the functions: zip files, and the time from start to the first answer; fails when a zip is too large",
		do:    (*bench).cold,
	},
	{
		flag:   "due",
		usage:  "let many artifacts fall due at once, and see how the jobs work them off",
		do:     (*bench).due,
		byName: true,
	},
	{
		flag:      "slow-readers",
		usage:     "measure how long a reader waits while others read slowly; the hosts run as functions",
		do:        (*bench).slowReaders,
		seconds:   slowSeconds,
		functions: true,
	},
}

// usual is how long a row is measured unless the command line says so.
func (o options) usual() time.Duration {
	seconds := cmp.Or(o.mode.seconds, routeSeconds)
	if o.commit != "" {
		seconds = cmp.Or(o.inRound, againstSeconds)
	}
	return time.Duration(seconds * float64(time.Second))
}

var errTwoModes = errors.New("only one thing is measured at a time")

// choose takes the one mode that a run may have.
func (o *options) choose(m mode) error {
	if o.flag != "" {
		return errTwoModes
	}
	o.mode = m
	return nil
}

// comparable are the rows that are compared with those of another commit; nil: they cannot be.
func (m mode) comparable() rowsOf {
	if m.compared != nil {
		return m.compared
	}
	return m.rows
}

// tabled measures the rows of a mode with 1 client and with many, and prints their table.
func (b *bench) tabled(ctx context.Context, stdout io.Writer) error {
	rows, err := b.mode.rows(b, ctx)
	if err != nil {
		return err
	}
	var all []*row
	for _, r := range byClients(rows) {
		if !b.asked.MatchString(r.id()) {
			continue
		}
		b.say("measuring %s", r.id())
		if err := b.profiled(ctx, &r); err != nil {
			return err
		}
		all = append(all, &r)
	}
	if all == nil {
		return fmt.Errorf("no row matches %q", b.asked)
	}
	printRows(stdout, "What", measured, all...)
	sayMachine(stdout, b.legend)
	return nil
}

// inAll returns the modes that -all measures.
func inAll() []mode {
	return slices.DeleteFunc(append([]mode{standard}, modes...), func(m mode) bool { return m.title == "" })
}

// measureAll measures one mode after the other, each on engines and hosts of its own. It goes on after a broken budget.
func measureAll(ctx context.Context, o options, stdout, stderr io.Writer) error {
	var errs []error
	all := inAll()
	for n, m := range all {
		fmt.Fprintf(stderr, "%d of %d: %s\n", n+1, len(all), m.title)
		fmt.Fprintf(stdout, "## %s\n\n", m.title)
		one := o
		one.mode = m
		one.duration = cmp.Or(one.duration, one.usual())
		if err := run(ctx, one, stdout, stderr); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.title, err))
		}
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintln(stdout)
	}
	return errors.Join(errs...)
}

// allCompared are the rows that -all compares with those of another commit.
func allCompared(b *bench, ctx context.Context) (rows []row, err error) {
	for _, m := range inAll() {
		prepare := m.comparable()
		if prepare == nil {
			continue
		}
		more, err := prepare(b, ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.title, err)
		}
		for _, r := range more {
			if !slices.ContainsFunc(rows, func(known row) bool { return known.name == r.name }) {
				rows = append(rows, r)
			}
		}
	}
	return rows, nil
}
