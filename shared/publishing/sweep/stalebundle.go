package sweep

import (
	"context"
	"time"

	"vitrine/shared/publishing/artifact"
)

// StaleBundle is a bundle that was given up. Its object may not exist.
type StaleBundle struct {
	Object artifact.BundleObject
	QueueItem
}

// String names the deletion in errors.
func (b StaleBundle) String() string {
	return "deletion of the bundle of revision " + string(b.Object.Revision)
}

// StaleBundles is the sweeper's view of bundles in the tables.
type StaleBundles interface {
	// DueStaleBundles reads strongly up to n bundles whose objects are due to be deleted.
	DueStaleBundles(ctx context.Context, now time.Time, n int) ([]StaleBundle, error)
	// Forget removes a bundle from the queue, unless it was moved since it was read.
	Forget(ctx context.Context, b StaleBundle) error
}

// BundleDeletions deletes from the object store.
type BundleDeletions interface {
	// DeleteBundles deletes archives. A missing one is no error.
	DeleteBundles(ctx context.Context, bundles []artifact.BundleObject) error
}

// DueBundles does one round for archives that failed attempts left behind.
func (s *Sweeper) DueBundles(ctx context.Context) (Round, error) {
	r := round{rows: s.Store, now: s.Now}
	return run(ctx, r, batchSize, s.Bundles.DueStaleBundles, func(ctx context.Context, one StaleBundle) error {
		if err := s.Archives.DeleteBundles(ctx, []artifact.BundleObject{one.Object}); err != nil {
			return err
		}
		return s.Bundles.Forget(ctx, one)
	})
}
