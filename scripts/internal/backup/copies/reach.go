package copies

import (
	"context"
	"errors"
	"io"
	"os"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
)

// Reach gives a function the engines on a data folder: those of the stack that runs there, whose ports have a base, or
// else new ones, alone on the locked folder. A base of 0 is what the stack says.
func Reach(ctx context.Context, data string, base int, use func(e *engines.Engines, alone bool) error) error {
	lock, err := folder.Take(data, folder.User{PID: os.Getpid()})
	if used, ok := errors.AsType[*folder.InUseError](err); ok {
		if base, err = used.Base(base); err != nil {
			return err
		}
		e, err := engines.At(base)
		if err != nil {
			return err
		}
		return use(e, false)
	}
	if err != nil {
		return err
	}
	e, err := engines.Start(ctx, engines.Options{Dir: data, Own: true, Log: io.Discard})
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	return errors.Join(use(e, true), e.Close(), lock.Release())
}
