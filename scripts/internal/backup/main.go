// Command backup copies the data of one machine while it is in use, and reads copies through.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"vitrine/scripts/internal/arguments"
	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/local/engines"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run does what the command line says and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err == nil {
		o.take.Out = stdout
		err = o.do(ctx)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case !errors.Is(err, arguments.ErrUsage):
		fmt.Fprintln(stderr, err)
	}
	return 1
}

// options are the parsed command line.
type options struct {
	take   copies.Options
	verify bool
}

// parse reads the command line. Its errors are flag.ErrHelp, arguments.ErrUsage, or one sentence for people.
func parse(args []string, stderr io.Writer) (o options, err error) {
	o.take.Now = time.Now
	flags := flag.NewFlagSet("scripts/backup", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "Usage: scripts/backup DIR [options]\n"+
			"Makes a copy of all data in a new folder below DIR. What runs on the data may go on meanwhile.")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.take.Data, "data", "", "`DIR` of the data to copy (default .vitrine in the repository)")
	flags.IntVar(&o.take.Base, "ports", 0, "`BASE` of the ports of the stack on the data (default: what the stack says)")
	flags.IntVar(&o.take.Keep, "keep", 0, "remove the oldest copies once there are more than `N` (default: keep all)")
	flags.BoolVar(&o.verify, "verify", false, "make no copy; read the newest one in DIR through, or DIR if it is a copy")
	words, err := arguments.Parse(flags, args)
	switch {
	case err != nil:
		return o, err
	case len(words) != 1:
		return o, errors.New("name one folder for the copies: scripts/backup DIR")
	case o.take.Keep < 0:
		return o, fmt.Errorf("--keep is a number of copies, not %d", o.take.Keep)
	}
	o.take.To = words[0]
	if o.take.Data != "" || o.verify {
		return o, nil
	}
	root, err := engines.Root()
	o.take.Data = filepath.Join(root, ".vitrine")
	return o, err
}

func (o options) do(ctx context.Context) error {
	if !o.verify {
		_, err := copies.Take(ctx, o.take)
		return err
	}
	c, err := copies.Newest(o.take.To)
	if err != nil {
		return err
	}
	return c.Verify(ctx, o.take.Out)
}
