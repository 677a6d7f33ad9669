package sweep

import (
	"context"
	"time"

	"vitrine/shared/publishing/export"
)

// StaleExport is an export that expired, failed or was replaced, and whose archives are due for deletion.
type StaleExport struct {
	export.Export
	QueueItem
}

// String names the deletion in errors.
func (e StaleExport) String() string { return "deletion of export " + string(e.ID) }

// StaleExports is the sweeper's view of exports in the tables.
type StaleExports interface {
	// DueStaleExports reads strongly up to n exports whose archives are due to be deleted.
	DueStaleExports(ctx context.Context, now time.Time, n int) ([]StaleExport, error)
	// Forget removes an export from the queue, unless it was moved since it was read. The newest export of a workspace
	// stays visible as expired or failed.
	Forget(ctx context.Context, e StaleExport) error
}

// ExportDeletions deletes from the object store.
type ExportDeletions interface {
	// DeleteExports deletes archives. A missing one is no error.
	DeleteExports(ctx context.Context, archives []export.Object) error
}

// uncountedVolumes is how many archives an export had at most of which older code made some without counting them.
const uncountedVolumes = 1000

// DueExports does one round for the archives of exports that ended.
func (s *Sweeper) DueExports(ctx context.Context) (Round, error) {
	r := round{rows: s.Store, now: s.Now}
	return run(ctx, r, batchSize, s.Exports.DueStaleExports, func(ctx context.Context, one StaleExport) error {
		// Not only the recorded archives, because an attempt may have died before its record, or the export began anew.
		archives := make([]export.Object, max(uncountedVolumes, one.Most+1))
		for n := range archives {
			archives[n] = one.Object(n + 1)
		}
		if err := s.ExportArchives.DeleteExports(ctx, archives); err != nil {
			return err
		}
		return s.Exports.Forget(ctx, one)
	})
}
