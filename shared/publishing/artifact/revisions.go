package artifact

import (
	"cmp"
	"context"
	"slices"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// History reads the revisions of artifacts.
type History interface {
	// Revisions reads all revisions of an artifact strongly, in any order.
	Revisions(ctx context.Context, a id.Artifact) ([]Revision, error)
}

// Revision reads a revision of an artifact that Find read, nil if there is none.
func (s *Service) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*Revision, error) {
	return s.Store.Revision(ctx, a, r)
}

// Revisions answers the revisions of an artifact of the caller's workspace, whatever its status: drafts first, then by number
// and creation, newest first.
func (s *Service) Revisions(ctx context.Context, by credential.Actor, a *Artifact) (contract.RevisionList, error) {
	if a == nil || a.Owner != by.Workspace.ID {
		return contract.RevisionList{}, NotFound()
	}
	revisions, err := s.Store.Revisions(ctx, a.ID)
	if err != nil {
		return contract.RevisionList{}, err
	}
	slices.SortFunc(revisions, func(x, y Revision) int {
		return cmp.Or(draftFirst(x, y), cmp.Compare(y.Number, x.Number), y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	revisions = revisions[:min(len(revisions), limits.ListedEntries)]
	out := contract.RevisionList{ArtifactID: a.ID, Items: make([]contract.RevisionSummary, len(revisions))}
	for i := range revisions {
		out.Items[i] = revisions[i].Summary()
	}
	return out, nil
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

// Summary is the revision as a row of a list.
func (r *Revision) Summary() contract.RevisionSummary {
	s := contract.RevisionSummary{
		RevisionID:  r.ID,
		Status:      string(r.Status),
		Entrypoint:  r.Entrypoint,
		RenderMode:  string(r.Mode),
		FileCount:   r.FileCount,
		SizeBytes:   r.Size,
		CreatedAt:   contract.At(r.CreatedAt),
		PublishedAt: contract.AtOrNull(r.PublishedAt),
	}
	if r.Number > 0 {
		s.RevisionNumber = &r.Number
	}
	return s
}
