// Command restore brings data back: a copy of one machine into a new data folder, a deployment in AWS to an instant, or
// one artifact or workspace.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vitrine/scripts/internal/arguments"
	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/part"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], tool{out: os.Stdout, complaints: os.Stderr, now: time.Now}))
}

// tool is the environment of a run.
type tool struct {
	out, complaints io.Writer
	now             func() time.Time
}

// run takes one step and returns the exit code: 1 if it was refused, failed, or left something that is not whole.
func run(ctx context.Context, args []string, t tool) int {
	err := t.do(ctx, args)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(t.complaints, "stopped: give the same command again, it goes on")
	case !errors.Is(err, arguments.ErrUsage):
		fmt.Fprintln(t.complaints, err)
	}
	return 1
}

// do parses the command line and does what it says.
func (t tool) do(ctx context.Context, args []string) error {
	o, err := parse(args, t)
	if err != nil {
		return err
	}
	return commands[o.command].do(ctx, o)
}

// restore is a big restore, on one machine or in AWS. Each step can be interrupted and taken again.
type restore interface {
	// Plan says what Run would do, without a change.
	Plan(ctx context.Context) error
	// Run makes the restored set beside the living one.
	Run(ctx context.Context) error
	// Check repairs what it can in the restored set. It returns an error if something is left.
	Check(ctx context.Context) error
	// Switch makes the restored set the one that serves.
	Switch(ctx context.Context) error
	// Open lets things expire again with expire, and otherwise says how many would.
	Open(ctx context.Context, expire bool) error
	// Abandon deletes the restored set.
	Abandon(ctx context.Context) error
}

// command is a word after scripts/restore.
type command struct {
	begins bool // it names a copy or an instant; the others go on with what was begun
	small  bool // it puts back the artifact or the workspace that it names
	do     func(context.Context, options) error
}

// commands has every command. It is set when the program starts, because parsing refers to it.
var commands map[string]command

func init() {
	commands = map[string]command{
		"plan":    {begins: true, do: big(restore.Plan)},
		"run":     {begins: true, do: big(restore.Run)},
		"check":   {do: big(restore.Check)},
		"switch":  {do: big(restore.Switch)},
		"open":    {do: open},
		"abandon": {do: big(restore.Abandon)},

		part.OfArtifact:  {begins: true, small: true, do: putBack},
		part.OfWorkspace: {begins: true, small: true, do: putBack},
	}
}

// big returns a command that is a step of a big restore.
func big(step func(restore, context.Context) error) func(context.Context, options) error {
	return func(ctx context.Context, o options) error {
		r, err := o.restore(ctx)
		if err != nil {
			return err
		}
		return step(r, ctx)
	}
}

func open(ctx context.Context, o options) error {
	r, err := o.restore(ctx)
	if err != nil {
		return err
	}
	return r.Open(ctx, o.expire)
}

// putBack brings an artifact or a workspace back, while everybody else writes.
func putBack(ctx context.Context, o options) error {
	if o.name != "" {
		return o.putBackInAWS(ctx)
	}
	data, err := inUse(o.data)
	if err != nil {
		return err
	}
	c, err := copies.Open(o.from)
	if err != nil {
		return err
	}
	return o.part.OnMachine(ctx, part.Machine{
		Copy: c,
		Data: data,
		Base: o.base,
		Out:  o.out,
	})
}
