package sweep

import (
	"context"
	"time"

	"vitrine/shared/id"
	"vitrine/shared/limits"
	"vitrine/shared/tree"
)

// Deletions is what Collector needs of the tables, beside looking at the Shelf.
type Deletions interface {
	// DueDeletions returns up to n condemned objects, read strongly, whose time has come at an instant.
	DueDeletions(ctx context.Context, now time.Time, n int) ([]Condemned, error)
	// Acquit ends the matter, unless the object was condemned anew since it was read.
	Acquit(ctx context.Context, c Condemned) error
	Unreferring
	Rows
}

// Bytes is what Collector needs of the object store.
type Bytes interface {
	// Delete removes objects; ones that are gone are no failure.
	Delete(ctx context.Context, home id.Workspace, objects []tree.Object) error
}

// Collector deletes condemned objects. By then every session has ended that was told of them before their hint was taken
// back, unless a hint came again: those that are found again live on for as long again.
type Collector struct {
	Shelf Shelf
	Store Deletions
	Finds Finds
	Bytes Bytes
	Now   func() time.Time
}

// Due does one round. more tells that others may wait.
func (c *Collector) Due(ctx context.Context) (more bool, err error) {
	due, err := c.Store.DueDeletions(ctx, c.Now(), batch)
	if err != nil {
		return false, err
	}
	return each(ctx, round{rows: c.Store, now: c.Now, many: full}, due, c.collect)
}

func (c *Collector) collect(ctx context.Context, one Condemned) error {
	found, err := c.Finds.Unhint(ctx, one.Home, one.Content, one.Object)
	if err != nil {
		return err
	}
	if found {
		return c.Store.PutOff(ctx, one.Row, c.Now().Add(limits.CollectAfter), 0)
	}
	kept, dead, err := read(c.Shelf).kept(ctx, one.Object)
	if err != nil {
		return err
	}
	if kept {
		return c.Store.Acquit(ctx, one)
	}
	if err := c.Bytes.Delete(ctx, one.Home, []tree.Object{one.Object}); err != nil {
		return err
	}
	for _, r := range dead {
		if err := c.Store.Unrefer(ctx, r, []tree.Object{one.Object}); err != nil {
			return err
		}
	}
	return c.Store.Acquit(ctx, one)
}
