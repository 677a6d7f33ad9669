// Command benchmark is the program behind scripts/bench: it measures a stack of its own on the real engines. The hosts
// run in a process of their own, so that their CPU time can be told from that of the load and of the engines.
package main

import (
	"cmp"
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
	mode                    // what is measured; without a flag: the publish flow and reads of content
	asked    *regexp.Regexp // rows
	duration time.Duration  // of each row
	profiles string         // folder for CPU profiles of the hosts; empty: none

	artifacts    int       // of the large workspace whose cost is compared
	dueArtifacts int       // that fall due at once
	line         lineSpeed // by which pages are opened
	stock        int       // how much is made for a row that uses something up; 0: enough for seconds

	commit string // that this tree is compared with; empty: none
	rounds int    // of the comparison
}

// run measures this tree, or compares it with a commit.
func (o options) run(ctx context.Context, stdout, stderr io.Writer) error {
	measured := measure
	if o.commit != "" {
		measured = against
	}
	err := measured(ctx, o, stdout, stderr)
	if ctx.Err() != nil {
		return ctx.Err() // asked to stop: what else broke broke by that
	}
	return err
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.mode = standard
	flags := flag.NewFlagSet("scripts/bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	pattern := flags.String("row", "", "measure the rows that match `REGEXP`, as content-4k/16 (default all)")
	seconds := flags.Float64("seconds", 0, "`N` seconds for each row (default 1 to 3, with -live 180)")
	flags.IntVar(&o.artifacts, "artifacts", 100_000, "`N` artifacts in the large workspace of -growth")
	flags.IntVar(&o.dueArtifacts, "due-artifacts", 3_600, "`N` artifacts that fall due at once with -due")
	for _, m := range modes {
		if m.takes == nil {
			flags.BoolFunc(m.flag, m.usage, func(string) error { return o.choose(m) })
			continue
		}
		flags.Func(m.flag, m.usage, func(value string) error { return cmp.Or(o.choose(m), m.takes(&o, value)) })
	}
	flags.StringVar(&o.profiles, "profile", "", "`DIR` for a CPU profile of the hosts' process for each row")
	flags.StringVar(&o.commit, "against", "", "compare the hosts of this tree with those of `COMMIT`, also with -routes")
	flags.IntVar(&o.rounds, "rounds", minRounds, "`N` rounds with -against")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no option: see scripts/bench -help", flags.Arg(0))
	case o.commit != "" && !o.mode.compared:
		return o, fmt.Errorf("-%s cannot be compared with another commit: it is about more than hosts that serve", o.flag)
	case o.commit != "" && o.profiles != "":
		return o, errors.New("-against cannot profile: its hosts run in turns")
	case o.rounds < minRounds:
		return o, fmt.Errorf("-rounds %d: fewer than %d have no spread", o.rounds, minRounds)
	case o.artifacts < 2*smallWorkspace || o.dueArtifacts < 1 || *seconds < 0:
		return o, errors.New("a number is too small to be measured")
	}
	usual := o.seconds
	if o.commit != "" {
		usual = 1 // there are many rounds
	}
	o.duration = time.Duration(cmp.Or(*seconds, usual) * float64(time.Second))
	o.asked, err = regexp.Compile(*pattern)
	return o, err
}
