package part

import (
	"context"
	"fmt"
	"io"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/async"
)

// Machine is a copy of one machine, and the data folder in use.
type Machine struct {
	Copy copies.Copy
	Data string
	Base int // of the ports of the stack on Data; 0: what the stack says
	Out  io.Writer
}

// OnMachine puts the part back on one machine.
func (p Part) OnMachine(ctx context.Context, m Machine) error {
	snapshot := func(scratch string) error {
		err := copies.Snapshot(ctx, m.Copy.Dir, scratch)
		if err != nil {
			return fmt.Errorf("the tables of the copy cannot be read: %w: use another copy", err)
		}
		return nil
	}
	return copies.Reach(ctx, m.Data, m.Base, func(living *engines.Engines, alone bool) error {
		wait := async.Sleep
		if alone { // no jobs run that it would wait for
			wait = func(context.Context, time.Duration) error { return nil }
		}
		return copies.Scratch(ctx, "", snapshot, func(saved *engines.Engines) error {
			return p.PutBack(ctx, Restore{
				From:    m.deployment(saved),
				To:      m.deployment(living),
				Instant: m.Copy.At,
				Now:     time.Now,
				Out:     m.Out,
				Copy:    objects.Of(m.Copy),
				Wait:    wait,
			})
		})
	})
}

func (m Machine) deployment(e *engines.Engines) invariant.Deployment {
	return invariant.Deployment{
		DynamoDB: e.DynamoDBClient(),
		Tables:   m.Copy.Tables,
		S3:       e.S3Client(),
		Bucket:   e.Bucket,
		Limits:   m.Copy.Limits(m.Data),
	}
}
