package api

import (
	"context"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// deletionRoutes delete the member's workspace, or cancel that. Only these routes answer in a workspace that is being
// deleted.
func (h *Host) deletionRoutes() []web.Route {
	const path = "/v1/web/workspace/deletion"
	return []web.Route{
		web.Member(web.Operation{
			ID:               "web.workspace.deletion.get",
			Method:           "GET",
			Path:             path,
			Summary:          "Whether the workspace is being deleted",
			Deleting:         true,
			ConcurrentLimits: true,
		}, h.deletionStatus),
		web.Member(web.Operation{
			ID:       "web.workspace.deletion.request",
			Method:   "POST",
			Path:     path,
			Summary:  "Delete the workspace in 14 days, and close it at once",
			Scope:    credential.Admin,
			Deleting: true,
			Errors:   []fault.Code{fault.Forbidden, fault.InvalidRequest},
		}, h.requestDeletion),
		web.Member(web.Operation{
			ID:       "web.workspace.deletion.cancel",
			Method:   "DELETE",
			Path:     path,
			Summary:  "Keep a workspace that is being deleted",
			Scope:    credential.Admin,
			Deleting: true,
			Errors:   []fault.Code{fault.Forbidden},
		}, h.cancelDeletion),
	}
}

func (h *Host) deletionStatus(
	_ context.Context, request *web.Request, _ *struct{},
) (contract.WorkspaceDeletion, error) {
	return h.Deletions.Status(request.Actor), nil
}

type deletionInput struct {
	Body contract.RequestDeletion
}

func (h *Host) requestDeletion(
	ctx context.Context, request *web.Request, in *deletionInput,
) (contract.WorkspaceDeletion, error) {
	return h.Deletions.Request(ctx, request.Actor, in.Body.Confirm)
}

func (h *Host) cancelDeletion(
	ctx context.Context, request *web.Request, _ *struct{},
) (contract.WorkspaceDeletion, error) {
	return h.Deletions.Cancel(ctx, request.Actor)
}
