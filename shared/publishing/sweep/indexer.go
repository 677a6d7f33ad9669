package sweep

import (
	"context"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// IndexStore is the indexer's view of the tables.
type IndexStore interface {
	// DueUploads reads strongly some n finalized sessions whose files are not in the content index yet, or whose diffs
	// still exist, and sessions that have not been finalized within limits.UploadPatience.
	DueUploads(ctx context.Context, now time.Time, n int) ([]Session, error)
	// NewObjects reads strongly the files that a session uploaded and its revision still has: none if the artifact or the
	// revision ended.
	NewObjects(ctx context.Context, u upload.Session) (tree.Tree, error)
	// Add lets later sessions of a home find a file's bytes, unless the index has an entry for its content.
	Add(ctx context.Context, home id.Workspace, f tree.File) error
	// AwaitEnd moves a session that is still pending to where its end is awaited.
	AwaitEnd(ctx context.Context, u upload.Session) error
	SessionCleanup
}

// Diffs deletes from the object store.
type Diffs interface {
	// DeleteDiffs deletes the diffs that a session uploaded. Deleting a missing object is no error.
	DeleteDiffs(ctx context.Context, home id.Workspace, s id.Session) error
}

// Indexer adds the files of finalized uploads to the content index of their home and deletes their diffs.
type Indexer struct {
	Store IndexStore
	Queue Queue
	Diffs Diffs
	Now   func() time.Time
}

// Due does one round.
func (i *Indexer) Due(ctx context.Context) (Round, error) {
	return run(ctx, round{rows: i.Queue, now: i.Now}, batchSize, i.Store.DueUploads, i.session)
}

// session indexes the files that are in use. A file whose revision ends at the same moment may be indexed too: the
// garbage collector removes index entries when it marks an object and again before it deletes it, and the second time
// finds this one.
func (i *Indexer) session(ctx context.Context, u Session) error {
	if u.Status != upload.Finalized {
		return i.Store.AwaitEnd(ctx, u.Session)
	}
	files, err := i.Store.NewObjects(ctx, u.Session)
	if err != nil {
		return err
	}
	seen := map[tree.Content]bool{}
	for _, f := range files {
		if seen[f.Content()] {
			continue
		}
		seen[f.Content()] = true
		if err := i.Store.Add(ctx, u.Home, f); err != nil {
			return err
		}
	}
	if u.Diffs { // whose results are files of their own by now
		if err := i.Diffs.DeleteDiffs(ctx, u.Home, u.ID); err != nil {
			return err
		}
	}
	return i.Store.ForgetSession(ctx, u.Session)
}
