package api

import (
	"context"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

func (h *Host) claimRoutes() []web.Route {
	return []web.Route{
		web.Member(web.Operation{
			ID:      "ephemeral.claim",
			Method:  "POST",
			Path:    "/v1/ephemeral/claim",
			Summary: "Take over an ephemeral workspace with everything in it",
			Command: web.Command{Operation: idempotency.ClaimWorkspace},
			Errors:  []fault.Code{fault.NotFound},
		}, h.claim),
	}
}

type claimInput struct {
	Body contract.ClaimRequest
}

func (h *Host) claim(ctx context.Context, request *web.Request, in *claimInput) (contract.Claimed, error) {
	return h.Claims.Claim(ctx, request.Actor, request.Command, request.Record, in.Body.ClaimToken)
}
