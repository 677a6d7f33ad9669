// Command drill loses data on purpose and brings it back from a copy: agents and people work on a stack while a copy is
// taken, something is destroyed, and what the copy promises is asked for on the restored stack.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"

	"vitrine/scripts/internal/crowd"
)

// The sizes of a drill.
const (
	defaultRounds    = 20
	defaultArtifacts = 50
	fullRounds       = 50
	fullArtifacts    = 200
	largeArtifacts   = 10_000 // of the last round of a full drill
)

// options are the parsed command line.
type options struct {
	rounds, artifacts int
	seed              uint64
	full              bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil:
		err = drill(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const help = `Usage: scripts/drill [-rounds N] [-artifacts N] [-seed N] [-full]

Each round starts a stack in a folder of its own, lets agents and people publish, revise, share, pin, claim, revoke and
delete, takes a copy meanwhile, destroys something, restores the copy and asks for everything that was acknowledged. It
ends with an error at the first round that lost anything, whose folder stays.

In AWS a drill is a task of the operator's scheduler that runs the commands of a restore without the switch:
"scripts/restore plan NAME --at T", then "run", which makes tables with the names NAME-restore-* and disables the
schedules of the jobs, then "check", which fails if anything is not whole, then "abandon", which deletes those tables and
enables the schedules again. Give the role of that task rights on tables with these names and on these schedules, and
nothing else that changes the deployment. While a drill has tables, a real restore is refused: abandon it first.
`

// parse reads the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("scripts/drill", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, help, "\n")
		flags.PrintDefaults()
	}
	flags.IntVar(&o.rounds, "rounds", defaultRounds, "how many rounds")
	flags.IntVar(&o.artifacts, "artifacts", defaultArtifacts, "how many artifacts are made in a round")
	flags.Uint64Var(&o.seed, "seed", 0, "of the first round, as a failed round printed it; the next has the next one")
	flags.BoolVar(&o.full, "full", false,
		fmt.Sprintf("%d rounds of up to %d artifacts and one of %d", fullRounds, fullArtifacts, largeArtifacts))
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no option: see scripts/drill -help", flags.Arg(0))
	case o.rounds < 1 || o.artifacts < minArtifacts:
		return o, fmt.Errorf("a drill has 1 round or more, of %d artifacts or more", minArtifacts)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1<<32) * uint64(len(destructions)) // so that the kinds begin at the first
	}
	return o, nil
}

// drill runs all rounds, prints each, and then the worst.
func drill(ctx context.Context, o options, out io.Writer) error {
	folder, err := os.MkdirTemp("", "vitrine-drill-")
	if err != nil {
		return err
	}
	rounds := o.plan(folder)
	header(out)
	var worst crowd.Figures
	for _, r := range rounds {
		err := r.run(ctx)
		r.print(out)
		if err != nil {
			return fmt.Errorf("round %d (%s) failed; its folder is %s; -seed %[1]d -artifacts %[4]d repeats it:\n%w",
				r.seed, r.name, r.folder, r.artifacts, err)
		}
		worst.Lost = max(worst.Lost, r.figures.Lost)
		worst.Window = max(worst.Window, r.figures.Window)
		if err := os.RemoveAll(r.folder); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d rounds: nothing acknowledged before a copy is lost; since a copy at worst %d publications in "+
		"%.1f s\n", len(rounds), worst.Lost, worst.Window.Seconds())
	return os.Remove(folder)
}

// plan returns the rounds.
func (o options) plan(folder string) (rounds []*round) {
	sizes := make([]int, o.rounds)
	for n := range sizes {
		sizes[n] = o.artifacts
	}
	if o.full {
		sizes = make([]int, fullRounds, fullRounds+1)
		for n := range sizes {
			sizes[n] = minArtifacts + (n*37)%(fullArtifacts-minArtifacts+1)
		}
		sizes = append(sizes, largeArtifacts)
	}
	for n, size := range sizes {
		seed := o.seed + uint64(n)
		rounds = append(rounds, newRound(filepath.Join(folder, fmt.Sprint(seed)), seed, size))
	}
	return rounds
}

func header(out io.Writer) {
	fmt.Fprintf(out, "%-20s %-13s %9s %6s %6s %6s %7s %7s %7s %6s %7s\n", "seed", "destroyed", "artifacts", "kept",
		"ended", "since", "copy s", "back s", "switch", "lost", "window")
}

// print prints the figures of a round as a line.
func (r *round) print(out io.Writer) {
	f := r.figures
	fmt.Fprintf(out, "%-20d %-13s %9d %6d %6d %6d %7.1f %7.1f %7.1f %6d %6.1fs\n", r.seed, r.name, f.Artifacts, f.Kept,
		f.Ended, f.Since, f.copied.Seconds(), f.restored.Seconds(), f.switched.Seconds(), f.Lost, f.Window.Seconds())
}
