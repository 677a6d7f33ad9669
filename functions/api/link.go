package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

// linkRoutes are the routes of access links for API keys.
func (h *Host) linkRoutes() []web.Route {
	return []web.Route{
		web.Guarded(web.Operation{
			ID:      "accessLinks.create",
			Method:  "POST",
			Path:    "/v1/artifacts/{artifact_id}/access-links",
			Summary: "Make an access link to an artifact",
			Status:  http.StatusCreated,
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.CreateLink, Target: "artifact_id"},
			Errors:  []fault.Code{fault.ArtifactNotFound, fault.NotFound},
		}, h.createLink),
		web.Guarded(web.Operation{
			ID:               "accessLinks.mint",
			Method:           "POST",
			Path:             "/v1/access-links/{access_link_id}/mint",
			Summary:          "A fresh URL of an access link",
			Scope:            credential.Publish,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.NotFound},
		}, h.mintLink),
		web.Guarded(web.Operation{
			ID:               "accessLinks.list",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/access-links",
			Summary:          "The access links of an artifact, revoked ones included",
			Scope:            credential.Publish,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound},
		}, h.links),
		web.Guarded(web.Operation{
			ID:      "accessLinks.revoke",
			Method:  "POST",
			Path:    "/v1/access-links/{access_link_id}/revoke",
			Summary: "End an access link at once and for good",
			Scope:   credential.Publish,
			Errors:  []fault.Code{fault.NotFound},
		}, h.revokeLink),
		web.Guarded(web.Operation{
			ID:      "artifacts.setVisibility",
			Method:  "PUT",
			Path:    "/v1/artifacts/{artifact_id}/visibility",
			Summary: "Let a share link open an artifact, or no link at all",
			Scope:   credential.Publish,
			Errors:  []fault.Code{fault.ArtifactNotFound, fault.NotFound},
		}, h.setVisibility),
	}
}

// memberLinkRoutes are the routes of access links for members.
func (h *Host) memberLinkRoutes() []web.Route {
	lockdown := []fault.Code{fault.ArtifactNotFound, fault.NotFound}
	return []web.Route{
		web.Member(web.Operation{
			ID:               "web.accessLinks.listAll",
			Method:           "GET",
			Path:             "/v1/web/access-links",
			Summary:          "The access links of the workspace, newest first",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.allLinks),
		web.Member(web.Operation{
			ID:               "web.accessLinks.listForArtifact",
			Method:           "GET",
			Path:             "/v1/web/artifacts/{artifact_id}/access-links",
			Summary:          "The access links of an artifact, revoked ones included",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.InvalidCursor},
		}, h.webLinks),
		web.Member(web.Operation{
			ID:      "web.accessLinks.create",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/access-links",
			Summary: "Make an access link to an artifact",
			Status:  http.StatusCreated,
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.CreateLink, Target: "artifact_id"},
			Errors:  []fault.Code{fault.ArtifactNotFound, fault.NotFound},
		}, h.createLink),
		web.Member(web.Operation{
			ID:               "web.accessLinks.mint",
			Method:           "POST",
			Path:             "/v1/web/access-links/{access_link_id}/mint",
			Summary:          "A fresh URL of an access link",
			Scope:            credential.Admin,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.NotFound},
		}, h.mintLink),
		web.Member(web.Operation{
			ID:      "web.accessLinks.revoke",
			Method:  "POST",
			Path:    "/v1/web/access-links/{access_link_id}/revoke",
			Summary: "End an access link at once and for good",
			Scope:   credential.Admin,
			Errors:  []fault.Code{fault.NotFound},
		}, h.revokeLink),
		web.Member(web.Operation{
			ID:      "web.accessLinks.lockdown.set",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/access-link-lockdown",
			Summary: "Keep all access links of an artifact from opening it",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.LockLinks, Target: "artifact_id"},
			Errors:  lockdown,
		}, h.lockLinks),
		web.Member(web.Operation{
			ID:      "web.accessLinks.lockdown.lift",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/access-link-lockdown/lift",
			Summary: "Let the access links of an artifact open it again",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.UnlockLinks, Target: "artifact_id"},
			Errors:  lockdown,
		}, h.unlockLinks),
	}
}

type linkInput struct {
	Link string `path:"access_link_id"`
}

type createLinkInput struct {
	Artifact string `path:"artifact_id"`
	Body     contract.CreateLink
}

type visibilityInput struct {
	Artifact string `path:"artifact_id"`
	Body     contract.SetVisibility
}

// shared returns what a request about an artifact's links names.
func shared(request *web.Request, a string) sharing.Target {
	return sharing.Target{
		Command:     request.Command,
		Record:      request.Record,
		RequestedID: id.Artifact(a),
		Artifact:    request.Artifact,
	}
}

func (h *Host) createLink(ctx context.Context, request *web.Request, in *createLinkInput) (contract.CreatedLink, error) {
	asked := sharing.Request{
		Kind:     link.Kind(in.Body.Type),
		Revision: in.Body.RevisionID,
		Comments: in.Body.Comments,
	}
	if end := in.Body.ExpiresAt; end != nil {
		asked.ExpiresAt = &end.Time
	}
	l, err := h.Links.Create(ctx, request.Actor, shared(request, in.Artifact), asked)
	return contract.CreatedLink{
		ID:         l.ID,
		Type:       string(l.Kind),
		ArtifactID: l.Artifact,
		RevisionID: l.Revision,
		CreatedAt:  contract.At(l.CreatedAt.Time),
		Comments:   l.Comments,
	}, err
}

func (h *Host) mintLink(ctx context.Context, request *web.Request, in *linkInput) (contract.MintedLink, error) {
	fresh, err := h.Links.Address(ctx, request.Actor, id.Link(in.Link))
	return contract.MintedLink{URL: fresh.URL}, err
}

func (h *Host) revokeLink(ctx context.Context, request *web.Request, in *linkInput) (contract.RevokedLink, error) {
	at, err := h.Links.Revoke(ctx, request.Actor, id.Link(in.Link))
	return contract.RevokedLink{AccessLinkID: id.Link(in.Link), RevokedAt: contract.At(at)}, err
}

func (h *Host) links(ctx context.Context, request *web.Request, in *artifactInput) (contract.LinkList, error) {
	links, err := h.Links.List(ctx, request.Actor, shared(request, in.Artifact))
	return contract.LinkList{ArtifactID: id.Artifact(in.Artifact), Items: contract.Rows(links, wire.LinkRow)}, err
}

func (h *Host) setVisibility(ctx context.Context, request *web.Request, in *visibilityInput) (contract.Visibility, error) {
	v, err := h.Links.SetVisibility(ctx, request.Actor, shared(request, in.Artifact), in.Body.Visibility)
	return wire.Visibility(v), err
}

func (h *Host) allLinks(ctx context.Context, request *web.Request, in *wideListInput) (contract.WebLinkList, error) {
	p, err := in.list.page()
	if err != nil {
		return contract.WebLinkList{}, err
	}
	links, next, err := h.Links.All(ctx, request.Actor, p)
	return contract.WebLinkList{Items: contract.Rows(links, webLinkRow), PageInfo: contract.Page(next)}, err
}

// artifactPageInput is wideListInput with a path parameter.
type artifactPageInput struct {
	Artifact string `path:"artifact_id"`
	Cursor   string `query:"cursor" doc:"next_cursor of the page before; at most 500 characters"`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"100"`

	list listInput
}

// Resolve implements huma.Resolver.
func (i *artifactPageInput) Resolve(c huma.Context) []error {
	i.list = listInput{Cursor: i.Cursor, Limit: i.Limit}
	return i.list.Resolve(c)
}

func (h *Host) webLinks(ctx context.Context, request *web.Request, in *artifactPageInput) (contract.WebLinkList, error) {
	p, err := in.list.page()
	if err != nil {
		return contract.WebLinkList{}, err
	}
	links, next, err := h.Links.Of(ctx, request.Actor, sharing.Target{RequestedID: id.Artifact(in.Artifact)}, p)
	return contract.WebLinkList{Items: contract.Rows(links, webLinkRow), PageInfo: contract.Page(next)}, err
}

func (h *Host) lockLinks(ctx context.Context, request *web.Request, in *artifactInput) (contract.WebArtifact, error) {
	err := h.Links.Lock(ctx, request.Actor, shared(request, in.Artifact))
	return h.afterLinkLock(ctx, request, in, true, err)
}

func (h *Host) unlockLinks(ctx context.Context, request *web.Request, in *artifactInput) (contract.WebArtifact, error) {
	err := h.Links.Unlock(ctx, request.Actor, shared(request, in.Artifact))
	return h.afterLinkLock(ctx, request, in, false, err)
}

// afterLinkLock answers with the artifact as it is now, but with its links as the command left them.
func (h *Host) afterLinkLock(
	ctx context.Context, request *web.Request, in *artifactInput, locked bool, err error,
) (contract.WebArtifact, error) {
	if err != nil {
		return contract.WebArtifact{}, err
	}
	d, err := h.Artifacts.Detail(ctx, request.Actor, id.Artifact(in.Artifact))
	d.LinksLocked = locked
	return webArtifact(d), err
}
