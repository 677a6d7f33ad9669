// Package lookup tells operators what an address or an id is, who owns it and what state it is in, and opens artifacts
// only with an event that gives the reason.
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

// Store is the service's view of the tables. All reads are strong and return nil if there is no such item.
type Store interface {
	Link(ctx context.Context, p id.Public) (*link.Link, error)
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	Key(ctx context.Context, p id.Public) (*credential.Key, error)
	// Record writes events, all or none.
	Record(ctx context.Context, all ...event.Event) error
}

// Members finds members by e-mail address.
type Members interface {
	ByAddress(ctx context.Context, a member.Address) ([]member.Addressee, error)
}

// Locks reads the lockdown of a target that is in effect, nil if there is none.
type Locks interface {
	Active(ctx context.Context, s lockdown.Scope, target string) (*lockdown.Lockdown, error)
}

// Marks lists artifacts that were read often, the newest mark first.
type Marks interface {
	Hot(ctx context.Context, since, now time.Time) ([]rate.Hot, error)
}

// Copies tells when the data was last copied; the zero time if it never was.
type Copies interface {
	Newest(ctx context.Context) (time.Time, error)
}

// URLs builds the addresses of files.
type URLs interface {
	// Content returns the URL prefix of all files of a revision.
	Content(claims token.Claims) (string, error)
}

// Finding is the result of a look-up. Hosts must not show operators the title, the entrypoint or the files of an
// artifact.
type Finding struct {
	Kind      string             // a target type of events
	ID        string             // empty for an e-mail address, which is never stored
	Members   []member.Addressee // ids of the members with an e-mail address
	Link      *link.Link
	Key       *credential.Key
	Artifact  *artifact.Artifact   // as its owner has it now
	Workspace *workspace.Workspace // its current owner
	Locks     []lockdown.Lockdown  // in effect, of the artifact and of the workspace
	At        time.Time
}

// Found reports whether the look-up found an item.
func (f Finding) Found() bool {
	return len(f.Members) > 0 || f.Link != nil || f.Key != nil || f.Artifact != nil || f.Workspace != nil
}

// Opened is an artifact that an operator may open, with its URL.
type Opened struct {
	Artifact id.Artifact
	Revision id.Revision
	URL      string
	Until    time.Time
}
