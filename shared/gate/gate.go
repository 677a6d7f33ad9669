// Package gate decides whether signed tokens and links may read: state is asked at every read, so revocation holds from its commit.
package gate

import (
	"context"
	"time"

	"vitrine/shared/artifact"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/link"
	"vitrine/shared/workspace"
)

// Names are the gates that one read has to pass.
type Names struct {
	Workspace id.Workspace
	Artifact  id.Artifact
	Link      id.Public // empty: none
}

// State is what the store had for Names; nil for what does not exist.
type State struct {
	Workspace *workspace.Workspace
	Artifact  *artifact.Artifact
	Link      *link.Link
}

// Store reads gates.
type Store interface {
	// Gates reads all in one strongly consistent batch; database_unavailable if any stays unread.
	Gates(ctx context.Context, n Names) (State, error)
	// Revision reads a revision strongly, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
}

// Open tells whether the gates let a reader through. Every refusal looks alike.
func (s State) Open(n Names, now time.Time) bool {
	switch {
	case s.Workspace == nil || !s.Workspace.Open():
		return false
	case !s.Artifact.Readable(now) || s.Artifact.Owner != n.Workspace:
		return false
	case n.Link != "" && (!s.Link.Opens(n.Artifact, now) || !s.Artifact.LinksOff.IsZero()):
		return false
	}
	return true
}

// Shown checks that a revision may be read. The current one may; any other costs a read.
func Shown(ctx context.Context, store Store, a *artifact.Artifact, r id.Revision) error {
	if a.Current == r {
		return nil
	}
	rev, err := store.Revision(ctx, a.ID, r)
	if err != nil {
		return err
	}
	if rev == nil || rev.Status != artifact.Published {
		return NotFound()
	}
	return nil
}

// NotFound is the one answer for everything that is wrong with a signed URL.
func NotFound() error { return fault.Bare(fault.NotFound) }
