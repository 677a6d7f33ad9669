package part

import (
	"context"
	"time"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
)

// discard gives up the revisions that were made since, with their files, because the numbers of revisions have no gaps.
func (r Restore) discard(ctx context.Context, p Plan) error {
	to, of := r.to(), r.recovery(p)
	living, err := to.Recoveries.Read(ctx, p.Artifact)
	if err != nil {
		return err
	}
	for _, later := range of.Later(living) {
		// an attempt to make its bundle that is under way has ended by then
		if err := to.Recoveries.Drop(ctx, of, later, r.Now().Add(limits.BundleLease)); err != nil {
			return err
		}
	}
	if living, err = to.Recoveries.Read(ctx, p.Artifact); err != nil {
		return err
	}
	purges := of.Unpurged(living)
	if len(purges) == 0 {
		return nil
	}
	purger := sweep.Purger{
		References: to.Garbage,
		Store:      discarded{to.Garbage, purges},
		Queue:      discarded{to.Garbage, purges},
		Index:      to.ContentIndex,
		Bundles:    r.blobs(),
		Now:        r.Now,
		Watch:      func() time.Time { return time.Time{} },
	}
	_, err = purger.Due(ctx)
	return err
}

// discarded has the purges of discarded revisions, which are in no queue.
type discarded struct {
	dynamo.Garbage
	purges []sweep.Purge
}

// DuePurges implements sweep.Purges.
func (d discarded) DuePurges(context.Context, time.Time, int) ([]sweep.Purge, error) {
	return d.purges, nil
}

// Purged implements sweep.Purges. What is left of the bundle may be in another queue.
func (discarded) Purged(context.Context, sweep.Purge) error { return nil }

// Reschedule implements sweep.Queue.
func (discarded) Reschedule(context.Context, sweep.QueueItem, time.Time, int) error { return nil }

func (r Restore) blobs() *blob.Store { return blob.New(r.To.S3, r.To.Bucket, "") }

// bundles makes the bundles due that wait for the end of the restore, and those whose archives are gone.
func (r Restore) bundles(ctx context.Context, p Plan) error {
	to := r.to()
	living, err := to.Recoveries.Read(ctx, p.Artifact)
	if err != nil {
		return err
	}
	for name := range p.saved.Trees {
		status := living.Revisions[name].Bundle.Status
		wanted := status == artifact.BundlePending
		if status == artifact.BundleReady {
			there, err := r.bucket().Has(ctx, bundleKey(p.saved.Artifact.BundleObject(name)))
			if err != nil {
				return err
			}
			wanted = !there
		}
		if !wanted {
			continue
		}
		if err := to.Recoveries.MakeBundle(ctx, p.Artifact, name, r.Now()); err != nil {
			return err
		}
	}
	return nil
}
