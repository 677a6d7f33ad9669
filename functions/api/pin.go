package api

import (
	"context"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// keepRoutes are the routes with which members pin artifacts, and owners rename them.
func (h *Host) keepRoutes() []web.Route {
	return []web.Route{
		web.Member(web.Operation{
			ID:      "web.artifacts.pin",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/pin",
			Summary: "Keep an artifact from expiring",
			Scope:   credential.Read,
			Command: web.Command{Operation: idempotency.PinArtifact, Target: "artifact_id"},
			Errors:  []fault.Code{fault.ArtifactNotFound, fault.PinnedArtifactCap},
		}, h.pin),
		web.Member(web.Operation{
			ID:      "web.artifacts.unpin",
			Method:  "POST",
			Path:    "/v1/web/artifacts/{artifact_id}/unpin",
			Summary: "Let an artifact expire again",
			Scope:   credential.Read,
			Command: web.Command{Operation: idempotency.UnpinArtifact, Target: "artifact_id"},
			Errors:  []fault.Code{fault.ArtifactNotFound},
		}, h.unpin),
		web.Member(web.Operation{
			ID:               "web.revisions.list",
			Method:           "GET",
			Path:             "/v1/web/artifacts/{artifact_id}/revisions",
			Summary:          "The revisions of an artifact, drafts first, then the newest",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.InvalidCursor},
		}, h.webRevisions),
		web.Guarded(web.Operation{
			ID:      "artifacts.updateDisplayMetadata",
			Method:  "PATCH",
			Path:    "/v1/artifacts/{artifact_id}/display-metadata",
			Summary: "Give an artifact another title",
			Scope:   credential.Publish,
			Errors:  []fault.Code{fault.ArtifactNotFound},
		}, h.rename),
	}
}

// pinning returns what a member wants to pin by the ID in the path, because the service reads the artifact itself.
func pinning(request *web.Request, in *artifactInput) artifact.Target {
	return artifact.Target{Command: request.Command, Record: request.Record, RequestedID: id.Artifact(in.Artifact)}
}

func (h *Host) pin(ctx context.Context, request *web.Request, in *artifactInput) (contract.WebArtifact, error) {
	d, err := h.Artifacts.Pin(ctx, request.Actor, pinning(request, in))
	return webArtifact(d), err
}

func (h *Host) unpin(ctx context.Context, request *web.Request, in *artifactInput) (contract.WebArtifact, error) {
	d, err := h.Artifacts.Unpin(ctx, request.Actor, pinning(request, in))
	return webArtifact(d), err
}

func (h *Host) webRevisions(
	ctx context.Context, request *web.Request, in *artifactPageInput,
) (contract.RevisionList, error) {
	a, err := h.Artifacts.Owned(ctx, request.Actor, id.Artifact(in.Artifact))
	if err != nil {
		return contract.RevisionList{}, err
	}
	return h.revisionsOf(ctx, request, a, in)
}

type renameInput struct {
	Artifact string `path:"artifact_id"`
	Body     contract.UpdateMetadata
}

func (h *Host) rename(ctx context.Context, request *web.Request, in *renameInput) (contract.DisplayMetadata, error) {
	title, err := h.Artifacts.Rename(ctx, request.Actor, request.Artifact, in.Body.Title)
	return contract.DisplayMetadata{Title: title}, err
}
