// Command soaktest lets many clients work on a stack whose engines are killed and whose calls fail, and then checks
// that
// no acknowledged write is lost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/boot"
	"vitrine/shared/platform/limits"
)

// The schedule of failures.
const (
	killEvery  = 15 * time.Second // one engine, alternately
	downFor    = time.Second
	calmAtEnd  = 3 * time.Second // for clients to finish what they began
	faultShare = 0.01            // of the AWS calls
)

const tables = "soak"

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
	engines, err := engine.Start(ctx, engine.Options{Dir: filepath.Join(data, "engines")})
	if err != nil {
		return err
	}
	defer engines.Close()
	numbers := limits.Default()
	numbers.Off = true
	faults := newFaults()
	boot.SetMemory(os.Getenv)
	s, err := stack.Start(ctx, stack.Options{
		Engines:    engines,
		Data:       data,
		Tables:     tables,
		Limits:     numbers,
		Now:        time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Middleware: []func(*middleware.Stack) error{faults.Add},
	})
	if err != nil {
		return err
	}
	defer s.Close(context.Background())
	book := newRecord()
	gauge := newGauge()
	working, done := context.WithTimeout(ctx, duration)
	defer done()
	crowd := newClientGroup(working, s.Origins.API, clients, book)
	injectCrashes(working, engines, gauge)
	faults.Clear()
	left := crowd.wait(calmAtEnd)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Println(book)
	kept := book.check(ctx, s.Origins.API)
	closed := s.Close(ctx) // with its jobs, because the invariants are read piece by piece, and hold at an instant
	return errors.Join(left, kept, closed, check(ctx, engines, numbers), gauge.verdict())
}

// newFaults makes a share of all AWS calls fail: before they are sent, after they took effect, by
// throttling or conflict.
func newFaults() *chaos.Injector {
	i := chaos.New()
	kinds := []chaos.Action{chaos.Throttle, chaos.ServerError, chaos.Timeout, chaos.Unreachable}
	i.On("").Always().Before(func(ctx context.Context, c *chaos.Call) error {
		if rand.Float64() > faultShare {
			return nil
		}
		return kinds[rand.IntN(len(kinds))](ctx, c)
	})
	i.On("").Always().After(func(ctx context.Context, c *chaos.Call) error {
		if rand.Float64() > faultShare {
			return nil
		}
		return chaos.Timeout(ctx, c)
	})
	return i
}

// injectCrashes kills and restarts the engines in turn until ctx ends, and leaves both running.
func injectCrashes(ctx context.Context, engines *engine.Engines, gauge *gauge) {
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		gauge.read()
		victim := []*engine.Process{engines.DynamoDBProcess, engines.S3Process}[n%2]
		victim.Kill()
		time.Sleep(downFor)
		if err := victim.Start(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "an engine does not come back:", err)
			os.Exit(1)
		}
	}
}
