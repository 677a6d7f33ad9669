package api

import (
	"context"
	"net/http"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// exportRoutes export everything in a member's workspace.
func (h *Host) exportRoutes() []web.Route {
	return []web.Route{
		web.Member(web.Operation{
			ID:      "web.workspace.export.create",
			Method:  "POST",
			Path:    "/v1/web/workspace/export",
			Summary: "Ask for archives of everything that the workspace has",
			Status:  http.StatusAccepted,
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.CreateExport},
			Errors:  []fault.Code{fault.Forbidden},
		}, h.requestExport),
		web.Member(web.Operation{
			ID:               "web.workspace.export.get",
			Method:           "GET",
			Path:             "/v1/web/workspace/export",
			Summary:          "How far the newest export is, and its archives",
			Scope:            credential.Admin,
			ConcurrentLimits: true,
		}, h.export),
	}
}

func (h *Host) requestExport(ctx context.Context, request *web.Request, _ *struct{}) (contract.ExportStatus, error) {
	e, err := h.Exports.Request(ctx, request.Actor, request.Command, request.Record)
	if err != nil {
		return contract.ExportStatus{}, err
	}
	return h.Exports.View(request.Actor, &e)
}

func (h *Host) export(ctx context.Context, request *web.Request, _ *struct{}) (contract.ExportStatus, error) {
	e, err := h.Exports.Find(ctx, request.Actor)
	if err != nil {
		return contract.ExportStatus{}, err
	}
	return h.Exports.View(request.Actor, e)
}
