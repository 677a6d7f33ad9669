// Command rotation replaces the keys of a key ring in steps: stage, flip, drop. It never prints a key.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"vitrine/scripts/internal/arguments"
	"vitrine/shared/platform/keyring"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], tool{out: os.Stdout, complaints: os.Stderr, now: time.Now}))
}

// tool is the environment of a run.
type tool struct {
	out, complaints io.Writer
	now             func() time.Time
}

// run takes one step and returns the exit code: 1 if a change was expected and none happened.
func run(ctx context.Context, args []string, t tool) int {
	o, err := parse(args, t.complaints)
	if err == nil {
		err = t.take(ctx, o)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case !errors.Is(err, arguments.ErrUsage):
		fmt.Fprintln(t.complaints, explain(err, o, t.now()))
	}
	return 1
}

// take takes the step of the options.
func (t tool) take(ctx context.Context, o options) error {
	v, err := open(ctx, o)
	if err != nil {
		return err
	}
	if o.step == "status" {
		return t.status(ctx, v, o)
	}
	did := ""
	ring, err := v.change(ctx, o.ring, func(r keyring.Ring) (after keyring.Ring, err error) {
		after, did, err = o.apply(r, t.now())
		return after, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s: %s\n\n", o.ring, did)
	t.show(ring)
	fmt.Fprintf(t.out, "\nnow   %s\n", v.restart())
	t.next(o, ring)
	return nil
}

// apply applies the step to a ring and prints what it did.
func (o options) apply(r keyring.Ring, now time.Time) (after keyring.Ring, did string, err error) {
	switch o.step {
	case "stage":
		after, err = r.Stage(now)
		if err == nil {
			did = fmt.Sprintf("key %d is staged: it checks, and does not sign yet", after.Keys[len(after.Keys)-1].ID)
		}
	case "flip":
		after, err = r.Flip(now, keyring.Drain(o.ring), o.urgency)
		did = fmt.Sprintf("key %d signs from now on; key %d only checks what it signed", after.ActiveID, r.ActiveID)
	case "drop":
		var gone []byte
		after, gone, err = r.Drop(now, o.urgency)
		did = fmt.Sprintf("%s gone, and what is left of its signatures is refused", keys(gone))
	}
	return after, did, err
}

// status shows the ring, or all rings.
func (t tool) status(ctx context.Context, v vault, o options) error {
	names := []string{o.ring}
	if o.ring == "" {
		names = keyring.Names()
	}
	for i, name := range names {
		ring, err := v.read(ctx, name)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		fmt.Fprintf(t.out, "%s\n", name)
		o.ring = name
		t.show(ring)
		t.next(o, ring)
	}
	return nil
}
