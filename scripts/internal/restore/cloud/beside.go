package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
)

// Beside makes table core as it was at the instant beside the living set, and calls do with both sets. A table that an
// earlier call made is used again. It stays if do fails, or with keep, and is deleted otherwise. Nothing else is made,
// and the deployment serves on.
func (r Restore) Beside(ctx context.Context, keep bool, do func(then, living invariant.Deployment) error) error {
	return r.locked(func() error {
		w, err := r.beside(ctx)
		if err != nil {
			return err
		}
		table := w.Set.Core
		w.sayf("table    %s is to be %s at %s; making one takes 20 minutes at least", table, w.Living.Core,
			w.Instant.Format(time.RFC3339))
		if err := w.tables().Restore(ctx, Source{Table: w.Living.Core, At: w.Instant}, table); err != nil {
			return err
		}
		if _, err := w.tables().active(ctx, table); err != nil {
			return err
		}
		if err := do(w.deployment(w.Set), w.deployment(w.Living)); err != nil {
			return fmt.Errorf("%w; the table %s stays for the next command with this instant: delete it when you need none", err,
				table)
		}
		if keep {
			w.sayf("table    %s stays for the next command with this instant", table)
			return nil
		}
		return w.tables().Drop(ctx, table)
	})
}

// beside returns the sets, or why nothing can be brought back. It only reads.
func (r Restore) beside(ctx context.Context) (*work, error) {
	if r.At.IsZero() || r.At.After(r.Clock.Now()) {
		return nil, errors.New("say the instant to go back to, a past one, as in --at 2026-01-31T08:00:00Z")
	}
	if _, err := os.Stat(r.journalFile()); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("a restore of %s is under way, and what is put back now would be lost by it: open or abandon it "+
			"first", r.Name)
	}
	living, err := r.living()
	if err != nil {
		return nil, err
	}
	instant := r.At.UTC().Truncate(time.Second)
	then := set{dynamo.Named(r.prefix() + "part-" + stamp(instant)), living.Bucket}
	w := r.work(&journal{Instant: instant, Living: living, Set: then, Context: r.Words})
	want := dynamo.Definitions(living.Tables)[0]
	d, err := w.tables().describe(ctx, living.Core)
	if err == nil && d == nil {
		err = fmt.Errorf("the table %s is gone: restore the deployment", living.Core)
	}
	if err == nil {
		err = w.owned(ctx, d, want)
	}
	if err == nil {
		err = w.checkWindow(ctx, living.Core)
	}
	if err == nil {
		err = w.checkBucket(ctx)
	}
	if err == nil {
		err = w.readLimits()
	}
	return w, err
}
