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
	// DueUploads reads strongly up to n sessions of each kind: finalized ones whose files are not in the content index yet
	// or whose diffs still exist, and ones whose first limits.UploadPatience is over.
	DueUploads(ctx context.Context, now time.Time, n int) ([]Session, error)
	// NewObjects reads strongly the files that a session uploaded and its revision still has. There are none if the
	// artifact or the revision ended.
	NewObjects(ctx context.Context, u upload.Session) (tree.Tree, error)
	// Add adds a file to the content index of a home, unless the index has an entry for its content.
	Add(ctx context.Context, home id.Workspace, f tree.File) error
	// AwaitEnd moves a pending session to the queue in which its end is due.
	AwaitEnd(ctx context.Context, u upload.Session) error
	SessionCleanup
}

// Diffs deletes from the object store.
type Diffs interface {
	// DeleteDiffs deletes the diffs that a session uploaded. A missing object is no error.
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

// session indexes the files that are in use. A file whose revision ends at the same moment may be indexed too. That
// does no harm, because index entries are removed when an object is marked and again before it is deleted.
func (i *Indexer) session(ctx context.Context, u Session) error {
	if u.Status != upload.Finalized {
		return i.Store.AwaitEnd(ctx, u.Session)
	}
	files, err := i.Store.NewObjects(ctx, u.Session)
	if err != nil {
		return err
	}
	var fresh []tree.File
	seen := map[tree.Content]bool{}
	for _, f := range files {
		if !seen[f.Content()] {
			seen[f.Content()] = true
			fresh = append(fresh, f)
		}
	}
	err = concurrently(ctx, fresh, func(ctx context.Context, n int) error { return i.Store.Add(ctx, u.Home, fresh[n]) })
	if err != nil {
		return err
	}
	if u.Diffs { // no longer needed, because the rebuilt files are stored as objects
		if err := i.Diffs.DeleteDiffs(ctx, u.Home, u.ID); err != nil {
			return err
		}
	}
	return i.Store.ForgetSession(ctx, u.Session)
}
