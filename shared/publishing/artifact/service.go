package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Service publishes, lists, changes and ends the artifacts of workspaces.
type Service struct {
	Store   Store
	URLs    *address.URLBuilder
	Cursors *cursor.Codec
	Limits  *limits.Limits
	Threads Threads // nil where publications address none
	Now     func() time.Time
}

// Store is the service's view of the tables.
type Store interface {
	Reader
	Workspaces
	Listing
	History
	Publications
	Restorations
	Names
	Pins
	Deletions
}

// Reader reads artifacts and revisions.
type Reader interface {
	// Artifact reads the metadata item of an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*Artifact, error)
	// Revision reads a revision strongly, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*Revision, error)
	// Draft reads an artifact and one of its revisions strongly. Each is nil if it does not exist.
	Draft(ctx context.Context, a id.Artifact, r id.Revision) (*Artifact, *Revision, error)
	// Contents reads a revision and its files, nil if there is no such revision. An eventually consistent read will do.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*Contents, error)
}

// Races bounds how often a change is decided anew because its artifact changed meanwhile.
var Races = conflict.Policy{Lost: ErrMoved, Attempts: 4, Exhausted: Contended}

// Find reads an artifact of the caller's workspace in any status, including one that a claim is still moving. Another
// artifact is not_found.
func (s *Service) Find(ctx context.Context, by credential.Actor, named id.Artifact) (*Artifact, error) {
	if _, err := named.Bits(); err != nil {
		return nil, missing()
	}
	a, err := s.current(ctx, by, named)
	if err == nil && (a == nil || a.Owner != by.Workspace.ID) {
		err = missing()
	}
	return a, err
}

// Owned is Find for commands, which refuse with artifact_not_found.
func (s *Service) Owned(ctx context.Context, by credential.Actor, named id.Artifact) (*Artifact, error) {
	a, err := s.Find(ctx, by, named)
	if fault.CodeOf(err) == fault.NotFound {
		err = NotFound()
	}
	return a, err
}

func missing() error { return fault.New(fault.NotFound, "no such artifact in this workspace") }

// current reads an artifact as the caller's workspace has it, nil if there is none.
func (s *Service) current(ctx context.Context, by credential.Actor, named id.Artifact) (*Artifact, error) {
	a, err := s.Store.Artifact(ctx, named)
	if err != nil {
		return nil, err
	}
	return Follow(ctx, s.Store, by.Workspace, a)
}

// retry runs a change on an artifact that was read with the request. It reads the artifact again after each lost race.
func retry[T any](
	ctx context.Context, s *Service, by credential.Actor, a *Artifact, change func(*Artifact) (T, error),
) (T, error) {
	lost := false
	return conflict.Retry(Races, func() (T, error) {
		if lost {
			var err error
			if a, err = s.current(ctx, by, a.ID); err != nil {
				var none T
				return none, err
			}
		}
		lost = true
		return change(a)
	})
}
