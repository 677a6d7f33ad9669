// Package event defines the records of what was done to a workspace, each written in the transaction that it describes.
package event

import (
	"time"

	"vitrine/shared/platform/id"
)

// Action names what was done.
type Action string

// The actions. Those of the contract come first, then the service's own. Each has a summary in Summaries.
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
	LinkUpdated       Action = "access_link.updated"
	LinkRevoked       Action = "access_link.revoked"
	VisibilityUpdated Action = "artifact.visibility.updated"
	ArtifactRenamed   Action = "artifact.renamed"

	FeedbackCreated   Action = "feedback.created"
	FeedbackReplied   Action = "feedback.replied"
	FeedbackAddressed Action = "feedback.addressed"
	FeedbackResolved  Action = "feedback.resolved"
	FeedbackReopened  Action = "feedback.reopened"
	FeedbackDeleted   Action = "feedback.deleted"

	FeedbackHeld       Action = "feedback.held"
	FeedbackLetThrough Action = "feedback.let_through"
	FeedbackDropped    Action = "feedback.dropped"

	FeedbackMessageDeleted Action = "feedback.message_deleted"
	FeedbackPolicy         Action = "feedback.policy"

	ArtifactReported Action = "artifact.reported"
	ReportHandled    Action = "artifact.report.handled"
	LookedUp         Action = "platform.lookup"
	ContentOpened    Action = "platform.content.opened"
	QuotaUpdated     Action = "platform.provision_quota.updated"

	DeploymentRestored Action = "deployment.restored"
	ArtifactRestored   Action = "artifact.restored"
)

// Summaries say for people what each action did.
var Summaries = map[Action]string{
	WorkspaceCreated:     "Made the workspace",
	SettingsUpdated:      "Changed the settings",
	PlanUpdated:          "Changed the plan",
	DeletionRequested:    "Asked to delete the workspace",
	DeletionCancelled:    "Kept the workspace",
	DeletionDone:         "Deleted the workspace",
	ExportCreated:        "Asked for an export of the workspace",
	WorkspaceProvisioned: "Made an ephemeral workspace",
	WorkspaceClaimed:     "Took over an ephemeral workspace",
	KeyCreated:           "Made an API key",
	KeyRevoked:           "Revoked an API key",
	RegistrationCreated:  "Registered an agent",
	ClaimCompleted:       "Took over an agent with its workspace",
	TokenIssued:          "Gave an agent an access token",
	TokenRevoked:         "Revoked an agent's access token",
	DelegationCreated:    "Let an agent act",
	DelegationRevoked:    "Ended what an agent may do",
	SessionCreated:       "Began an upload",
	ArtifactCreated:      "Made an artifact",
	ArtifactPublished:    "Published a revision",
	ArtifactDeleted:      "Deleted an artifact",
	DraftCreated:         "Uploaded a draft",
	ArtifactPinned:       "Pinned an artifact",
	ArtifactUnpinned:     "Unpinned an artifact",
	ArtifactRenamed:      "Renamed an artifact",
	LockdownSet:          "Locked by the operator",
	LockdownLifted:       "Unlocked by the operator",
	LinksLocked:          "Locked the access links of an artifact",
	LinksUnlocked:        "Unlocked the access links of an artifact",

	// Of the contract, for those who do them.
	"artifact.expired":         "An artifact's time was up",
	"revision.retained":        "Let the bytes of an old revision go",
	"safety_warnings.replaced": "Looked an artifact over for dangers",
	"cleanup.run":              "Cleaned up",

	MemberConfirmed: "Took the workspace over from the agents that made it",
	ClaimLocked:     "Locked an agent's claim after too many wrong codes",
	SessionStarted:  "Signed in",
	SessionEnded:    "Signed out",
	SessionsEnded:   "Signed out everywhere",
	ConsentGranted:  "Let an app act",
	GrantRevoked:    "Ended what an app may do",
	RefreshReused:   "Ended an app's access because a used refresh token came again",
	DeviceApproved:  "Let a device act",
	DeviceDenied:    "Refused a device",

	LinkCreated:       "Made an access link",
	LinkUpdated:       "Changed whether an access link takes comments",
	LinkRevoked:       "Revoked an access link",
	VisibilityUpdated: "Closed all access links of an artifact",

	FeedbackCreated:   "Wrote about an artifact",
	FeedbackReplied:   "Replied in a thread",
	FeedbackAddressed: "Dealt with a thread by a revision",
	FeedbackResolved:  "Resolved a thread",
	FeedbackReopened:  "Opened a thread again",
	FeedbackDeleted:   "Deleted a thread",

	FeedbackHeld:       "Wrote about an artifact, for a member to let through",
	FeedbackLetThrough: "Let through what a guest wrote",
	FeedbackDropped:    "Dropped what a guest wrote",

	FeedbackMessageDeleted: "Deleted a message in a thread",
	FeedbackPolicy:         "Changed who may write about an artifact",

	ArtifactReported: "An artifact was reported",
	ReportHandled:    "Marked a report as handled",
	LookedUp:         "Looked up what an address or an id is",
	ContentOpened:    "Opened what an artifact shows",
	QuotaUpdated:     "Changed the quota of new ephemeral workspaces",

	DeploymentRestored: "Brought the deployment back from a copy",
	ArtifactRestored:   "Brought an artifact back from a copy",
}

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

// ByGuest returns the actor of a person who came through an access link.
func ByGuest() Actor { return Actor{System, guest} }

// guest is the ID of guests, who have no account.
const guest = "guest"

// Guest reports whether a person who came through an access link acted.
func (a Actor) Guest() bool { return a == ByGuest() }

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
	OnDeployment   = "deployment"
	OnExport       = "workspace_export"
	OnThread       = "feedback_thread"
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
	Artifact  id.Artifact // the artifact of a target that is a revision or a thread; empty: an older event does not tell
	Number    int         // the number of that revision; 0: none or unknown
	Detail    string
	RequestID string
}
