package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/shared/id"
	"vitrine/shared/tree"
	"vitrine/shared/upload"
)

// HintStore is what Hinter needs of the tables.
type HintStore interface {
	// DueHints returns up to n finalized sessions, read strongly, whose files nobody can find by their content yet.
	DueHints(ctx context.Context, now time.Time, n int) ([]upload.Session, error)
	// Brought reads strongly what a session brought and its revision still has: none if the artifact or the revision ended.
	Brought(ctx context.Context, u upload.Session) (tree.Tree, error)
	// Hint lets later sessions of a home find a file's bytes, unless others like it are found already.
	Hint(ctx context.Context, home id.Workspace, f tree.File) error
	Ends
}

// Hinter lets sessions find by their content the bytes that others of the same home brought.
type Hinter struct {
	Store HintStore
	Now   func() time.Time
}

// Due does one round. more tells that others may wait.
func (h *Hinter) Due(ctx context.Context) (more bool, err error) {
	due, err := h.Store.DueHints(ctx, h.Now(), batch)
	if err != nil {
		return false, err
	}
	var failed []error
	for _, u := range due {
		if err := h.session(ctx, u); err != nil {
			failed = append(failed, fmt.Errorf("hints of upload session %s: %w", u.ID, err))
		}
	}
	return len(due) >= full, errors.Join(failed...)
}

// session hints at what is alive. What ends at the same moment may be hinted at nevertheless: its collection looks for
// hints twice, so far apart that this one is seen.
func (h *Hinter) session(ctx context.Context, u upload.Session) error {
	files, err := h.Store.Brought(ctx, u)
	if err != nil {
		return err
	}
	seen := map[tree.Content]bool{}
	for _, f := range files {
		if seen[f.Content()] {
			continue
		}
		seen[f.Content()] = true
		if err := h.Store.Hint(ctx, u.Home, f); err != nil {
			return err
		}
	}
	return h.Store.ForgetSession(ctx, u)
}
