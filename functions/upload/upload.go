// Package upload is the host that opens and finalizes upload sessions. The bytes of files go to the object store by
// presigned URL.
package upload

import (
	"context"
	"net/http"

	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/upload"
)

// Host is the upload host.
type Host struct {
	Surface *web.Server
	Uploads *upload.Service
}

// Handler returns the host.
func (h *Host) Handler() http.Handler { return h.Surface.Handler(h.routes()...) }

func (h *Host) routes() []web.Route {
	return []web.Route{
		web.Guarded(web.Operation{
			ID:               "uploadSessions.create",
			Method:           "POST",
			Path:             "/v1/upload-sessions",
			Summary:          "Declare files and get a signed URL for each",
			Scope:            credential.Publish,
			Command:          web.Command{Operation: idempotency.CreateSession},
			ConcurrentLimits: true,
			Errors: []fault.Code{
				fault.ArtifactNotFound, fault.DraftRevisionConflict, fault.EntrypointNotInRevision, fault.FileCountCapExceeded,
				fault.FileSizeCapExceeded, fault.PatchConflict, fault.RevisionCeilingExceeded, fault.RevisionSizeCapExceeded,
				fault.StorageUnavailable, fault.UploadSessionExpired,
				fault.UploadSessionNotFound, fault.WriteAllowanceExceeded,
			},
		}, h.create),
		web.Guarded(web.Operation{
			ID:      "uploadSessions.finalize",
			Method:  "POST",
			Path:    "/v1/upload-sessions/{upload_session_id}/finalize",
			Summary: "Verify the uploaded files and make a draft of them",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.FinalizeSession, Target: "upload_session_id"},
			Errors: []fault.Code{
				fault.NotFound, fault.ArtifactNotFound, fault.DraftRevisionConflict, fault.EntrypointNotInRevision,
				fault.FileCountCapExceeded,
				fault.FileSizeCapExceeded, fault.InvalidRequest, fault.PatchConflict, fault.RevisionSizeCapExceeded,
				fault.StorageUnavailable,
				fault.UnexpectedUploadObject, fault.UploadIncomplete, fault.UploadSessionExpired, fault.UploadSessionNotFound,
			},
		}, h.finalize),
	}
}

type createInput struct {
	Body contract.CreateSession
}

func (h *Host) create(ctx context.Context, request *web.Request, in *createInput) (contract.Session, error) {
	made, err := h.Uploads.Create(ctx, request.Actor, request.Command, request.Record, in.Body, request.WaitForLimits, wire.SessionSize)
	if err != nil {
		return contract.Session{}, err
	}
	return wire.Session(made), nil
}

type sessionInput struct {
	Session string `path:"upload_session_id"`
}

func (h *Host) finalize(ctx context.Context, request *web.Request, _ *sessionInput) (contract.Finalized, error) {
	draft, err := h.Uploads.Finalize(ctx, request.Actor, upload.Attempt{
		Command: request.Command,
		Record:  request.Record,
		Session: request.Session,
		Entries: request.Entries,
	})
	if err != nil {
		return contract.Finalized{}, err
	}
	return wire.Finalized(draft, h.Uploads.Loads), nil
}
