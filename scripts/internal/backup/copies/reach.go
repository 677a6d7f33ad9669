package copies

import (
	"context"
	"errors"
	"io"
	"os"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
)

// reach finds the engines of the stack that runs on the data folder. If none does, it locks the folder and starts
// engines on it, which leave ends.
func (t *taking) reach(ctx context.Context) (leave func() error, err error) {
	nothing := func() error { return nil }
	if t.Engines != nil {
		return nothing, nil
	}
	lock, err := folder.Take(t.Data, folder.User{PID: os.Getpid()})
	if used := (*folder.InUseError)(nil); errors.As(err, &used) {
		return nothing, t.join(used)
	}
	if err != nil {
		return nothing, err
	}
	t.say("starting engines on %s, because no stack runs there", t.Data)
	t.Engines, err = engines.Start(ctx, engines.Options{Dir: t.Data, Own: true, Log: io.Discard})
	if err != nil {
		return nothing, errors.Join(err, lock.Release())
	}
	return func() error { return errors.Join(t.Engines.Close(), lock.Release()) }, nil
}

// join uses the engines of the stack that has the folder.
func (t *taking) join(used *folder.InUseError) (err error) {
	base, err := used.Base(t.Base)
	if err != nil {
		return err
	}
	t.Engines, err = engines.At(base)
	return err
}
