package async_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"vitrine/shared/platform/async"
)

var errBroken = errors.New("broken")

func panics() error { panic("out of range") }

// wantPanic checks that an error is that of panics, with its stack apart from its text.
func wantPanic(t *testing.T, err error) {
	t.Helper()
	stack := string(async.StackOf(err))
	if err == nil || err.Error() != "panic: out of range" || !strings.Contains(stack, "async_test.panics") {
		t.Errorf("%v, stack %s", err, async.StackOf(err))
	}
}

func TestAPanicInAStepIsItsError(t *testing.T) {
	for name, run := range map[string]func() error{
		"Run":   func() error { return async.Run(panics) },
		"Start": func() error { return async.Start(panics)() },
		"All":   func() error { return async.All(func() error { return nil }, panics, func() error { return errBroken }) },
		"Go": func() error {
			_, err := async.Go(func() (int, error) { return 1, panics() }).Wait()
			return err
		},
		"Group": func() error {
			g, ctx := async.WithContext(t.Context())
			g.Go(panics)
			err := g.Wait()
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Error("the other steps go on")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { wantPanic(t, run()) })
	}
}

func TestAResultIsWaitedForMoreThanOnce(t *testing.T) {
	f := async.Go(func() (int, error) { return 7, errBroken })
	<-f.Done()
	for range 2 {
		if n, err := f.Wait(); n != 7 || !errors.Is(err, errBroken) || async.StackOf(fmt.Errorf("read: %w", err)) != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
}

func TestTheFirstStepThatFailedDecidesAfterAllHaveEnded(t *testing.T) {
	ended, other := make(chan struct{}), errors.New("other")
	err := async.All(
		func() error { <-ended; return errBroken },
		func() error { return other },
		func() error { close(ended); return nil })
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
