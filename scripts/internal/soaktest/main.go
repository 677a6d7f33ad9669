// Command soaktest lets many clients work on a stack whose engines are killed and whose calls fail, and then checks
// that no acknowledged write is lost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"vitrine/scripts/internal/crowd"
)

// The schedule of failures.
const (
	killEvery = 15 * time.Second // one engine, alternately
	downFor   = time.Second
)

func main() {
	duration := flag.Duration("duration", 5*time.Minute, "how long")
	clients := flag.Int("clients", 64, "how many")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *duration, *clients); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, duration time.Duration, clients int) (err error) {
	data, err := os.MkdirTemp("", "vitrine-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	site := &crowd.Site{Data: data, Faults: crowd.NewFaults()}
	defer func() { err = errors.Join(err, site.Stop(context.WithoutCancel(ctx))) }()
	if err := site.Start(ctx); err != nil {
		return err
	}
	all, err := crowd.New(ctx, site, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), clients)
	if err != nil {
		return err
	}
	all.Allowed.Store(math.MaxInt64)
	all.Start(ctx)
	readings := new(gauge)
	err = crash(ctx, duration, site, readings)
	site.Faults.Clear()
	if err := errors.Join(err, all.Stop(), ctx.Err()); err != nil {
		return err
	}
	f, err := all.Check(ctx, site, crowd.Outcome{Instant: time.Now(), Events: true})
	fmt.Printf("%d publications acknowledged, %d of them live, %d deletions acknowledged, "+
		"%d turns failed and were given up\n", f.Published, f.Kept, f.Deleted, f.Failed)
	return errors.Join(err, readings.verdict())
}

// crash kills and restarts the engines in turn for a while, and leaves both running.
func crash(ctx context.Context, duration time.Duration, site *crowd.Site, readings *gauge) error {
	end, tick := time.After(duration), time.Tick(killEvery)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-end:
			return nil
		case <-tick:
		}
		readings.read()
		if err := site.Crash(context.WithoutCancel(ctx), n, downFor); err != nil {
			return err
		}
	}
}
