package sweep

import (
	"context"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// IndexStore is what Hinter needs of the tables.
type IndexStore interface {
	// DueUploads returns up to n finalized sessions, read strongly, whose work is not ended yet: nobody can find their files
	// by their content, or their diffs are still there.
	DueUploads(ctx context.Context, now time.Time, n int) ([]Session, error)
	// NewObjects reads strongly what a session brought and its revision still has: none if the artifact or the revision ended.
	NewObjects(ctx context.Context, u upload.Session) (tree.Tree, error)
	// AddIndexEntries lets later sessions of a home find a file's bytes, unless others like it are found already.
	AddIndexEntries(ctx context.Context, home id.Workspace, f tree.File) error
	SessionCleanup
	Queue
}

// Diffs is what Hinter needs of the object store.
type Diffs interface {
	// DeleteDiffs removes the diffs that a session brought; what is gone already is no failure.
	DeleteDiffs(ctx context.Context, home id.Workspace, s id.Session) error
}

// Indexer ends the work of finalized sessions: it lets others of the same home find by their content the bytes that these
// brought, and deletes their diffs.
type Indexer struct {
	Store IndexStore
	Diffs Diffs
	Now   func() time.Time
}

// Due does one round.
func (h *Indexer) Due(ctx context.Context) (Round, error) {
	due, err := h.Store.DueUploads(ctx, h.Now(), batchSize)
	if err != nil {
		return Round{}, err
	}
	r := round{rows: h.Store, now: h.Now, many: fullShare}
	return each(ctx, r, due, func(ctx context.Context, u Session) error { return h.session(ctx, u.Session) })
}

// session hints at what is alive. What ends at the same moment may be hinted at nevertheless: its collection looks for
// hints twice, so far apart that this one is seen.
func (h *Indexer) session(ctx context.Context, u upload.Session) error {
	files, err := h.Store.NewObjects(ctx, u)
	if err != nil {
		return err
	}
	seen := map[tree.Content]bool{}
	for _, f := range files {
		if seen[f.Content()] {
			continue
		}
		seen[f.Content()] = true
		if err := h.Store.AddIndexEntries(ctx, u.Home, f); err != nil {
			return err
		}
	}
	if u.Diffs { // whose results are files of their own by now
		if err := h.Diffs.DeleteDiffs(ctx, u.Home, u.ID); err != nil {
			return err
		}
	}
	return h.Store.ForgetSession(ctx, u)
}
