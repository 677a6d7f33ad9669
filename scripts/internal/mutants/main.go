// Command mutants plants faults in the code, one at a time, and tells which of them no test catches. It chooses them
// from a seed, changes no file, and writes what it found to a file from which a later run can go on or can try the same
// faults again on tests that have changed.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

type options struct {
	number  int
	seed    uint64
	minutes int
	found   string // a file of faults, one a line, as JSON
	replay  string // such a file of an earlier run
}

func main() {
	var o options
	flag.IntVar(&o.number, "n", 150, "how many faults to plant")
	flag.Uint64Var(&o.seed, "seed", 1, "what the choice of faults depends on")
	flag.IntVar(&o.minutes, "minutes", 360, "how long it may take; what was found by then is written")
	flag.StringVar(&o.found, "found", ".vitrine/mutants.jsonl", "`FILE` to write; if it exists, its run goes on")
	flag.StringVar(&o.replay, "replay", "", "`FILE` of an earlier run whose faults are planted again")
	flag.Parse()
	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(interrupted, time.Duration(o.minutes)*time.Minute)
	defer cancel()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	r := &round{b: newBench(root, scratch), found: o.found, out: out}
	if r.faults, err = r.chosen(ctx, o); err != nil {
		return err
	}
	if o.replay != "" {
		err = r.repeat(ctx)
	}
	if err == nil {
		err = r.all(ctx)
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(out, "stopped: run it again with the same -found to go on")
		err = nil
	}
	r.report()
	return err
}

// round is one run over the chosen faults.
type round struct {
	b      bench
	found  string
	out    io.Writer
	faults []fault
}

// chosen returns the faults of an earlier run, or a new choice.
func (r *round) chosen(ctx context.Context, o options) ([]fault, error) {
	candidates, err := find(r.b.root)
	if err != nil {
		return nil, err
	}
	for _, file := range []string{o.found, o.replay} {
		if known, err := read(file); err == nil {
			return r.located(known, candidates), nil
		} else if file == o.replay && file != "" {
			return nil, err
		}
	}
	var chosen []fault
	for _, f := range shuffled(candidates, o.seed) {
		if len(chosen) == o.number {
			break
		}
		ok, err := r.b.compiles(ctx, f)
		if err != nil {
			return nil, err
		}
		if ok {
			chosen = append(chosen, f)
		}
	}
	fmt.Fprintf(r.out, "chose %d of %d possible faults\n", len(chosen), len(candidates))
	return chosen, write(r.found, chosen)
}

// located returns those of the known faults that the tree still has a place for, and tells of the others.
func (r *round) located(known, candidates []fault) []fault {
	var here []fault
	for _, f := range known {
		i := slices.IndexFunc(candidates, func(c fault) bool { return c.place == f.place })
		if i < 0 {
			fmt.Fprintf(r.out, "gone: %s %s in %s: %s\n", f.Kind, f.File, f.Func, f.Text)
			continue
		}
		now := candidates[i]
		now.Caught, now.Reached = f.Caught, f.Reached
		here = append(here, now)
	}
	return here
}

// repeated is the step of faults that the test catches that caught them before.
const repeated = "again"

// repeat runs for each fault that was caught the test that caught it. What is caught no more goes through all steps
// anew.
func (r *round) repeat(ctx context.Context) error {
	return r.each(func(f *fault) error {
		tests := again(f.Caught)
		if f.Reached == repeated { // by a run that this one goes on with
			return nil
		}
		f.Caught, f.Reached = "", ""
		if tests == nil {
			return nil
		}
		var err error
		if f.Caught, err = r.b.failing(ctx, *f, tests); f.Caught != "" {
			f.Reached = repeated
		}
		return err
	})
}

// all takes the faults through the steps.
func (r *round) all(ctx context.Context) error {
	importers, err := importersOf(ctx, r.b.root)
	if err != nil {
		return err
	}
	journeys, err := journeysOf(ctx, r.b.root)
	if err != nil {
		return err
	}
	all := r.b.steps(importers, journeys)
	for i, s := range all {
		fmt.Fprintln(r.out, "step:", s.name)
		err := r.each(func(f *fault) error {
			done := slices.IndexFunc(all, func(s step) bool { return s.name == f.Reached })
			if f.Caught != "" || done >= i {
				return nil
			}
			if tests := s.tests(*f); len(tests) > 0 {
				caught, err := r.b.failing(ctx, *f, tests)
				if err != nil {
					return err
				}
				f.Caught = caught
				r.tell(*f)
			}
			f.Reached = s.name
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each changes the faults one by one and writes all after each change, so that nothing found is lost.
func (r *round) each(change func(*fault) error) error {
	for i := range r.faults {
		before := r.faults[i]
		if err := change(&r.faults[i]); err != nil {
			r.faults[i] = before
			return err
		}
		if r.faults[i] != before {
			if err := write(r.found, r.faults); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *round) tell(f fault) {
	verdict := "missed"
	if f.Caught != "" {
		verdict = "caught by " + f.Caught
	}
	fmt.Fprintf(r.out, "%s %s:%d %s: %s\n", f.Kind, f.File, f.Line, f.Func, verdict)
}

func (r *round) report() {
	missed, untried := 0, 0
	for _, f := range r.faults {
		switch {
		case f.Caught != "":
		case f.Reached == "":
			untried++
		default:
			missed++
			fmt.Fprintf(r.out, "missed: %s %s:%d in %s, after step %q: %s\n", f.Kind, f.File, f.Line, f.Func, f.Reached, f.Text)
		}
	}
	caught := len(r.faults) - missed - untried
	fmt.Fprintf(r.out, "%d faults, %d caught, %d missed, %d not tried yet\n", len(r.faults), caught, missed, untried)
}

func read(path string) ([]fault, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []fault
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var f fault
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, f)
	}
	return all, lines.Err()
}

func write(path string, all []fault) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, f := range all {
		if err := encoder.Encode(f); err != nil {
			return err
		}
	}
	if err := os.WriteFile(path+".new", lines.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
