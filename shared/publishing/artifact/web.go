package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
)

// Web answers one page of all artifacts that a member's workspace has or had.
func (s *Service) Web(ctx context.Context, by credential.Actor, p Page) (contract.WebArtifactList, error) {
	rows, info, err := s.page(ctx, by, p, webName, Query{Gone: true})
	if err != nil {
		return contract.WebArtifactList{}, err
	}
	out := contract.WebArtifactList{Items: make([]contract.WebArtifactRow, len(rows)), PageInfo: info}
	for i := range rows {
		out.Items[i] = rows[i].row(s.Now())
	}
	return out, nil
}

// Detail answers one artifact of a member's workspace, whatever its status; else not_found.
func (s *Service) Detail(ctx context.Context, by credential.Actor, named id.Artifact) (contract.WebArtifact, error) {
	a, err := s.Find(ctx, by, named)
	if err != nil {
		return contract.WebArtifact{}, err
	}
	return s.detail(ctx, by, a)
}

// bare is the artifact as members see it, without what shows it.
func (a *Artifact) bare(now time.Time) contract.WebArtifact {
	return contract.WebArtifact{
		WebArtifactRow: a.row(now),
		Entrypoint:     a.Entrypoint,
		FileCount:      a.FileCount,
		SizeBytes:      a.Size,
	}
}

// detail is the artifact as it was read, with what shows it.
func (s *Service) detail(ctx context.Context, by credential.Actor, a *Artifact) (contract.WebArtifact, error) {
	now := s.Now()
	out := a.bare(now)
	if !a.Readable(now) || a.Current == "" {
		return out, nil
	}
	r, err := s.Store.Revision(ctx, a.ID, a.Current)
	if err != nil || r == nil {
		return out, err
	}
	prefix, err := s.URLs.Content(token.Claims{
		Workspace: by.Workspace.ID,
		Artifact:  a.ID,
		Revision:  r.ID,
		NoIndex:   by.Policy.NoIndex,
		Scripts:   by.Policy.Scripts,
		Expires:   token.Until(now, a.ExpiresAt, !a.PinnedAt.IsZero()),
	})
	out.Viewer = &contract.WebViewer{IframeSrc: prefix + address.Escape(r.Entrypoint), RenderMode: string(r.Mode)}
	return out, err
}

// row is the artifact as members see it in their list.
func (a *Artifact) row(now time.Time) contract.WebArtifactRow {
	r := contract.WebArtifactRow{
		ID:              a.ID,
		Title:           a.Title,
		Status:          "Published",
		Pinned:          !a.PinnedAt.IsZero(),
		Lockdown:        !a.LinksLockedAt.IsZero(),
		LastPublishedAt: contract.AtOrNull(a.PublishedAt),
	}
	switch {
	case a.Status == Deleted:
		r.Status = "Deleted"
	case !a.Active(now):
		r.Status = "Expired"
	}
	if a.Current != "" {
		r.LatestRevisionID = &a.Current
	}
	if a.Status != Deleted && !r.Pinned {
		r.AutoDeleteAt = contract.AtOrNull(a.ExpiresAt)
	}
	return r
}
