package api

import (
	"context"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/idempotency"
)

func (h *Host) settingsRoutes() []web.Route {
	return []web.Route{
		web.Member(web.Operation{
			ID:               "web.settings.get",
			Method:           "GET",
			Path:             "/v1/web/settings",
			Summary:          "The settings of the workspace",
			Scope:            credential.Admin,
			ConcurrentLimits: true,
		}, h.settings),
		web.Member(web.Operation{
			ID:      "web.settings.update",
			Method:  "PATCH",
			Path:    "/v1/web/settings",
			Summary: "Change the settings of the workspace",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.UpdateSettings},
		}, h.updateSettings),
	}
}

func (h *Host) settings(_ context.Context, request *web.Request, _ *struct{}) (contract.Settings, error) {
	return h.Account.Settings(request.Actor)
}

type settingsInput struct {
	Body contract.UpdateSettings
}

func (h *Host) updateSettings(ctx context.Context, request *web.Request, in *settingsInput) (contract.Settings, error) {
	return h.Account.UpdateSettings(ctx, request.Actor, request.Command, request.Record, in.Body)
}
