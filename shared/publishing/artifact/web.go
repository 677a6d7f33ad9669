package artifact

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/lint"
)

// Detail answers one artifact of a member's workspace in any status; not_found for any other.
func (s *Service) Detail(ctx context.Context, by credential.Actor, named id.Artifact) (contract.WebArtifact, error) {
	a, err := s.Find(ctx, by, named)
	if err != nil {
		return contract.WebArtifact{}, err
	}
	return s.detail(ctx, by, a)
}

// detail is the artifact as it was read, with what shows it.
func (s *Service) detail(ctx context.Context, by credential.Actor, a *Artifact) (contract.WebArtifact, error) {
	out := a.bare(s.Now())
	p, err := s.Preview(ctx, by, a)
	if p != nil {
		out.Viewer = &contract.WebViewer{IframeSrc: p.URL, RenderMode: string(p.Mode)}
	}
	return out, err
}

// Preview is what a frame shows of an artifact.
type Preview struct {
	URL    string // of the page of the entrypoint, or of its bytes if it has none
	Mode   media.Mode
	Bundle contract.Bundle
	// Warnings are what was found in its pages.
	Warnings lint.Report
}

// Preview returns the newest revision of an artifact that Find read, nil if its files cannot be shown.
func (s *Service) Preview(ctx context.Context, by credential.Actor, a *Artifact) (*Preview, error) {
	now := s.Now()
	if !a.Readable(now) || a.Current == "" {
		return nil, nil
	}
	r, err := s.Store.Revision(ctx, a.ID, a.Current)
	if err != nil || r == nil {
		return nil, err
	}
	claims := token.Claims{
		Workspace: by.Workspace.ID,
		Artifact:  a.ID,
		Revision:  r.ID,
		NoIndex:   by.Policy.NoIndex,
		Scripts:   by.Policy.Scripts,
		Expires:   token.Until(now, a.ExpiresAt, !a.PinnedAt.IsZero()),
	}
	at, err1 := s.URLs.Locate(claims)
	bundle, err2 := r.Availability(s.URLs, s.Limits, claims, now)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &Preview{
		URL:      at.Frame(r.Entrypoint),
		Mode:     r.Mode,
		Bundle:   bundle,
		Warnings: r.WarningsFor(by.Policy),
	}, nil
}

// bare is the artifact as members see it, without what shows it. Records of pinning hold it.
func (a *Artifact) bare(now time.Time) contract.WebArtifact {
	return contract.WebArtifact{
		WebArtifactRow: a.Row(now),
		Entrypoint:     a.Entrypoint,
		FileCount:      a.FileCount,
		SizeBytes:      a.Size,
	}
}

// Row is the artifact as members see it in their list.
func (a *Artifact) Row(now time.Time) contract.WebArtifactRow {
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
