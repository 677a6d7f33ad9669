package app

import (
	"context"
	"net/netip"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

// Sessions keeps people signed in.
type Sessions interface {
	// Authenticate finds the member behind a session's secret; not_authenticated for whatever opens nothing.
	Authenticate(ctx context.Context, secret, requestID string) (session.Authenticated, error)
	// End ends one session; a secret that opens nothing has ended.
	End(ctx context.Context, secret, requestID string) error
	// EndAll ends every session, every app and every API key of a member that is older than its commit.
	EndAll(ctx context.Context, by credential.Actor) error
}

// SignIns signs people in at the identity provider.
type SignIns interface {
	// Begin answers where to send the browser, and what binds the sign-in to it.
	Begin(ctx context.Context, returnTo string, from netip.Addr) (signin.Begun, error)
	// Finish takes what the browser brings back. Faults: forbidden, with signin.ErrUnverified or for a closed workspace;
	// database_unavailable; invalid_request for all else, with signin.ErrDeclined if the provider said no.
	Finish(ctx context.Context, c signin.Callback, about session.Client, requestID string) (signin.Finished, error)
	// SignOutURL is where people sign out of the provider; empty: nowhere.
	SignOutURL() string
}

// Agents are let into workspaces by members. Whatever is wrong with an attempt or its code is one invalid_request.
type Agents interface {
	Preview(ctx context.Context, by credential.Actor, attemptToken string) (agentauth.Request, error)
	Complete(ctx context.Context, by credential.Actor, c contract.CompleteClaim) (contract.CompletedClaim, error)
	Refuse(ctx context.Context, by credential.Actor, attemptToken string) error
}

// ConnectedAgents are those that were let in.
type ConnectedAgents interface {
	// Connections is one page of the connected agents, newest first; invalid_cursor for a cursor that is a day old or of
	// somebody else.
	Connections(
		ctx context.Context, by credential.Actor, p cursor.Page,
	) ([]agentauth.Registration, contract.PageInfo, error)
	// Connection is one of them; not_found if there is none.
	Connection(ctx context.Context, by credential.Actor, r id.Registration) (agentauth.Registration, error)
	// Unlink disconnects an agent; not_found if there is none.
	Unlink(ctx context.Context, by credential.Actor, r id.Registration) error
}

// Claims moves ephemeral workspaces into those of members. Whatever is wrong with a token is one not_found.
type Claims interface {
	Preview(ctx context.Context, by credential.Actor, claimToken string) (claim.Preview, error)
	Claim(ctx context.Context, by credential.Actor, command idempotency.Command, record *idempotency.Record, claimToken string) (contract.Claimed, error)
}

// Apps are OAuth clients that ask members.
type Apps interface {
	// Consent is what a request asks; a fault says that it is over.
	Consent(ctx context.Context, request string) (oauth.Consent, error)
	// Allow and Deny answer where the browser goes, which is the client's redirect with the answer.
	Allow(ctx context.Context, by credential.Actor, request string) (redirectTo string, err error)
	Deny(ctx context.Context, by credential.Actor, request string) (redirectTo string, err error)
}

// ConnectedApps are OAuth clients that were let in.
type ConnectedApps interface {
	// Grants is one page of the connected apps, newest first; invalid_cursor for a cursor that is a day old or
	// of somebody else.
	Grants(ctx context.Context, by credential.Actor, p cursor.Page) ([]oauth.Grant, contract.PageInfo, error)
	// Allowed is one of them; not_found if there is none.
	Allowed(ctx context.Context, by credential.Actor, public id.Public) (oauth.Grant, error)
	// EndGrant disconnects an app; not_found if there is none.
	EndGrant(ctx context.Context, by credential.Actor, public id.Public) error
}

// Refusals tell people of apps that asked in a wrong way.
type Refusals interface {
	// Refused judges once more what the authorization endpoint refused. by is the zero value in a browser in which nobody is
	// signed in. Faults: invalid_request and not_found for what is no such request, rate_limited_actor, database_unavailable.
	Refused(ctx context.Context, by credential.Actor, a oauth.Authorization, from netip.Addr) (oauth.Refused, error)
}

// Devices ask members by a code. Whatever is wrong with it is one not_found; who guesses too often is rate_limited_actor.
type Devices interface {
	Device(ctx context.Context, by credential.Actor, userCode string) (oauth.Device, error)
	ApproveDevice(ctx context.Context, by credential.Actor, userCode string) error
	DenyDevice(ctx context.Context, by credential.Actor, userCode string) error
}

// Artifacts lists what members published; not_found for artifacts of others.
type Artifacts interface {
	Web(ctx context.Context, by credential.Actor, p artifact.Page) (contract.WebArtifactList, error)
	Detail(ctx context.Context, by credential.Actor, a id.Artifact) (contract.WebArtifact, error)
	// Find reads an artifact, whatever its status.
	Find(ctx context.Context, by credential.Actor, a id.Artifact) (*artifact.Artifact, error)
}

// Views show the files of artifacts that Find read; not_found for whatever cannot be seen, revision_retained for
// revisions whose files are gone.
type Views interface {
	Latest(ctx context.Context, by credential.Actor, a *artifact.Artifact) (contract.AgentView, error)
	Pinned(ctx context.Context, by credential.Actor, a *artifact.Artifact, r *artifact.Revision) (contract.AgentView, error)
}

// Revisions reads single revisions, nil if there is none.
type Revisions interface {
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
}

// History lists the revisions of an artifact that Find read, newest first.
type History interface {
	List(ctx context.Context, by credential.Actor, a *artifact.Artifact) (contract.RevisionList, error)
}

// Restores publishes older revisions again. Faults: artifact_not_found, revision_unpublished, revision_retained,
// draft_revision_conflict, revision_ceiling_exceeded.
type Restores interface {
	// Restore answers the revision that is the newest then.
	Restore(ctx context.Context, by credential.Actor, t artifact.Target, from id.Revision) (id.Revision, error)
}

// Pins keeps artifacts from expiring. Faults: artifact_not_found, pinned_artifact_cap_exceeded.
type Pins interface {
	Pin(ctx context.Context, by credential.Actor, t artifact.Target) (contract.WebArtifact, error)
	Unpin(ctx context.Context, by credential.Actor, t artifact.Target) (contract.WebArtifact, error)
}

// Titles gives artifacts that Find read other titles. Faults: invalid_request for a bad title, artifact_not_found.
type Titles interface {
	Rename(ctx context.Context, by credential.Actor, a *artifact.Artifact, title string) (contract.DisplayMetadata, error)
}

// Deletions ends artifacts that Find read; artifact_not_found for those that are deleted.
type Deletions interface {
	Delete(ctx context.Context, by credential.Actor, t artifact.Target) (contract.DeletedArtifact, error)
}

// LinkLists shows access links. Faults: not_found for links, artifact_not_found for artifacts of others, and for lists
// invalid_cursor for a cursor that is a day old or of somebody else.
type LinkLists interface {
	Of(ctx context.Context, by credential.Actor, a id.Artifact, p cursor.Page) (contract.WebLinkList, error)
	// Overview answers one page of the links of the workspace with their artifacts.
	Overview(ctx context.Context, by credential.Actor, p cursor.Page) ([]sharing.Shared, contract.PageInfo, error)
	// Find answers one link.
	Find(ctx context.Context, by credential.Actor, l id.Link) (sharing.Shared, error)
}

// Sharing keeps access links. Faults: not_found for links, artifact_not_found for artifacts of others. It leaves it to
// this host which rights a member needs.
type Sharing interface {
	// Create answers with the share link that there is, if one is asked for and works.
	Create(ctx context.Context, by credential.Actor, t sharing.Target, r contract.CreateLink) (contract.CreatedLink, error)
	// Address makes a fresh address of a link, for limits.LinkURLLife; not_found for a link that opens nothing.
	Address(ctx context.Context, by credential.Actor, l id.Link) (sharing.Address, error)
	Revoke(ctx context.Context, by credential.Actor, l id.Link) (contract.RevokedLink, error)
}

// Visibility says who sees an artifact without an account. Faults: as of Sharing.
type Visibility interface {
	// SetVisibility makes an artifact unlisted, with a share link, or private, which ends all its links.
	SetVisibility(ctx context.Context, by credential.Actor, t sharing.Target, word string) (contract.Visibility, error)
	// Lock keeps all links of an artifact from opening it, until Unlock.
	Lock(ctx context.Context, by credential.Actor, t sharing.Target) (contract.WebArtifact, error)
	Unlock(ctx context.Context, by credential.Actor, t sharing.Target) (contract.WebArtifact, error)
}

// Keys keeps API keys, for members with the right admin; forbidden for others.
type Keys interface {
	// Create answers forbidden too where the workspace has limits.LiveKeys.
	Create(ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, name string, life time.Duration) (contract.CreatedKey, error)
	// List answers one page of keys, newest first; invalid_cursor for a cursor that is a day old or of somebody else.
	List(ctx context.Context, by credential.Actor, which credential.Which, p cursor.Page) (contract.WebKeyList, error)
	// Key answers one key; not_found if there is none.
	Key(ctx context.Context, by credential.Actor, k id.Key) (contract.WebKey, error)
	Revoke(ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, k id.Key) (contract.RevokedKey, error)
}

// Accounts tells members about their workspace.
type Accounts interface {
	Workspace(by credential.Actor, m member.Member) contract.WebWorkspace
}

// Settings keeps the settings of workspaces, for members with the right admin; forbidden for others.
type Settings interface {
	Get(by credential.Actor) (contract.Settings, error)
	// Update answers invalid_request for a bad name and for a number of days that the workspace cannot have.
	Update(ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.UpdateSettings) (contract.Settings, error)
}

// Audits tells members with the right admin what was done in their workspace, newest first; forbidden for others, and
// invalid_cursor for a cursor that is a day old or of somebody else.
type Audits interface {
	List(ctx context.Context, by credential.Actor, p account.Page) (contract.AuditList, error)
}

// Counter limits what members see and change.
type Counter interface {
	// Actor counts a request; rate_limited_actor or rate_limited_workspace if it is one too many.
	Actor(ctx context.Context, w id.Workspace, subject string) error
}
