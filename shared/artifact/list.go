package artifact

import (
	"context"
	"time"

	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/limits"
)

// Listing is what Lister needs of the store.
type Listing interface {
	// Artifacts returns up to limit live artifacts of a workspace that have not expired at now, newest first with the id
	// as tie-breaker, after the position (zero: from the start). more tells that others follow.
	Artifacts(ctx context.Context, w id.Workspace, after Position, limit int, now time.Time) (rows []Artifact, more bool, err error)
}

// Position is a place in the list of a workspace's artifacts: the last one that was shown.
type Position struct {
	CreatedAt time.Time
	ID        id.Artifact
}

// Cursors seals positions for clients.
type Cursors interface {
	// Seal makes an opaque text of at most limits.CursorLength characters, bound to a workspace and a list.
	Seal(w id.Workspace, list string, p Position, now time.Time) (string, error)
	// Open reads it back; invalid_cursor for anything tampered, foreign or older than limits.CursorLife.
	Open(w id.Workspace, list, text string, now time.Time) (Position, error)
}

// Lister lists artifacts.
type Lister struct {
	Store   Listing
	Cursors Cursors
	Now     func() time.Time
}

// Page is which part of a list is asked for.
type Page struct {
	Cursor string // empty: the first page
	Limit  int    // zero: limits.PageDefault
}

const listName = "artifacts"

// List answers one page of the caller's live artifacts.
func (l *Lister) List(ctx context.Context, by credential.Actor, p Page) (contract.ArtifactList, error) {
	now := l.Now()
	if p.Limit == 0 {
		p.Limit = limits.PageDefault
	}
	if p.Limit < 1 || p.Limit > limits.PageMax {
		return contract.ArtifactList{}, fault.New(fault.InvalidRequest, "limit must be an integer from 1 to %d", limits.PageMax)
	}
	var after Position
	if p.Cursor != "" {
		var err error
		if after, err = l.Cursors.Open(by.Workspace.ID, listName, p.Cursor, now); err != nil {
			return contract.ArtifactList{}, err
		}
	}
	rows, more, err := l.Store.Artifacts(ctx, by.Workspace.ID, after, p.Limit, now)
	if err != nil {
		return contract.ArtifactList{}, err
	}
	out := contract.ArtifactList{Data: make([]contract.ArtifactSummary, len(rows)), PageInfo: contract.PageInfo{HasMore: more}}
	for i := range rows {
		out.Data[i] = rows[i].Summary()
	}
	if more {
		last := rows[len(rows)-1]
		next, err := l.Cursors.Seal(by.Workspace.ID, listName, Position{last.CreatedAt, last.ID}, now)
		if err != nil {
			return contract.ArtifactList{}, err
		}
		out.PageInfo.NextCursor = &next
	}
	return out, nil
}
