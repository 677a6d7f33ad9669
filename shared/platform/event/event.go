// Package event defines the records of what was done to a workspace, each written in the transaction that it describes.
package event

import (
	"time"

	"vitrine/shared/platform/id"
)

// Action names what was done.
type Action string

// The actions. Those of the contract come first, then the service's own.
const (
	WorkspaceCreated     Action = "workspace.created"
	SettingsUpdated      Action = "workspace.settings.updated"
	PlanUpdated          Action = "workspace.plan.updated"
	ExportCreated        Action = "workspace.export.created"
	WorkspaceProvisioned Action = "ephemeral.workspace.provisioned"
	WorkspaceClaimed     Action = "ephemeral.workspace.claimed"
	KeyCreated           Action = "api_key.created"
	KeyRevoked           Action = "api_key.revoked"
	RegistrationCreated  Action = "agent_auth.registration.created"
	ClaimCompleted       Action = "agent_auth.claim.completed"
	TokenIssued          Action = "agent_auth.access_token.issued"
	TokenRevoked         Action = "agent_auth.access_token.revoked"
	DelegationCreated    Action = "agent_auth.delegation.created"
	DelegationRevoked    Action = "agent_auth.delegation.revoked"
	SessionCreated       Action = "upload_session.created"
	ArtifactCreated      Action = "artifact.created"
	ArtifactPublished    Action = "artifact.published"
	ArtifactDeleted      Action = "artifact.deleted"
	LinksLocked          Action = "access_link.lockdown.set"
	LinksUnlocked        Action = "access_link.lockdown.lifted"
	ArtifactExpired      Action = "artifact.expired"
	ArtifactPinned       Action = "artifact.pinned"
	ArtifactUnpinned     Action = "artifact.unpinned"
	LockdownSet          Action = "platform.lockdown.set"
	LockdownLifted       Action = "platform.lockdown.lifted"
	RevisionRetained     Action = "revision.retained"
	DraftCreated         Action = "revision.draft_created"

	DeletionRequested Action = "workspace.deletion.requested"
	DeletionCancelled Action = "workspace.deletion.cancelled"
	DeletionDone      Action = "workspace.deletion.done"

	MemberConfirmed Action = "member.confirmed"

	ClaimLocked    Action = "agent_auth.anonymous_claim.failed_locked"
	SessionStarted Action = "session.created"
	SessionEnded   Action = "session.ended"
	SessionsEnded  Action = "session.all_ended"
	ConsentGranted Action = "oauth.consent.granted"
	GrantRevoked   Action = "oauth.grant.revoked"
	RefreshReused  Action = "oauth.refresh.reuse_detected"
	DeviceApproved Action = "device.approved"
	DeviceDenied   Action = "device.denied"

	LinkCreated       Action = "access_link.created"
	LinkRevoked       Action = "access_link.revoked"
	VisibilityUpdated Action = "artifact.visibility.updated"
	ArtifactRenamed   Action = "artifact.renamed"

	ArtifactReported Action = "artifact.reported"
	ReportHandled    Action = "artifact.report.handled"
	LookedUp         Action = "platform.lookup"
	ContentOpened    Action = "platform.content.opened"
	QuotaUpdated     Action = "platform.provision_quota.updated"
)

// The types of actors.
const (
	Key      = "api_key"
	Member   = "member"
	Admin    = "admin" // part of the contract; the service records no event of this type
	System   = "system"
	Platform = "platform"
)

// Actor is who performed an action.
type Actor struct {
	Type string
	ID   string
}

// ByKey returns the actor of an API key.
func ByKey(k id.Key) Actor { return Actor{Key, string(k)} }

// ByMember returns the actor of a member.
func ByMember(m id.Member) Actor { return Actor{Member, string(m)} }

// ByOperator returns the actor of a member who acts as operator of the deployment.
func ByOperator(m id.Member) Actor { return Actor{Platform, string(m)} }

// BySystem returns the actor of the service itself.
func BySystem() Actor { return Actor{System, "vitrine"} }

// The types of targets. Those of the contract come first, then the service's own.
const (
	OnWorkspace    = "workspace"
	OnKey          = "api_key"
	OnSession      = "upload_session"
	OnArtifact     = "artifact"
	OnRevision     = "revision"
	OnDelegation   = "agent_auth_delegation"
	OnRegistration = "agent_auth_registration"
	OnCleanup      = "cleanup"
	OnLink         = "access_link"
	OnDevice       = "device"
	OnClient       = "oauth_client"
	OnBrowser      = "session"
	OnMember       = "member"
	OnLockdown     = "lockdown"
	OnReport       = "report"
	OnQuota        = "provision_quota"
	OnExport       = "workspace_export"
)

// Target is what an action was performed on.
type Target struct {
	Type string
	ID   string
}

// Event is one record. Detail is text for people and holds no secret.
type Event struct {
	ID        id.Event
	Workspace id.Workspace
	At        time.Time
	Action    Action
	Actor     Actor
	Target    Target
	Revision  id.Revision // the revision that came with the target; empty: none
	Artifact  id.Artifact // the artifact of a target that is a revision; empty: an older event does not tell
	Number    int         // the number of that revision; 0: none or unknown
	Detail    string
	RequestID string
}
