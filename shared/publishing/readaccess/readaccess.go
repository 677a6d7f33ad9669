// Package readaccess decides whether signed tokens and links may read, from state that is read for every request, so
// that a revocation holds from its commit.
package readaccess

import (
	"context"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// Query names the state that decides about one read. A signed URL names the workspace that owned the artifact when the
// URL was signed. Another workspace may have claimed that one since.
type Query struct {
	Workspace id.Workspace
	Artifact  id.Artifact
	Link      id.Public // empty: none
	Feedback  bool      // also the newest change of the threads
}

// QueryOf returns the query of a token.
func QueryOf(c token.Claims) Query {
	return Query{Workspace: c.Workspace, Artifact: c.Artifact, Link: c.Link}
}

// Holder returns the name under which reads and refusals are counted. All readers with the same link or token share it.
func (q Query) Holder(kind string, r id.Revision) string {
	return kind + "/" + string(q.Link) + "/" + string(r)
}

// State is the stored state of a Query. Each part is nil if it does not exist. After Read, Workspace is the current
// owner of the artifact, whose tier applies.
type State struct {
	Workspace *workspace.Workspace
	Artifact  *artifact.Artifact
	Link      *link.Link
	Feedback  int64 // the newest change of the threads, if it was asked for; 0: there are none
	// FeedbackHeld is the number of what a guest wrote last, if it was asked for; 0: guests wrote nothing.
	FeedbackHeld int64
}

// Store reads the state of one read.
type Store interface {
	// ReadState reads all parts in one strongly consistent batch. It fails with database_unavailable if any part stays
	// unread, because a missing item must not look like an open one.
	ReadState(ctx context.Context, q Query) (State, error)
	// Revision reads a revision strongly, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
	artifact.Workspaces
}

// Read reads the state and follows a claim. Without a claim the batch is enough. With one it also reads the other
// workspace, so that the locks of both hold: the destination for a URL that was signed before the claim, and the source
// for a URL that was signed after it, while the artifact is not moved yet. A link outlives the record of the workspace
// that it was signed in, which ends limits.MovedLife after all was moved; its artifact names the owner then.
func Read(ctx context.Context, store Store, q Query) (State, error) {
	s, err := store.ReadState(ctx, q)
	if err != nil || s.Artifact == nil {
		return s, err
	}
	if s.Workspace == nil {
		if q.Link != "" && s.Link != nil && s.Artifact.Owner != q.Workspace {
			s.Workspace, err = store.Workspace(ctx, s.Artifact.Owner)
		}
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

// followNamed replaces the named workspace, which was claimed, by its destination.
func (s State) followNamed(ctx context.Context, store Store, source workspace.Workspace) (State, error) {
	destination, err := store.Workspace(ctx, source.ClaimedInto)
	s.Workspace, s.Artifact = destination, s.Artifact.AfterClaimOf(source)
	return s, err
}

// followOwner checks that the named workspace claimed the owner of the artifact. If it did not, it reads the named
// workspace again, because the batch may be partly from before a claim and partly from after the move.
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

// Allows reports whether a reader may read. It gives no reason, because every refusal must look alike.
func (s State) Allows(q Query, now time.Time) bool {
	switch {
	case s.Workspace == nil || !s.Workspace.Open():
		return false
	case !s.Artifact.Readable(now) || s.Artifact.Owner != s.Workspace.ID:
		return false
	case q.Link != "" && (!s.Link.Opens(q.Artifact, now) || !s.Artifact.LinksOpen(s.Link.CreatedAt)):
		return false
	}
	return true
}

// ArtifactAllows reports whether the artifact could be read without the query's link. If so, a reader who is refused
// must not use up the limit of the others.
func (s State) ArtifactAllows(q Query, now time.Time) bool {
	q.Link = ""
	return s.Allows(q, now)
}

// CheckRevision refuses a revision that is not published. It makes a read unless the revision is the current one.
func CheckRevision(ctx context.Context, store Store, a *artifact.Artifact, r id.Revision) error {
	_, err := PublishedRevision(ctx, store, a, r)
	return err
}

// PublicRevision is PublishedRevision for one whose public view is open. It costs the same.
func PublicRevision(
	ctx context.Context, store Store, a *artifact.Artifact, r id.Revision,
) (artifact.Revision, error) {
	rev, err := PublishedRevision(ctx, store, a, r)
	if err == nil && !a.ViewOpen(rev) {
		err = NotFound()
	}
	return rev, err
}

// PublishedRevision returns a published revision: the current one as the artifact has it, any other as it is stored.
func PublishedRevision(
	ctx context.Context, store Store, a *artifact.Artifact, r id.Revision,
) (artifact.Revision, error) {
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

// NotFound returns the only refusal of a signed URL, which gives no reason.
func NotFound() error { return fault.NewCode(fault.NotFound) }
