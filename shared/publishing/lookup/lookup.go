// Package lookup tells operators what an address or an id is, who owns it and what state it is in, and opens what an
// artifact shows only with an event that gives the reason.
package lookup

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/lockdown"
)

// Store is what Service needs. All reads are strong, and nil if there is none.
type Store interface {
	Link(ctx context.Context, p id.Public) (*link.Link, error)
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	Key(ctx context.Context, p id.Public) (*credential.Key, error)
	// Record writes events, all or none.
	Record(ctx context.Context, all ...event.Event) error
}

// Members tells who has an e-mail address.
type Members interface {
	ByAddress(ctx context.Context, a member.Address) ([]member.Addressee, error)
}

// Locks tells which lockdowns are in effect.
type Locks interface {
	Active(ctx context.Context, s lockdown.Scope, target string) (*lockdown.Lockdown, error)
}

// Marks tells which artifacts were read often, the newest mark first.
type Marks interface {
	Hot(ctx context.Context, since, now time.Time) ([]rate.Hot, error)
}

// URLs builds the addresses of files.
type URLs interface {
	// Content returns the prefix under which all files of a revision lie.
	Content(claims token.Claims) (string, error)
}

// Finding is what a pasted text turned out to be. Title, entrypoint and files of an artifact are not part of what
// operators are shown of it.
type Finding struct {
	Kind      string             // as targets of events have it
	ID        string             // empty for an e-mail address, which is kept nowhere
	Members   []member.Addressee // with an e-mail address: their ids and nothing else
	Link      *link.Link
	Key       *credential.Key
	Artifact  *artifact.Artifact   // as its owner has it now
	Workspace *workspace.Workspace // that owns it now
	Locks     []lockdown.Lockdown  // in effect, of the artifact and of the workspace
	At        time.Time
}

// Found reports whether there is such an item.
func (f Finding) Found() bool {
	return len(f.Members) > 0 || f.Link != nil || f.Key != nil || f.Artifact != nil || f.Workspace != nil
}

// Opened is what an operator may open.
type Opened struct {
	Artifact id.Artifact
	Revision id.Revision
	URL      string
	Until    time.Time
}
