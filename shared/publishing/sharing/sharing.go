// Package sharing lets people without an account see artifacts: it makes, lists, locks and ends access links.
//
// A link is a row of its own, and whoever opens it asks the row and the artifact at every read. What ends links changes one
// of the two, so that it holds from its commit: a revocation the row, a lock or a closing the artifact, for all links that
// it has, whatever their number.
package sharing

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Links reads what Service needs.
type Links interface {
	// Link reads a link strongly, nil if there is none.
	Link(ctx context.Context, p id.Public) (*link.Link, error)
	// Links returns links, revoked ones included, newest first, and the place of the last one if others follow. A copy may
	// serve.
	Links(ctx context.Context, q Query) (rows []link.Link, next string, err error)
	// Artifacts reads the gates of artifacts; those that are not there are not in the answer. A copy may serve.
	Artifacts(ctx context.Context, of []id.Artifact) (map[id.Artifact]*artifact.Artifact, error)
	// Artifact reads the gate of an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	artifact.Workspaces
}

// Query is which links a list shows.
type Query struct {
	Workspace id.Workspace
	Claimed   bool        // Workspace may have claimed others, whose links are its own from then on
	Artifact  id.Artifact // only of this one; empty: of all
	After     string      // a place; empty: from the start
	Limit     int
}

// Changes writes what Service changes. Each is one transaction that holds only while the workspace of the caller is open
// and the artifact is as it was read. Errors: artifact.ErrMoved when it is not, *idempotency.Taken of those with a
// command, not_authenticated (the workspace closed), database_unavailable.
type Changes interface {
	// CreateLink stores a link, as its artifact's share link if it is one. Also NoRevision.
	CreateLink(ctx context.Context, c Creation) error
	// RecordNoop records that a command was answered with the share link that the artifact has.
	RecordNoop(ctx context.Context, c Creation) error
	// RevokeLink ends a link, whatever its artifact is, and returns since when it is ended: that may be earlier. A zero
	// time says that the link is gone. It is no ErrMoved that the artifact changed.
	RevokeLink(ctx context.Context, r Revocation) (time.Time, error)
	// CloseLinks ends all links of an artifact that were made up to now, and the public views of all revisions that were
	// published. It is ErrMoved too that a link was made or a revision published since the artifact was read.
	CloseLinks(ctx context.Context, c Closing) error
	// LockLinks locks or unlocks all links of an artifact, or records that there was nothing to do.
	LockLinks(ctx context.Context, l Lock) error
}

// Creation is everything that a new link changes.
type Creation struct {
	Command  *idempotency.Command // nil: none
	Result   []byte               // of Command
	Link     link.Link            // in the caller's workspace
	From     id.Workspace         // where a claim takes the artifact from; empty: it is in the workspace of the link
	Replaces id.Public            // a share link that is over, whose place this one takes; empty: none
	At       time.Time
	Event    event.Event
}

// Revocation is everything that the end of a link changes.
type Revocation struct {
	Link  link.Link // as it was read
	At    time.Time
	Event event.Event
}

// Closing is everything that the end of all links changes.
type Closing struct {
	Artifact artifact.Artifact // as it was read
	At       time.Time         // no earlier than the newest link
	Event    event.Event
}

// Lock is everything that a lock of links, or its end, changes.
type Lock struct {
	Command  idempotency.Command
	Result   []byte
	Artifact artifact.Artifact // as it was read
	Lift     bool
	Noop     bool // they are locked, or not, as asked: only the command is recorded
	At       time.Time
	Event    event.Event
}

// Details shows artifacts to members.
type Details interface {
	// Detail answers an artifact of the caller's workspace, whatever its status; else not_found.
	Detail(ctx context.Context, by credential.Actor, a id.Artifact) (contract.WebArtifact, error)
}

// Service keeps access links. Whether the caller has the right to ask is for the hosts to say: it depends on the route.
type Service struct {
	Store     Links
	Changes   Changes
	Addresses *address.URLBuilder
	Details   Details
	Cursors   *cursor.Codec
	Now       func() time.Time
}

// Target is what a request names; requests about links name no revision.
type Target = artifact.Target

// settle decides on the artifact as it is until nothing changes it in between.
func (s *Service) settle(ctx context.Context, by credential.Actor, t Target, decide func(*artifact.Artifact) error) error {
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

// owned is the artifact that is named, if it is of the caller's workspace. What was not read along is read here, and so
// is what is somebody else's, because that has to cost as much as what is not there.
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

// find reads a link of the caller's workspace, one included that a claim is still moving. One that is not there costs
// as much as somebody else's.
func (s *Service) find(ctx context.Context, by credential.Actor, named id.Link) (*link.Link, error) {
	public, err := named.Public()
	if err != nil {
		return nil, NotFound()
	}
	l, err := s.Store.Link(ctx, public)
	if err != nil {
		return nil, err
	}
	found, owner := l != nil && l.ID == named, by.Workspace.ID
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

// withArtifact is find with the artifact of the link.
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

// NotFound is the refusal of a link that the caller's workspace does not have, or that leads nowhere.
func NotFound() error {
	return fault.New(fault.NotFound, "no such access link in this workspace, or it opens nothing any more")
}

// NoRevision is the refusal of a link to what is no published revision of the artifact.
func NoRevision() error {
	return fault.New(fault.NotFound, "no such published revision of this artifact")
}

// locked is the refusal of new links while all are locked.
func locked() error {
	return fault.New(fault.NotFound, "the access links of this artifact are locked; unlock them first")
}

// Address is a fresh URL of a link, and what it opens.
type Address struct {
	Shared
	URL   string
	Until time.Time // when the URL stops at the latest
}

// Mint makes a fresh URL of a link, good for limits.LinkURLLife or until the link ends.
func (s *Service) Mint(ctx context.Context, by credential.Actor, named id.Link) (contract.MintedLink, error) {
	minted, err := s.Address(ctx, by, named)
	return contract.MintedLink{URL: minted.URL}, err
}

// Address is Mint for those who want to know more of the link.
func (s *Service) Address(ctx context.Context, by credential.Actor, named id.Link) (Address, error) {
	l, a, err := s.withArtifact(ctx, by, named)
	if err != nil {
		return Address{}, err
	}
	url, until, err := s.url(a, l)
	return Address{Shared: sharedOf(*l, a), URL: url, Until: until}, err
}

// url signs a URL of a link that works now, and tells when it stops at the latest.
func (s *Service) url(a *artifact.Artifact, l *link.Link) (string, time.Time, error) {
	now := s.Now()
	if !l.Opens(a.ID, now) || !a.Readable(now) || a.Current == "" || !a.LinksOpen(l.CreatedAt) {
		return "", time.Time{}, NotFound()
	}
	until := now.Add(limits.LinkURLLife)
	if !l.ExpiresAt.IsZero() && l.ExpiresAt.Before(until) {
		until = l.ExpiresAt
	}
	url, err := s.Addresses.Link(l.Public, a.Owner, a.ID, until)
	return url, until, err
}
