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
	asked    *regexp.Regexp // rows
	duration time.Duration  // of each row
	profiles string         // folder for CPU profiles of the hosts; empty: none

	mode      // what is measured; without a flag: the publish flow and reads of content
	all  bool // all modes that have a title are, one after the other

	artifacts    int // of the large workspace whose cost is compared
	dueArtifacts int // that fall due at once
	processes    int // of each host that runs as functions
	stock        int // how much is made for a row that uses something up; 0: enough for seconds

	commit string // that this tree is compared with; empty: none
	rounds int    // of the comparison
	ports  int    // the base of its ports
}

const againstUsage = "compare the hosts of this tree with those of `COMMIT`, " +
	"also with -pages, -publishes, -mix, -routes or -all"

// run measures this tree, or compares it with a commit.
func (o options) run(ctx context.Context, stdout, stderr io.Writer) error {
	switch {
	case o.commit != "":
		return against(ctx, o, stdout, stderr)
	case o.all:
		return measureAll(ctx, o, stdout, stderr)
	}
	return run(ctx, o, stdout, stderr)
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.mode = standard
	flags := flag.NewFlagSet("scripts/bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("row", "", "measure the rows that match `REGEXP`, as content-4k/16 (default all)")
	seconds := flags.Float64("seconds", 0, fmt.Sprintf(
		"`N` seconds for each row (default %d, with -routes %g, with -mix %d, with -slow-readers %d; "+
			"with -against %d a round and side, with -against and -mix %d)",
		flowSeconds, routeSeconds, mixSeconds, slowSeconds, againstSeconds, mixedSeconds,
	))
	flags.IntVar(&o.artifacts, "artifacts", 100_000, "`N` artifacts in the large workspace of -growth")
	flags.IntVar(&o.dueArtifacts, "due-artifacts", 3_600, "`N` artifacts that fall due at once with -due")
	flags.IntVar(&o.processes, "processes", 80, "`N` functions of each host in -slow-readers")
	for _, m := range modes {
		flags.BoolFunc(m.flag, m.usage, func(string) error { return o.choose(m) })
	}
	flags.BoolVar(&o.all, "all", false,
		"measure what is measured without a flag, then -pages, -publishes, -mix, -routes, -afterlife, -cost and -memory")
	flags.StringVar(&o.profiles, "profile", "", "`DIR` for a CPU profile of the hosts' process for each row of theirs")
	flags.Func("against", againstUsage, func(commit string) error {
		if o.commit = commit; commit == "" {
			return errors.New("name a commit")
		}
		return nil
	})
	flags.IntVar(&o.rounds, "rounds", minRounds, "`N` rounds with -against")
	flags.IntVar(&o.ports, "ports", againstBase,
		fmt.Sprintf("`BASE` of the ports with -against: BASE+%d to BASE+%d", apiOffset, baselineOffset+lastOffset))
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is no option: see scripts/bench -help", flags.Arg(0))
	}
	for _, n := range []struct {
		flag        string
		value       float64
		least, most float64
	}{
		{"seconds", *seconds, 0, 600},
		{"artifacts", float64(o.artifacts), 2 * smallWorkspace, 10_000_000},
		{"due-artifacts", float64(o.dueArtifacts), 1, 1_000_000},
		{"processes", float64(o.processes), 1, 200},
		{"rounds", float64(o.rounds), minRounds, 100},
		{"ports", float64(o.ports), 1, 65535 - baselineOffset - lastOffset},
	} {
		if n.value < n.least || n.value > n.most {
			return o, fmt.Errorf("-%s %g is not between %.0f and %.0f", n.flag, n.value, n.least, n.most)
		}
	}
	switch {
	case o.all && o.flag != "":
		return o, errTwoModes
	case o.commit != "" && o.comparable() == nil:
		return o, fmt.Errorf("-%s cannot be compared with another commit: it is about more than hosts that serve", o.flag)
	case o.commit != "" && o.profiles != "":
		return o, errors.New("-against cannot profile: its hosts run in processes of other commits")
	}
	o.duration = time.Duration(*seconds * float64(time.Second))
	if o.duration == 0 && !(o.all && o.commit == "") { // each of all modes has its own
		o.duration = o.usual()
	}
	o.asked, err = regexp.Compile(*pattern)
	return o, err
}
