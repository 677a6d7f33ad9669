package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/benchmark/checkout"
	"vitrine/scripts/testkit/engine"
)

// Numbers of a comparison.
const (
	minRounds      = 5 // fewer have no spread
	againstSeconds = 1 // how long a row of one side is measured in a round if no flag says so
	againstBase    = 8800
	baselineOffset = 20 // of its ports
	comparedStock  = 96 // how much is made in a round for a row that uses something up
)

const thisTree = "this tree"

// comparison is everything that runs to compare two commits.
type comparison struct {
	options
	stderr io.Writer

	folder *checkout.Folder
	sides  [2]*side // this tree, and its baseline
	pairs  []*pair
}

// pair is a row that is measured on both sides.
type pair struct {
	sides    [2]row    // of this tree, and of the baseline
	rounds   [2][]*row // what each of them took
	unserved error     // why the baseline does not serve it
}

func (p *pair) id() string { return p.sides[0].id() }

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
	root, err := engine.Root()
	if err != nil {
		return err
	}
	repository := checkout.Repository{Root: root}
	commit, err := repository.Find(ctx, c.commit)
	if err != nil {
		return err
	}
	// This tree is taken as it is, also with what is not committed.
	this := &side{name: thisTree, base: c.ports, tree: checkout.Tree{Dir: root}}
	base := &side{name: commit.Short(), base: c.ports + baselineOffset}
	if err := errors.Join(this.freePorts(), base.freePorts()); err != nil {
		return err
	}
	if c.folder, err = repository.Open(ctx, commit); err != nil {
		return err
	}
	base.tree = c.folder.Tree
	c.sides = [2]*side{this, base}
	for _, s := range c.sides {
		c.say("building the stack and the functions of %s (some minutes the first time)", s.name)
		if err := s.build(ctx, c.folder.Temporary); err != nil {
			return err
		}
	}
	for _, s := range c.sides {
		c.say("starting engines and hosts of %s", s.name)
		watcher := filepath.Join(root, ".vitrine", "bin", "s3d")
		if err := s.start(ctx, watcher, c.folder.Temporary, c.counts()); err != nil {
			return err
		}
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	return c.measure(ctx)
}

// prepare makes the rows that the command line asks for.
func (c *comparison) prepare(ctx context.Context) error {
	of := c.comparable()
	if c.all {
		of = allCompared
	}
	var rows [2][]row
	for n, s := range c.sides {
		c.say("publishing what is read from %s", s.name)
		o := c.options
		o.stock = cmp.Or(o.stock, comparedStock)
		s.bench = &bench{
			options: o,
			stderr:  c.stderr,
			place:   s.place,
			side:    s,
		}
		var err error
		if rows[n], err = s.rows(ctx, of); err != nil {
			return s.explain(err)
		}
	}
	for n, this := range rows[0] {
		if c.asked.MatchString(this.id()) {
			c.pairs = append(c.pairs, &pair{sides: [2]row{this, rows[1][n]}})
		}
	}
	if c.pairs == nil {
		return fmt.Errorf("no row matches %q", c.asked)
	}
	return nil
}

// measure runs all rounds. In each, both sides of a row are measured one after the other, so that other load on the
// machine falls on both. Their order changes from row to row and from round to round.
func (c *comparison) measure(ctx context.Context) error {
	rounds, first := c.rounds, c.duration/warming
	all := time.Duration(2*len(c.pairs)) * (time.Duration(rounds)*c.duration + first)
	c.say("measuring %d rows in %d rounds: about %v, and what it takes to prepare them",
		len(c.pairs), rounds, all.Round(time.Second))
	for _, p := range c.pairs {
		if err := c.warm(ctx, p, first); err != nil {
			return err
		}
	}
	for number := range rounds {
		for i, p := range c.pairs {
			if p.unserved != nil {
				continue
			}
			first := (number + i) % 2
			for _, n := range []int{first, 1 - first} {
				r, err := c.slot(ctx, p, n, c.duration)
				if err != nil {
					return err
				}
				p.rounds[n] = append(p.rounds[n], r)
			}
			c.say("round %d of %d, %s: %.0f requests/s, %s %.0f", number+1, rounds, p.id(),
				p.rounds[0][number].rate(), c.sides[1].name, p.rounds[1][number].rate())
		}
	}
	return nil
}

// warm runs both sides of a row for a while. A row that the baseline refuses is left out, because it may be older than
// the route; this tree has to serve all.
func (c *comparison) warm(ctx context.Context, p *pair, long time.Duration) error {
	for n, s := range c.sides {
		_, err := c.slot(ctx, p, n, long)
		if err != nil && n == 1 && ctx.Err() == nil && s.running() {
			p.unserved = err
			c.say("%s is left out: %v", p.id(), err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// slot measures one side of a row once. What the row uses up is made before.
func (c *comparison) slot(ctx context.Context, p *pair, n int, long time.Duration) (*row, error) {
	r, s := p.sides[n], c.sides[n]
	err := s.bench.turn(ctx, &r, long)
	if err != nil {
		err = s.explain(err)
	}
	return &r, err
}

// counts tells whether both sides count requests.
func (c *comparison) counts() bool { return c.sides[0].lifted && c.sides[1].lifted }

// close ends both stacks at the same time, then removes the worktree with the temporary files.
func (c *comparison) close(ctx context.Context) error {
	for _, s := range c.sides {
		s.stop()
	}
	for _, s := range c.sides {
		s.wait()
	}
	if c.folder == nil {
		return nil
	}
	return c.folder.Close(ctx)
}

func (c *comparison) say(format string, args ...any) { fmt.Fprintf(c.stderr, format+"\n", args...) }
