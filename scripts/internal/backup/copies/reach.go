package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
)

// Ports of the engines of a stack, counted from its base.
const (
	dynamoDBOffset = 11
	s3Offset       = 12
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
	base := used.By.Base
	if t.Base != 0 {
		base = t.Base
	}
	if base == 0 {
		return fmt.Errorf("process %d uses %s and does not tell its ports: name them with --ports, or stop it",
			used.By.PID, t.Data)
	}
	t.Engines, err = engines.At(engines.Options{DynamoDBPort: base + dynamoDBOffset, S3Port: base + s3Offset})
	return err
}
