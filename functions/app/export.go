package app

import (
	"context"
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/export"
)

// Exports let members take everything out of a workspace. All methods need the scope admin.
type Exports interface {
	// Request returns the export that is being made, or begins one; forbidden without a fresh sign-in, rate_limited_actor
	// after too many on a day.
	Request(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record,
	) (export.Export, error)
	// Find returns the newest export, nil if there is none.
	Find(ctx context.Context, by credential.Actor) (*export.Export, error)
	// URL returns where an archive is, numbered from 1; empty without a fresh sign-in.
	URL(by credential.Actor, e export.Export, volume int) (string, error)
}

// exportRoutes take the form of the settings.
func (h *Host) exportRoutes() []route {
	return []route{{method: "POST", path: "/settings/export", handle: members{
		form:  h.requestExport,
		back:  "/settings",
		right: credential.Admin,
		fresh: "/settings",
	}}}
}

func (h *Host) requestExport(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	command, err := commandOf(v, idempotency.CreateExport, "", form["once"], nil)
	if err != nil {
		return err
	}
	if _, err := h.Exports.Request(r.Context(), v.Actor, command, nil); err != nil {
		return err
	}
	redirect(w, "/settings#export")
	return nil
}

// exportSection describes the newest export to members who may ask for one; nil to others.
func (h *Host) exportSection(r *http.Request, v browserSession) (*pages.Export, error) {
	if v.Actor.Require(credential.Admin) != nil {
		return nil, nil
	}
	e, err := h.Exports.Find(r.Context(), v.Actor)
	if err != nil {
		return nil, err
	}
	p := &pages.Export{Once: once()}
	if v.Actor.SignedInLately(h.Now()) != nil {
		p.SignIn = freshSignInPath("/settings")
	}
	if e == nil {
		return p, nil
	}
	p.State = string(e.Status)
	p.At = e.CreatedAt
	p.ExpiresAt = e.ExpiresAt
	p.Done = e.Next.Artifact
	p.Total = e.Artifacts
	p.Skipped = e.Skipped
	p.Reason = e.Reason
	if e.Status == export.Ready {
		p.Volumes, err = h.exportVolumes(v, *e)
	}
	return p, err
}

func (h *Host) exportVolumes(v browserSession, e export.Export) (out []pages.ExportVolume, err error) {
	for n, one := range e.Volumes {
		url, err := h.Exports.URL(v.Actor, e, n+1)
		if err != nil {
			return nil, err
		}
		out = append(out, pages.ExportVolume{
			Name:   e.FileName(n + 1),
			URL:    url,
			Size:   one.Size,
			SHA256: one.SHA256.String(),
		})
	}
	return out, nil
}
