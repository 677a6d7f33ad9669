// Package api is the control plane host: accounts, artifacts, agent views, access links and ephemeral workspaces.
package api

import (
	"net/http"
	"slices"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/view"
)

// Host serves the api host with these services.
type Host struct {
	Surface *web.Server
	URLs    *address.URLBuilder
	Loads   media.Sources // what pages may load from other hosts
	Limits  *limits.Limits

	Artifacts *artifact.Service
	Views     *view.Service
	Links     *sharing.Service
	Feedback  *feedback.Service
	Workspaces

	Account      *account.Service
	Keys         *credential.Service
	Provisioning *ephemeral.Provisioner
	Claims       *claim.Service

	OAuth         *oauth.Server
	Features      oauth.Features // what the metadata offers to clients
	Agents        Agents         // nil: agents get no tokens
	AssertionKeys []byte         // public keys of assertions, as a JWKS; nil: agents cannot register
}

// Workspaces holds the services that work on whole workspaces.
type Workspaces struct {
	Billing   *billing.Service // nil: billing is off
	Deletions *deletion.Service
	Exports   *export.Service
	Lockdowns *lockdown.Service // for operators
}

// Handler serves the host.
func (h *Host) Handler() http.Handler { return h.Surface.Handler(h.routes()...) }

// forFiveMinutes is the Cache-Control of public documents.
const forFiveMinutes = "public, max-age=300"

func (h *Host) routes() []web.Route {
	return slices.Concat(
		h.callerRoutes(),
		h.artifactRoutes(),
		h.viewRoutes(),
		h.feedbackRoutes(),
		h.memberFeedbackRoutes(),
		h.linkRoutes(),
		h.memberLinkRoutes(),
		h.memberRoutes(),
		h.settingsRoutes(),
		h.deletionRoutes(),
		h.exportRoutes(),
		h.keyRoutes(),
		h.keepRoutes(),
		h.operatorRoutes(),
		h.billingRoutes(),
		h.claimRoutes(),
		h.oauthRoutes(),
		h.agentRoutes(),
		h.wellKnownRoutes(),
		h.manualRoutes(),
	)
}

// callerRoutes describe the deployment and the caller, and make workspaces without an account.
func (h *Host) callerRoutes() []web.Route {
	return []web.Route{
		web.Public(web.Operation{
			ID:           "discovery.get",
			Method:       "GET",
			Path:         "/.well-known/vitrine",
			Summary:      "Where the hosts of this deployment are",
			CacheControl: forFiveMinutes,
		}, h.discovery),
		web.Public(web.Operation{
			ID:           "cli.version",
			Method:       "GET",
			Path:         "/v1/public/cli-version",
			Summary:      "Which versions of the CLI fit this deployment",
			CacheControl: forFiveMinutes,
		}, h.cliVersion),

		web.Guarded(web.Operation{
			ID:               "whoami.get",
			Method:           "GET",
			Path:             "/v1/whoami",
			Summary:          "Who the credential is and what it may do",
			ConcurrentLimits: true,
		}, h.whoami),
		web.Guarded(web.Operation{
			ID:        "usagePolicy.get",
			Method:    "GET",
			Path:      "/v1/usage-policy",
			Summary:   "The limits of the caller's workspace",
			Unlimited: true,
		}, h.usagePolicy),
		web.Guarded(web.Operation{
			ID:      "apiKeys.revokeCurrent",
			Method:  "POST",
			Path:    "/v1/api-keys/current/revoke",
			Summary: "End the credential that asks",
		}, h.revokeCurrent),

		web.Public(web.Operation{
			ID:      "ephemeral.provision",
			Method:  "POST",
			Path:    "/v1/ephemeral/provision",
			Summary: "Make a workspace without an account",
			Status:  http.StatusCreated,
			Before:  h.admit,
			Errors: []fault.Code{
				fault.DatabaseUnavailable, fault.ProvisionRateLimited, fault.ProvisionUnavailable, fault.InvalidRequest,
				fault.PowRequired, fault.PowInvalid, fault.Forbidden,
			},
		}, h.provision),
	}
}

// artifactRoutes change and list the caller's artifacts.
func (h *Host) artifactRoutes() []web.Route {
	return []web.Route{
		web.Guarded(web.Operation{
			ID:               "artifacts.list",
			Method:           "GET",
			Path:             "/v1/artifacts",
			Summary:          "The workspace's live artifacts, newest first",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.list),
		web.Guarded(web.Operation{
			ID:      "artifacts.delete",
			Method:  "DELETE",
			Path:    "/v1/artifacts/{artifact_id}",
			Summary: "Delete an artifact at once and for good",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.DeleteArtifact, Target: "artifact_id", Derived: "mcp-delete:"},
			Errors:  []fault.Code{fault.ArtifactNotFound},
		}, h.delete),
		web.Guarded(web.Operation{
			ID:      "revisions.publish",
			Method:  "POST",
			Path:    "/v1/artifacts/{artifact_id}/revisions/{revision_id}/publish",
			Summary: "Publish a finalized draft",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.PublishRevision, Target: "revision_id"},
			Errors: []fault.Code{
				fault.ArtifactNotFound, fault.DraftRevisionConflict, fault.EntrypointNotInRevision, fault.RevisionRetained,
				fault.RevisionUnpublished, fault.RevisionCeilingExceeded, fault.WriteAllowanceExceeded,
				fault.FileCountCapExceeded, fault.FileSizeCapExceeded, fault.RevisionSizeCapExceeded,
			},
		}, h.publish),

		web.Guarded(web.Operation{
			ID:               "artifacts.fileContent",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/file-content",
			Summary:          "One file of a revision, as text where it fits",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.NotFound, fault.StorageUnavailable},
		}, h.fileContent),
		web.Guarded(web.Operation{
			ID:               "revisions.list",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/revisions",
			Summary:          "The revisions of an artifact, drafts first, then the newest",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.ArtifactNotFound, fault.InvalidCursor},
		}, h.revisions),
	}
}

// viewRoutes show a revision to agents, by credential, signed token or access link.
func (h *Host) viewRoutes() []web.Route {
	return []web.Route{
		web.Guarded(web.Operation{
			ID:               "agentView.getLatest",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/agent-view",
			Summary:          "The newest revision for agents",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Feedback:         true,
			FeedbackQuery:    "feedback",
			Errors:           []fault.Code{fault.InvalidRequest, fault.NotFound},
		}, h.latest),
		web.Guarded(web.Operation{
			ID:               "agentView.getRevision",
			Method:           "GET",
			Path:             "/v1/artifacts/{artifact_id}/revisions/{revision_id}/agent-view",
			Summary:          "One revision for agents",
			Scope:            credential.Read,
			ConcurrentLimits: true,
			Feedback:         true,
			FeedbackQuery:    "feedback",
			Errors:           []fault.Code{fault.InvalidRequest, fault.NotFound, fault.RevisionRetained},
		}, h.pinned),
		web.Public(web.Operation{
			ID:       "agentView.public",
			Method:   "GET",
			Path:     "/v1/public/agent-view/{token}",
			Summary:  "One revision for whoever holds its token",
			Security: web.ViewToken,
			Errors: []fault.Code{
				fault.InvalidRequest, fault.NotFound, fault.RateLimitedArtifact, fault.DatabaseUnavailable,
			},
			Page: h.publicPage,
		}, h.public),
		web.Public(web.Operation{
			ID:       "accessLinks.resolve",
			Method:   "POST",
			Path:     "/v1/access-links/resolve",
			Summary:  "What an access link opens",
			Security: web.LinkSecret,
			Errors:   []fault.Code{fault.NotFound, fault.RateLimitedArtifact, fault.DatabaseUnavailable},
		}, h.resolve),
	}
}
