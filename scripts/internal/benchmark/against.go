package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"vitrine/scripts/local/engines"
)

// Numbers of a comparison.
const (
	minRounds     = 5  // fewer have no spread
	comparedStock = 96 // how much is made in a round for a row that uses something up
)

const thisTree = "this tree"

// comparison is everything that runs to compare two commits: a bench each, which differ in the program that serves.
type comparison struct {
	options
	names [2]string // of this tree, and of its baseline
	sides [2]*bench
	pairs []*pair
}

// pair is a row that is measured on both sides.
type pair struct {
	sides    [2]*row   // of this tree, and of the baseline
	rounds   [2][]*row // what each of them took
	unserved error     // why the baseline does not serve it
}

// against compares this tree with a commit. Everything that it makes is gone when it returns.
func against(ctx context.Context, o options, stdout, stderr io.Writer) error {
	o.inMemory = true
	if o.stock == 0 {
		o.stock = comparedStock
	}
	c := &comparison{options: o}
	for n := range c.sides {
		c.sides[n] = &bench{options: o, stderr: stderr}
	}
	folder, err := os.MkdirTemp("", "vitrine-against-")
	if err != nil {
		return err
	}
	if err = c.build(ctx, folder); err == nil {
		err = c.run(ctx)
	}
	if err == nil {
		c.report(stdout)
	}
	return errors.Join(err, c.sides[0].stop(), c.sides[1].stop(), os.RemoveAll(folder))
}

// build builds the program of the commit from a worktree, which goes again. This tree is the program that runs.
func (c *comparison) build(ctx context.Context, folder string) (err error) {
	root, err := engines.Root()
	if err != nil {
		return err
	}
	hash, err := execute(ctx, root, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", c.commit+"^{commit}")
	if err != nil {
		return fmt.Errorf("%q is no commit of this repository: `git log` shows what there is, and `git fetch` gets the rest",
			c.commit)
	}
	c.names = [2]string{thisTree, hash[:7]}
	base, tree := c.sides[1], filepath.Join(folder, "tree")
	base.say("building the hosts of %s (some minutes the first time)", c.names[1])
	base.program = filepath.Join(folder, "benchmark")
	if _, err := execute(ctx, root, "git", "worktree", "add", "--force", "--detach", tree, hash); err != nil {
		return err
	}
	defer func() {
		_, gone := execute(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, gone)
	}()
	// Without the paths of the worktree, packages that are equal in two commits are compiled once.
	flags := []string{"build", "-trimpath", "-buildvcs=false", "-o", base.program, "./scripts/internal/benchmark"}
	_, err = execute(ctx, tree, "go", flags...)
	return err
}

// execute runs a command and returns what it prints.
func execute(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	output, err := c.CombinedOutput()
	output = bytes.TrimSpace(output)
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", name, err, output)
	}
	return string(output), err
}

// run starts both sides, prepares their rows and runs all rounds. In each, both sides of a row are measured one after
// the other, so that other load on the machine falls on both. Their order changes from row to row and from round to
// round.
func (c *comparison) run(ctx context.Context) error {
	var rows [2][]*row
	for n, b := range c.sides {
		err := b.start(ctx)
		if err == nil {
			rows[n], err = b.asks(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.names[n], err)
		}
	}
	for n := range rows[0] {
		p := &pair{sides: [2]*row{rows[0][n], rows[1][n]}}
		c.pairs = append(c.pairs, p)
		if err := c.warm(ctx, p); err != nil {
			return err
		}
	}
	for number := range c.rounds {
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
			c.sides[0].say("round %d of %d, %s: %.0f requests/s, %s %.0f", number+1, c.rounds, p.sides[0].id(),
				p.rounds[0][number].rate(), c.names[1], p.rounds[1][number].rate())
		}
	}
	return nil
}

// warm runs both sides of a row for a while. A row that the baseline refuses is left out, because it may be older than
// the route; this tree has to serve all.
func (c *comparison) warm(ctx context.Context, p *pair) error {
	for n, b := range c.sides {
		_, err := c.slot(ctx, p, n, c.duration/warming)
		if _, ended := b.hosts.ask(readCommand); err != nil && n == 1 && ctx.Err() == nil && ended == nil {
			b.say("%s is left out: %v", p.sides[1].id(), err)
			p.unserved, err = err, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// slot measures one side of a row once. What the row uses up is made before.
func (c *comparison) slot(ctx context.Context, p *pair, n int, long time.Duration) (*row, error) {
	r := *p.sides[n]
	if err := c.sides[n].turn(ctx, &r, long); err != nil {
		return nil, fmt.Errorf("%s: %w", c.names[n], err)
	}
	return &r, nil
}
