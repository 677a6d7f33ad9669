package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Listing lists artifacts.
type Listing interface {
	// List returns one page of a workspace's artifacts, newest first with the id as tie-breaker, each once. more reports
	// that others follow.
	List(ctx context.Context, q Query) (rows []Artifact, more bool, err error)
	// Count counts a workspace's artifacts at q.Now, up to q.Limit of each partition that lists them. An eventually
	// consistent read will do.
	Count(ctx context.Context, q Query) (Counts, error)
}

// Count is a number of artifacts. More reports that counting stopped before the last of them.
type Count struct {
	N    int
	More bool
}

// Counts are the numbers of artifacts of a workspace.
type Counts struct {
	All       Count
	Published Count // can be viewed
	Expiring  Count // can be viewed and end within limits.ExpiringSoon
}

// Query selects the artifacts that a list shows.
type Query struct {
	Workspace id.Workspace
	Claimed   bool     // Workspace may have claimed others, whose artifacts it then owns
	Gone      bool     // includes deleted and expired ones
	After     Position // zero: from the start
	Limit     int
	Now       time.Time
}

// Position identifies the last artifact that a list has shown.
type Position struct {
	CreatedAt time.Time
	ID        id.Artifact
}

// Page is the requested part of a list. A limit of zero means limits.DefaultPage.
type Page = cursor.Page

// The names of the lists in cursors. A cursor is valid only for the list that made it.
const (
	listName = "artifacts"
	webName  = "web.artifacts"
)

// List returns one page of the caller's live artifacts.
func (s *Service) List(ctx context.Context, by credential.Actor, p Page) (_ []Artifact, next string, _ error) {
	return s.page(ctx, by, p, listName, Query{})
}

// ListAll returns one page of all artifacts that the caller's workspace has or had.
func (s *Service) ListAll(ctx context.Context, by credential.Actor, p Page) (_ []Artifact, next string, _ error) {
	return s.page(ctx, by, p, webName, Query{Gone: true})
}

// The cost of a search and of a count grows up to these numbers of artifacts and no further.
const (
	maxSearched = 1000
	maxCounted  = 10_000
)

// Newest returns the newest artifacts that the caller's workspace has or had, up to maxSearched. more reports that
// there are older ones.
func (s *Service) Newest(ctx context.Context, by credential.Actor) (rows []Artifact, more bool, err error) {
	return s.Store.List(ctx, s.whole(by, maxSearched))
}

// Count counts the artifacts that the caller's workspace has or had, up to maxCounted.
func (s *Service) Count(ctx context.Context, by credential.Actor) (Counts, error) {
	return s.Store.Count(ctx, s.whole(by, maxCounted))
}

// whole returns a query for all artifacts of the caller's workspace, up to a number.
func (s *Service) whole(by credential.Actor, most int) Query {
	return Query{
		Workspace: by.Workspace.ID,
		Claimed:   !by.Workspace.ClaimedAt.IsZero(),
		Gone:      true,
		Limit:     most,
		Now:       s.Now(),
	}
}

// page reads one page of a list. Only q.Gone is used of q.
func (s *Service) page(
	ctx context.Context, by credential.Actor, p Page, list string, q Query,
) (_ []Artifact, next string, _ error) {
	if p.Limit == 0 {
		p.Limit = limits.DefaultPage
	}
	q.Workspace = by.Workspace.ID
	q.Claimed = !by.Workspace.ClaimedAt.IsZero()
	q.Limit = p.Limit
	q.Now = s.Now()
	of := cursor.List{Workspace: q.Workspace, Name: list, Now: q.Now}
	after, err := s.Cursors.Start(of, p)
	if err != nil {
		return nil, "", err
	}
	q.After = Position{after.At, id.Artifact(after.ID)}
	rows, more, err := s.Store.List(ctx, q)
	if err != nil || !more {
		return rows, "", err
	}
	last := rows[len(rows)-1]
	next, err = s.Cursors.Seal(of, cursor.Position{At: last.CreatedAt, ID: string(last.ID)})
	return rows, next, err
}
