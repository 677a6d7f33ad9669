// Command benchmark is the program behind scripts/bench: it measures a stack of its own on the real engines. The hosts
// run in a process of their own, so that their CPU time can be told from that of the load and of the engines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// serveWord is the argument with which the program starts itself as the process of the hosts.
const serveWord = "serve"

func main() {
	if len(os.Args) == 2 && os.Args[1] == serveWord {
		signal.Ignore(os.Interrupt, syscall.SIGTERM) // this process ends when its standard input does
		os.Exit(exitCode(serve(os.Stdin, os.Stdout), os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == watchWord {
		os.Exit(exitCode(watch(os.Stdin, os.Args[2:]), os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once; hosts and engines follow
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err == nil {
		err = o.run(ctx, os.Stdout, os.Stderr)
	}
	os.Exit(exitCode(err, os.Stderr))
}

// interrupted is the exit code after Ctrl-C.
const interrupted = 130

func exitCode(err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "stopped")
		return interrupted
	}
	fmt.Fprintln(stderr, err)
	return 1
}

// options are what the command line says.
type options struct {
	rows     *regexp.Regexp
	duration time.Duration // of each row
	profiles string        // folder for CPU profiles of the hosts; empty: none

	measure   mode // nil: rows of the publish flow and of content reads
	inMemory  bool // the tables are, not on disk
	still     bool // the hosts do no jobs
	functions bool // the hosts run as functions behind their gateways, with the numbers that a deployment has
	artifacts int  // of the large workspace whose cost is compared
	processes int  // of each host that runs as functions
	stock     int  // how much is made for a row that uses something up; 0: enough for seconds

	dueArtifacts int // that fall due at once

	baseline baseline
}

// run measures this tree, or compares it with a commit.
func (o options) run(ctx context.Context, stdout, stderr io.Writer) error {
	if o.baseline.commit != "" {
		return against(ctx, o, stdout, stderr)
	}
	return run(ctx, o, stdout, stderr)
}

// mode is what is measured once engines and hosts run. Its error may be a broken budget.
type mode func(b *bench, ctx context.Context, stdout io.Writer) error

// modes are the flags that choose what is measured.
var modes = []struct {
	flag, usage string
	measure     mode
	seconds     float64 // of a row by default
	inMemory    bool    // many items are written, of which only the cost is compared
	still       bool    // the jobs are measured by themselves
	functions   bool    // the hosts run as functions
}{
	{
		flag:    "routes",
		usage:   "measure every route on its own, on prepared objects",
		measure: (*bench).routes,
		seconds: routeSeconds,
	},
	{
		flag:     "growth",
		usage:    "compare what a small and a large workspace cost; fails when cost grows",
		measure:  (*bench).growth,
		seconds:  routeSeconds,
		inMemory: true,
	},
	{
		flag:    "memory",
		usage:   "read a file of 25 MB and see what memory the hosts take; fails above the budget",
		measure: (*bench).memory,
		seconds: routeSeconds,
	},
	{
		flag:    "cold",
		usage:   "measure the functions: zip files, and the time from start to the first answer; fails when a zip is too large",
		measure: (*bench).cold,
		seconds: routeSeconds,
	},
	{
		flag:    "due",
		usage:   "let many artifacts fall due at once, and see how the jobs work them off",
		measure: (*bench).due,
		seconds: routeSeconds,
		still:   true,
	},
	{
		flag:      "slow-readers",
		usage:     "measure how long a reader waits while others read slowly; the hosts run as functions",
		measure:   (*bench).slowReaders,
		seconds:   slowSeconds,
		functions: true,
	},
}

// How long a row is measured by default.
const (
	flowSeconds  = 3
	routeSeconds = 1.2 // there are many
)

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("scripts/bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("row", "", "measure the rows that match `REGEXP`, as content-4k/16 (default all)")
	seconds := flags.Float64("seconds", 0, fmt.Sprintf(
		"`N` seconds for each row (default %d, with -routes %g, with -slow-readers %d; with -against %d a round and side)",
		flowSeconds, routeSeconds, slowSeconds, againstSeconds,
	))
	flags.IntVar(&o.artifacts, "artifacts", 100_000, "`N` artifacts in the large workspace of -growth")
	flags.IntVar(&o.dueArtifacts, "due-artifacts", 3_600, "`N` artifacts that fall due at once with -due")
	flags.IntVar(&o.processes, "processes", 80, "`N` functions of each host in -slow-readers")
	usual := float64(flowSeconds)
	for _, m := range modes {
		flags.BoolFunc(m.flag, m.usage, func(string) error {
			usual = m.seconds
			o.inMemory = m.inMemory
			o.still = m.still
			o.functions = m.functions
			return o.choose(m.measure)
		})
	}
	o.baseline.declare(flags, func() { usual = againstSeconds })
	flags.StringVar(&o.profiles, "profile", "", "`DIR` for a CPU profile of the hosts' process for each row of theirs")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no option: see scripts/bench -help", flags.Arg(0))
	}
	if *seconds < 0 || *seconds > 600 {
		return o, fmt.Errorf("-seconds %g is not between 0 and 600", *seconds)
	}
	if o.processes < 1 || o.processes > 200 {
		return o, fmt.Errorf("-processes %d is not between 1 and 200", o.processes)
	}
	if o.artifacts < 2*fewArtifacts {
		return o, fmt.Errorf("-artifacts %d is too few: %d is the small workspace", o.artifacts, fewArtifacts)
	}
	if o.dueArtifacts < 1 {
		return o, fmt.Errorf("-due-artifacts %d is none", o.dueArtifacts)
	}
	if err := o.checkBaseline(); err != nil {
		return o, err
	}
	if *seconds == 0 {
		*seconds = usual
	}
	o.duration = time.Duration(*seconds * float64(time.Second))
	o.rows, err = regexp.Compile(*pattern)
	return o, err
}

var errTwoModes = errors.New("only one thing is measured at a time")

// choose takes the one mode that a run may have.
func (o *options) choose(m mode) error {
	if o.measure != nil {
		return errTwoModes
	}
	o.measure = m
	return nil
}
