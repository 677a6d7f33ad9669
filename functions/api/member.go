package api

import (
	"context"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// memberRoutes are the routes of members: those of the web API, and what the MCP host asks about their tokens.
func (h *Host) memberRoutes() []web.Route {
	return []web.Route{
		web.Member(web.Operation{
			ID:               "mcp.whoami",
			Method:           "GET",
			Path:             "/v1/mcp/whoami",
			Summary:          "For whom a token of the MCP host acts",
			Security:         web.MCPToken,
			ConcurrentLimits: true,
		}, h.delegate),
		web.Member(web.Operation{
			ID:        "web.auth.callback",
			Method:    "POST",
			Path:      "/v1/auth/web/callback",
			Summary:   "Where a member is after signing in",
			Unlimited: true,
		}, h.callback),
		web.Member(web.Operation{
			ID:               "web.workspace.get",
			Method:           "GET",
			Path:             "/v1/web/workspace",
			Summary:          "The member's workspace and its limits",
			ConcurrentLimits: true,
		}, h.workspace),
		web.Member(web.Operation{
			ID:               "web.audit.list",
			Method:           "GET",
			Path:             "/v1/web/audit",
			Summary:          "What was done in the workspace, newest first",
			Scope:            credential.Admin,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.audit),
		web.Member(web.Operation{
			ID:               "web.artifacts.list",
			Method:           "GET",
			Path:             "/v1/web/artifacts",
			Summary:          "The workspace's artifacts, gone ones included, newest first",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.webArtifacts),
		web.Member(web.Operation{
			ID:               "web.artifacts.get",
			Method:           "GET",
			Path:             "/v1/web/artifacts/{artifact_id}",
			Summary:          "One artifact with what shows it",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.NotFound},
		}, h.webArtifact),
		web.Member(web.Operation{
			ID:      "web.agentAuth.claimComplete",
			Method:  "POST",
			Path:    "/v1/web/agent-auth/claim/complete",
			Summary: "Take over an agent that asked with a code",
			Errors:  []fault.Code{fault.Forbidden},
		}, h.completeClaim),
	}
}

func (h *Host) delegate(_ context.Context, request *web.Request, _ *struct{}) (contract.MCPWhoami, error) {
	return h.Account.Delegate(request.Actor, *request.Member), nil
}

func (h *Host) callback(_ context.Context, request *web.Request, _ *struct{}) (contract.AuthCallback, error) {
	return h.Account.Callback(request.Actor, *request.Member), nil
}

func (h *Host) workspace(_ context.Context, request *web.Request, _ *struct{}) (contract.WebWorkspace, error) {
	return h.Account.Workspace(request.Actor, *request.Member), nil
}

func (h *Host) audit(ctx context.Context, request *web.Request, in *listInput) (contract.AuditList, error) {
	if err := in.refuseBlank(); err != nil {
		return contract.AuditList{}, err
	}
	return h.Account.AuditLog(ctx, request.Actor, account.Page{Cursor: in.Cursor, Limit: in.Limit})
}

func (h *Host) webArtifacts(ctx context.Context, request *web.Request, in *listInput) (contract.WebArtifactList, error) {
	if err := in.refuseBlank(); err != nil {
		return contract.WebArtifactList{}, err
	}
	rows, next, err := h.Artifacts.ListAll(ctx, request.Actor, artifact.Page{Cursor: in.Cursor, Limit: in.Limit})
	items := contract.Rows(rows, webArtifactRow(h.Artifacts.Now()))
	return contract.WebArtifactList{Items: items, PageInfo: contract.Page(next)}, err
}

func (h *Host) webArtifact(ctx context.Context, request *web.Request, in *artifactInput) (contract.WebArtifact, error) {
	d, err := h.Artifacts.Detail(ctx, request.Actor, id.Artifact(in.Artifact))
	return webArtifact(d), err
}

type completeInput struct {
	Body contract.CompleteClaim
}

func (h *Host) completeClaim(
	ctx context.Context, request *web.Request, in *completeInput,
) (contract.CompletedClaim, error) {
	return h.Agents.Complete(ctx, request.Actor, in.Body)
}
