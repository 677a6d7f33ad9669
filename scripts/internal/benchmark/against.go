package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"vitrine/scripts/internal/benchmark/checkout"
	"vitrine/scripts/testkit/engine"
)

// Numbers of a comparison.
const (
	minRounds      = 5 // fewer have no spread
	maxRounds      = 100
	againstSeconds = 1 // how long a row of one side is measured in a round if no flag says so
	againstBase    = 8800
	baselineOffset = 20 // of its ports
	maxBase        = 65535 - baselineOffset - lastOffset
)

const thisTree = "this tree"

// baseline is what the command line says of a comparison.
type baseline struct {
	commit string // empty: there is none
	rounds int
	base   int // of the ports
}

// declare adds the flags of a comparison.
func (b *baseline) declare(flags *flag.FlagSet) {
	const usage = "compare the hosts of this tree with those of `COMMIT`, " +
		"also with -pages, -publishes, -mix, -routes or -all"
	flags.Func("against", usage, func(commit string) error {
		if b.commit = commit; commit == "" {
			return errors.New("name a commit")
		}
		return nil
	})
	flags.IntVar(&b.rounds, "rounds", minRounds, "`N` rounds with -against")
	flags.IntVar(&b.base, "ports", againstBase,
		fmt.Sprintf("`BASE` of the ports with -against: BASE+%d to BASE+%d", apiOffset, baselineOffset+lastOffset))
}

// checkBaseline refuses what a comparison cannot do.
func (o options) checkBaseline() error {
	b := o.baseline
	switch {
	case b.rounds < minRounds || b.rounds > maxRounds:
		return fmt.Errorf("-rounds %d is not between %d and %d", b.rounds, minRounds, maxRounds)
	case b.base < 1 || b.base > maxBase:
		return fmt.Errorf("-ports %d is not between 1 and %d", b.base, maxBase)
	case b.commit != "" && o.measure != nil && o.compared == nil:
		return fmt.Errorf("-%s cannot be compared with another commit: it measures more than hosts that only serve", o.flag)
	case b.commit != "" && o.profiles != "":
		return errors.New("-against cannot profile: its hosts run in processes of other commits")
	}
	return nil
}

// comparison is everything that runs to compare two commits.
type comparison struct {
	options
	stderr io.Writer

	worktrees *checkout.Folder
	temporary string   // folder for all temporary files, of the worktrees
	sides     [2]*side // this tree, and its baseline
	pairs     []*pair
}

// against compares this tree with a commit. Everything that it makes is gone when it returns.
func against(ctx context.Context, o options, stdout, stderr io.Writer) error {
	c := &comparison{options: o, stderr: stderr}
	err := c.run(ctx)
	if ctx.Err() != nil {
		err = ctx.Err() // asked to stop: what else broke broke by that
	}
	if err == nil {
		c.report(stdout)
	}
	return errors.Join(err, c.close(ctx))
}

func (c *comparison) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.checkOut, c.build, c.start, c.prepare, c.measure} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkOut makes a worktree for each side. This tree is taken as it is, also with what is not committed.
func (c *comparison) checkOut(ctx context.Context) error {
	root, err := engine.Root()
	if err != nil {
		return err
	}
	repository := checkout.Repository{Root: root}
	base, err := repository.Find(ctx, c.baseline.commit)
	if err != nil {
		return err
	}
	if err := c.oppose(base); err != nil {
		return err
	}
	this, err := repository.Snapshot(ctx)
	if err != nil {
		return err
	}
	if c.worktrees, err = repository.Open(ctx); err != nil {
		return err
	}
	for n, commit := range []checkout.Commit{this, base} {
		if c.sides[n].tree, err = c.worktrees.Add(ctx, commit); err != nil {
			return err
		}
	}
	c.temporary, err = c.worktrees.Temporary()
	return err
}

// oppose names both sides and makes sure that their ports are free.
func (c *comparison) oppose(base checkout.Commit) error {
	c.sides = [2]*side{
		{name: thisTree, base: c.baseline.base},
		{name: base.Short(), base: c.baseline.base + baselineOffset},
	}
	return c.each((*side).freePorts)
}

// each works on one side after the other, up to an error.
func (c *comparison) each(work func(*side) error) error {
	for _, s := range c.sides {
		if err := work(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) build(ctx context.Context) error {
	return c.each(func(s *side) error {
		c.say("building the stack and the functions of %s (some minutes the first time)", s.name)
		return s.build(ctx, c.temporary)
	})
}

func (c *comparison) start(ctx context.Context) error {
	return c.each(func(s *side) error {
		c.say("starting engines and hosts of %s", s.name)
		return s.start(ctx, c.temporary, c.counts())
	})
}

// close ends both stacks at the same time, then removes the worktrees with the temporary files.
func (c *comparison) close(ctx context.Context) error {
	var errs []error
	for _, s := range c.sides {
		errs = append(errs, s.stop())
	}
	for _, s := range c.sides {
		s.wait()
	}
	if c.worktrees != nil {
		errs = append(errs, c.worktrees.Close(ctx))
	}
	return errors.Join(errs...)
}

func (c *comparison) say(format string, args ...any) { fmt.Fprintf(c.stderr, format+"\n", args...) }
