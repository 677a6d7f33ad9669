// Package event is the record of what was done to a workspace; each is written in the transaction that does it.
package event

import (
	"time"

	"vitrine/shared/id"
)

// Action names what happened.
type Action string

// The actions of the contract that are recorded so far.
const (
	WorkspaceProvisioned Action = "ephemeral.workspace.provisioned"
	KeyRevoked           Action = "api_key.revoked"
	SessionCreated       Action = "upload_session.created"
	ArtifactCreated      Action = "artifact.created"
	ArtifactPublished    Action = "artifact.published"
	ArtifactDeleted      Action = "artifact.deleted"
	DraftCreated         Action = "revision.draft_created"
)

// Actor is who did it.
type Actor struct {
	Type string // api_key, member, admin, system or platform
	ID   string
}

// ByKey is an API key as actor.
func ByKey(k id.Key) Actor { return Actor{"api_key", string(k)} }

// BySystem is the service itself as actor.
func BySystem() Actor { return Actor{"system", "vitrine"} }

// Target is what it was done to.
type Target struct {
	Type string // workspace, api_key, upload_session, artifact or revision
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
	Detail    string
	RequestID string
}
