// Command soaktest lets many clients work on a stack whose engines are killed and whose calls fail, and then checks
// that no acknowledged write is lost.
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
	"sync"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/local/engines"
	"vitrine/shared/adapter/chaos"
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
	running, err := engines.Start(ctx, engines.Options{Dir: filepath.Join(data, "engines")})
	if err != nil {
		return err
	}
	defer running.Close()
	numbers := limits.Default()
	numbers.Off = true
	faults := newFaults()
	assembly.SetMemory(os.Getenv)
	s, err := stack.Start(ctx, stack.Options{
		Engines:    running,
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
	readings := new(gauge)
	working, done := context.WithTimeout(ctx, duration)
	defer done()
	crowd := newCrowd(working, s.Origins.API, clients)
	injectCrashes(working, running, readings)
	faults.Clear()
	if err := crowd.wait(); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	kept := crowd.check(ctx)
	closed := s.Close(ctx) // with its jobs, because the invariants are read piece by piece, and hold at an instant
	return errors.Join(kept, closed, check(ctx, running, numbers), readings.verdict())
}

// crowd is clients at work.
type crowd struct {
	clients []*client
	ended   chan struct{}
}

func newCrowd(ctx context.Context, api string, size int) *crowd {
	c := &crowd{ended: make(chan struct{})}
	var all sync.WaitGroup
	for n := range size {
		one := newClient(n)
		c.clients = append(c.clients, one)
		all.Go(func() { one.work(ctx, api) })
	}
	go func() {
		all.Wait()
		close(c.ended)
	}()
	return c
}

// wait gives the clients time to finish what they began.
func (c *crowd) wait() error {
	select {
	case <-c.ended:
		return nil
	case <-time.After(requestTimeout + calmAtEnd):
		return errors.New("clients hang although every request has a deadline")
	}
}

// check prints what the clients did and reads what they were told.
func (c *crowd) check(ctx context.Context) error {
	var wrong []error
	var published, live, gone, failed int
	for _, one := range c.clients {
		published += one.published
		live += len(one.live)
		gone += len(one.gone)
		failed += one.failed
		wrong = append(wrong, one.check(ctx)...)
	}
	fmt.Printf("%d publications acknowledged, %d of them live, %d deletions acknowledged, "+
		"%d turns failed and were given up\n", published, live, gone, failed)
	return errors.Join(wrong...)
}

// newFaults makes a share of all AWS calls fail: before they are sent, after they took effect, by
// throttling or conflict.
func newFaults() *chaos.Injector {
	i := chaos.New()
	seldom := func(fail chaos.Action) chaos.Action {
		return func(ctx context.Context, c *chaos.Call) error {
			if rand.Float64() > faultShare {
				return nil
			}
			return fail(ctx, c)
		}
	}
	kinds := []chaos.Action{chaos.Throttle, chaos.ServerError, chaos.Timeout, chaos.Unreachable}
	i.On("").Always().Before(seldom(func(ctx context.Context, c *chaos.Call) error {
		return kinds[rand.IntN(len(kinds))](ctx, c)
	}))
	i.On("").Always().After(seldom(chaos.Timeout))
	return i
}

// injectCrashes kills and restarts the engines in turn until ctx ends, and leaves both running.
func injectCrashes(ctx context.Context, running *engines.Engines, readings *gauge) {
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		readings.read()
		victim := []*engines.Process{running.DynamoDBProcess, running.S3Process}[n%2]
		victim.Kill()
		time.Sleep(downFor)
		if err := victim.Start(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "an engine does not come back:", err)
			os.Exit(1)
		}
	}
}
