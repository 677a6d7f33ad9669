package artifact

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/lint"
)

// Detail is an artifact as members see it at an instant. It is also the stored result of pinning, without a preview.
type Detail struct {
	ID          id.Artifact      `json:"id"`
	Title       string           `json:"title"`
	Status      string           `json:"status"`             // Published, Deleted or Expired
	Revision    *id.Revision     `json:"latest_revision_id"` // nil: none is published
	Pinned      bool             `json:"pinned"`
	LinksLocked bool             `json:"lockdown"`
	PublishedAt idempotency.Time `json:"last_published_at"`
	EndsAt      idempotency.Time `json:"auto_delete_at"` // zero: it does not end by itself
	Entrypoint  string           `json:"entrypoint"`
	FileCount   int              `json:"file_count"`
	Size        int64            `json:"size_bytes"`
	Preview     *Preview         `json:"viewer"` // nil: its files cannot be shown
}

// Detail returns the artifact as members see it, without a preview.
func (a *Artifact) Detail(now time.Time) Detail {
	d := Detail{
		ID:          a.ID,
		Title:       a.Title,
		Status:      "Published",
		Pinned:      !a.PinnedAt.IsZero(),
		LinksLocked: !a.LinksLockedAt.IsZero(),
		PublishedAt: idempotency.Time{Time: a.PublishedAt},
		Entrypoint:  a.Entrypoint,
		FileCount:   a.FileCount,
		Size:        a.Size,
	}
	switch {
	case a.Status == Deleted:
		d.Status = "Deleted"
	case !a.Active(now):
		d.Status = "Expired"
	}
	if a.Current != "" {
		d.Revision = &a.Current
	}
	if a.Status != Deleted && !a.Lasts() {
		d.EndsAt.Time = a.ExpiresAt
	}
	return d
}

// Detail returns an artifact of a member's workspace in any status, with its preview. Another artifact is not_found.
func (s *Service) Detail(ctx context.Context, by credential.Actor, named id.Artifact) (Detail, error) {
	a, err := s.Find(ctx, by, named)
	if err != nil {
		return Detail{}, err
	}
	return s.detail(ctx, by, a)
}

// detail returns an artifact that was read, with its preview.
func (s *Service) detail(ctx context.Context, by credential.Actor, a *Artifact) (Detail, error) {
	d := a.Detail(s.Now())
	var err error
	d.Preview, err = s.Preview(ctx, by, a)
	return d, err
}

// Preview is the newest revision of an artifact as a frame shows it.
type Preview struct {
	URL      string // of the list of files, of the entrypoint's page, or of its bytes if it has no page
	Listing  bool   // it shows the list of files
	Mode     media.Mode
	Bundle   Availability
	Warnings lint.Report // findings in its pages
}

// Preview returns the preview of an artifact that Find read, nil if its files cannot be shown.
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
		Scripts:   by.Policy.Scripts.Run(false),
		Expires:   token.Until(now, a.ExpiresAt, !a.PinnedAt.IsZero()),
	}
	at, err1 := s.URLs.Locate(claims)
	bundle, err2 := r.Availability(s.URLs, s.Limits, claims, now)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &Preview{
		URL:      r.Frame(at),
		Listing:  r.Listing,
		Mode:     r.Mode,
		Bundle:   bundle,
		Warnings: r.WarningsFor(by.Policy),
	}, nil
}
