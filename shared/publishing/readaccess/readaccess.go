// Package readaccess decides whether signed tokens and links may read: state is asked at every read, so revocation holds from its commit.
package readaccess

import (
	"context"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Query are the gates that one read has to pass. A signed URL names the workspace that owned the artifact when it was
// signed; by now another one may have claimed it.
type Query struct {
	Workspace id.Workspace
	Artifact  id.Artifact
	Link      id.Public // empty: none
}

// State is what the store had for Names; nil for what does not exist. As Read returns it, Workspace is the one that owns
// the artifact now, and its tier is what counts.
type State struct {
	Workspace *workspace.Workspace
	Artifact  *artifact.Artifact
	Link      *link.Link
}

// Store reads gates.
type Store interface {
	// ReadState reads all in one strongly consistent batch; database_unavailable if any stays unread.
	ReadState(ctx context.Context, n Query) (State, error)
	// Revision reads a revision strongly, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
	artifact.Workspaces
}

// Read reads the gates and follows a claim. Without one the batch is all; with one the other workspace is read too: the
// destination for what was signed before the claim, the source for what was signed after it and is not moved yet. So the
// locks of both hold.
func Read(ctx context.Context, store Store, n Query) (State, error) {
	s, err := store.ReadState(ctx, n)
	if err != nil || s.Workspace == nil || s.Artifact == nil {
		return s, err
	}
	named, owner := s.Workspace, s.Artifact.Owner
	switch {
	case named.ClaimedInto != "" && (owner == named.ID || owner == named.ClaimedInto):
		return s.followNamed(ctx, store, *named)
	case named.ClaimedInto == "" && owner != named.ID:
		return s.followOwner(ctx, store)
	}
	return s, nil
}

// followNamed follows from a source to its destination.
func (s State) followNamed(ctx context.Context, store Store, source workspace.Workspace) (State, error) {
	destination, err := store.Workspace(ctx, source.ClaimedInto)
	s.Workspace, s.Artifact = destination, s.Artifact.AfterClaimOf(source)
	return s, err
}

// followOwner finds that the owner of the artifact was claimed by the workspace of the state. If it was not, the parts of
// the batch may be from before and after a claim and a move, so that the named workspace is asked again.
func (s State) followOwner(ctx context.Context, store Store) (State, error) {
	owner, err := store.Workspace(ctx, s.Artifact.Owner)
	if err != nil || owner == nil {
		return s, err
	}
	if owner.ClaimedInto == s.Workspace.ID {
		s.Artifact = s.Artifact.AfterClaimOf(*owner)
		return s, nil
	}
	again, err := store.Workspace(ctx, s.Workspace.ID)
	if err != nil || again == nil || again.ClaimedInto != owner.ID {
		return s, err
	}
	s.Workspace, s.Artifact = owner, s.Artifact.AfterClaimOf(*again)
	return s, nil
}

// Allows tells whether the gates let a reader through. Every refusal looks alike.
func (s State) Allows(n Query, now time.Time) bool {
	switch {
	case s.Workspace == nil || !s.Workspace.Open():
		return false
	case !s.Artifact.Readable(now) || s.Artifact.Owner != s.Workspace.ID:
		return false
	case n.Link != "" && (!s.Link.Opens(n.Artifact, now) || !s.Artifact.LinksOpen(s.Link.CreatedAt)):
		return false
	}
	return true
}

// ArtifactAllows tells whether the artifact is open, so that a reader who is refused nevertheless must not use up what others
// may read.
func (s State) ArtifactAllows(n Query, now time.Time) bool {
	n.Link = ""
	return s.Allows(n, now)
}

// CheckRevision checks that a revision may be read. The current one may; any other costs a read.
func CheckRevision(ctx context.Context, store Store, a *artifact.Artifact, r id.Revision) error {
	_, err := publishedRevision(ctx, store, a, r)
	return err
}

// CheckPublicView checks that the public view of a revision may be read, at the same cost.
func CheckPublicView(ctx context.Context, store Store, a *artifact.Artifact, r id.Revision) error {
	rev, err := publishedRevision(ctx, store, a, r)
	if err == nil && !a.ViewOpen(rev) {
		err = NotFound()
	}
	return err
}

// publishedRevision finds a revision that may be read: of the current one what the artifact tells.
func publishedRevision(ctx context.Context, store Store, a *artifact.Artifact, r id.Revision) (artifact.Revision, error) {
	if a.Current == r {
		return a.Shown(), nil
	}
	rev, err := store.Revision(ctx, a.ID, r)
	if err == nil && (rev == nil || rev.Status != artifact.Published) {
		err = NotFound()
	}
	if err != nil {
		return artifact.Revision{}, err
	}
	return *rev, nil
}

// NotFound is the one answer for everything that is wrong with a signed URL.
func NotFound() error { return fault.NewCode(fault.NotFound) }
