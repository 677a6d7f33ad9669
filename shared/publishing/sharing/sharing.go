// Package sharing lets people without an account see artifacts: it makes, lists, locks and ends access links.
package sharing

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Links reads links and the artifacts that they open.
type Links interface {
	// Link reads a link strongly, nil if there is none.
	Link(ctx context.Context, p id.Public) (*link.Link, error)
	// List returns links, newest first and revoked ones included, and the position of the last one if more follow. An
	// eventually consistent read will do.
	List(ctx context.Context, q Query) (rows []link.Link, next string, err error)
	// Artifacts reads artifacts. The map lacks those that do not exist. An eventually consistent read will do.
	Artifacts(ctx context.Context, of []id.Artifact) (map[id.Artifact]*artifact.Artifact, error)
	// Artifact reads an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	artifact.Workspaces
}

// Query selects the links of a list.
type Query struct {
	Workspace id.Workspace
	Claimed   bool        // Workspace may have claimed others, and so may own links that still name those
	Artifact  id.Artifact // limits the list to one artifact; empty: all of them
	After     string      // position to continue after; empty: the start
	Limit     int
}

// Changes writes links. Each method is one transaction, conditional on the caller's workspace being open and on the
// artifact being unchanged since it was read. Errors: artifact.ErrMoved (the artifact changed),
// *idempotency.AlreadyDone (methods with a command), not_authenticated (the workspace closed), database_unavailable.
type Changes interface {
	// Create stores a link and, if it is a share link, records it on its artifact. It fails with NoRevision if the
	// revision of the link is not published.
	Create(ctx context.Context, c Creation) error
	// RecordNoop records that a command was answered with the existing share link.
	RecordNoop(ctx context.Context, c Creation) error
	// SetComments records that a command was answered with the existing share link, and stores Link.Comments with it.
	SetComments(ctx context.Context, c Creation) error
	// Revoke revokes a link and returns when it was first revoked. The zero time means that the link no longer exists. A
	// change of the artifact does not matter here.
	Revoke(ctx context.Context, r Revocation) (time.Time, error)
	// RevokeAll ends all existing links of an artifact and the public views of all its published revisions. It also fails
	// with ErrMoved if a link was created or a revision published since the artifact was read.
	RevokeAll(ctx context.Context, c Closing) error
	// Lock locks or unlocks all links of an artifact, or records a command that had no effect.
	Lock(ctx context.Context, l Lock) error
}

// Creation is everything that Create writes.
type Creation struct {
	Command  *idempotency.Command // nil: none
	Result   []byte               // of Command
	Link     link.Link            // in the caller's workspace
	From     id.Workspace         // claimed workspace that the stored artifact still names as owner; empty: none
	Replaces id.Public            // ended share link that this one replaces; empty: none
	At       time.Time
	Event    event.Event
}

// Revocation is everything that Revoke writes.
type Revocation struct {
	Link  link.Link // as it was read
	At    time.Time
	Event event.Event
}

// Closing is everything that RevokeAll writes.
type Closing struct {
	Artifact artifact.Artifact // as it was read
	At       time.Time         // no earlier than the newest link
	Event    event.Event
}

// Lock is everything that Lock writes.
type Lock struct {
	Command  idempotency.Command
	Result   []byte
	Artifact artifact.Artifact // as it was read
	Lift     bool
	Noop     bool // the links are already as requested, and only the command is recorded
	At       time.Time
	Event    event.Event
}

// Service manages access links. A link is an item of its own, and every read through a link reads that item and the
// artifact, so that a change to either holds from its commit. Revoking a link changes the link. Locking or closing all
// links changes the artifact, and costs the same for any number of links. The hosts check most scopes, because scopes
// differ by route.
type Service struct {
	Store     Links
	Changes   Changes
	Addresses *address.URLBuilder
	Cursors   *cursor.Codec
	Now       func() time.Time
}

// Target is the artifact of a request. Requests about links name no revision.
type Target = artifact.Target

// retry calls decide with the artifact. It reads the artifact again and repeats the call each time that decide loses a
// race.
func (s *Service) retry(
	ctx context.Context, by credential.Actor, t Target, decide func(*artifact.Artifact) error,
) error {
	_, err := conflict.Retry(artifact.Races, func() (*artifact.Artifact, error) {
		a, err := s.owned(ctx, by, t)
		if err == nil {
			err = decide(a)
		}
		t.Artifact = nil // what was read with the request is outdated once an attempt is lost
		return a, err
	})
	return err
}

// owned returns the artifact that t names if the caller's workspace owns it, else artifact_not_found. It reads an
// artifact that the request has not read. It also reads another workspace's artifact again, because a foreign artifact
// must cost as much as a missing one.
func (s *Service) owned(ctx context.Context, by credential.Actor, t Target) (*artifact.Artifact, error) {
	if a := t.Artifact; a != nil && a.Owner == by.Workspace.ID {
		return a, nil
	}
	if _, err := t.RequestedID.Bits(); err != nil {
		return nil, artifact.NotFound()
	}
	a, err := s.Store.Artifact(ctx, t.RequestedID)
	if err == nil {
		a, err = artifact.Follow(ctx, s.Store, by.Workspace, a)
	}
	if err == nil && (a == nil || a.Owner != by.Workspace.ID) {
		err = artifact.NotFound()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// find reads a link of the caller's workspace, including one that still names a workspace that was claimed into it. A
// missing link costs the same reads as another workspace's.
func (s *Service) find(ctx context.Context, by credential.Actor, named id.Link) (*link.Link, error) {
	public, err := named.Public()
	if err != nil {
		return nil, NotFound()
	}
	l, err := s.Store.Link(ctx, public)
	if err != nil {
		return nil, err
	}
	found, owner := l != nil && l.ID == named, by.Workspace.ID // owner of a missing link, read for its cost alone
	if found {
		owner = l.Workspace
	}
	switch {
	case found && owner == by.Workspace.ID:
		return l, nil
	case by.Workspace.ClaimedAt.IsZero():
		return nil, NotFound()
	}
	source, err := s.Store.Workspace(ctx, owner)
	if err != nil {
		return nil, err
	}
	if !found || source == nil || source.ClaimedInto != by.Workspace.ID {
		return nil, NotFound()
	}
	return l, nil
}

// withArtifact reads a link as find does, and its artifact.
func (s *Service) withArtifact(
	ctx context.Context, by credential.Actor, named id.Link,
) (*link.Link, *artifact.Artifact, error) {
	l, err := s.find(ctx, by, named)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.owned(ctx, by, Target{RequestedID: l.Artifact})
	if fault.CodeOf(err) == fault.ArtifactNotFound {
		err = NotFound()
	}
	return l, a, err
}

// NotFound returns the refusal of a link that the caller's workspace does not have, or that no longer opens its
// artifact.
func NotFound() error {
	return fault.New(fault.NotFound, "no such access link in this workspace, or it opens nothing any more")
}

// NoRevision returns the refusal of a link to a revision that is not published or not of the artifact.
func NoRevision() error {
	return fault.New(fault.NotFound, "no such published revision of this artifact")
}

// locked returns the refusal of new links while all links of the artifact are locked.
func locked() error {
	return fault.New(fault.NotFound, "the access links of this artifact are locked; unlock them first")
}

// Address is the URL of a link, with the link and its artifact.
type Address struct {
	Shared
	URL string
}

// Address returns the URL of a link. It works as long as the link does.
func (s *Service) Address(ctx context.Context, by credential.Actor, named id.Link) (Address, error) {
	l, a, err := s.withArtifact(ctx, by, named)
	if err != nil {
		return Address{}, err
	}
	url, err := s.url(a, l)
	return Address{Shared: sharedOf(*l, a), URL: url}, err
}

// url signs the URL of a link that opens its artifact now.
func (s *Service) url(a *artifact.Artifact, l *link.Link) (string, error) {
	now := s.Now()
	if !l.Opens(a.ID, now) || !a.Readable(now) || a.Current == "" || !a.LinksOpen(l.CreatedAt) {
		return "", NotFound()
	}
	return s.Addresses.Link(l.Public, a.Owner, a.ID, l.ExpiresAt)
}
