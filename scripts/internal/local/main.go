// Command local is the process behind scripts/dev: engines, hosts and the local
// edge on one machine, in the foreground.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once; the engines follow
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run starts the stack, stays until ctx ends or a part of the stack does, and
// returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err == nil {
		l := &local{options: o, out: stdout, log: stderr}
		if err = l.start(ctx); err == nil {
			err = l.stay(ctx)
		}
		if ctx.Err() != nil {
			err = nil // asked to stop, be it during the start
		}
		err = errors.Join(err, l.stop())
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case !errors.Is(err, errUsage):
		fmt.Fprintln(stderr, err)
	}
	return 1
}
