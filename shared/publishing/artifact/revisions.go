package artifact

import (
	"cmp"
	"context"
	"slices"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
)

// History reads the revisions of artifacts.
type History interface {
	// Revisions reads all revisions of an artifact strongly, in any order.
	Revisions(ctx context.Context, a id.Artifact) ([]Revision, error)
}

// Revision reads a revision of an artifact that Find returned, nil if there is none.
func (s *Service) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*Revision, error) {
	return s.Store.Revision(ctx, a, r)
}

// Revisions lists the newest maxListedRevisions revisions of an artifact of the caller's workspace, in any status:
// drafts first, then by number and creation, newest first.
// maxListedRevisions is how many revisions a list has.
const maxListedRevisions = 100

func (s *Service) Revisions(ctx context.Context, by credential.Actor, a *Artifact) ([]Revision, error) {
	if a == nil || a.Owner != by.Workspace.ID {
		return nil, NotFound()
	}
	revisions, err := s.Store.Revisions(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(revisions, func(x, y Revision) int {
		return cmp.Or(
			draftFirst(x, y),
			cmp.Compare(y.Number, x.Number),
			y.CreatedAt.Compare(x.CreatedAt),
			cmp.Compare(x.ID, y.ID),
		)
	})
	return revisions[:min(len(revisions), maxListedRevisions)], nil
}

func draftFirst(x, y Revision) int {
	switch {
	case x.Status == y.Status:
		return 0
	case x.Status == Draft:
		return -1
	case y.Status == Draft:
		return 1
	}
	return 0
}
