package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Deletions commits deletions.
type Deletions interface {
	// Delete ends a live artifact in one transaction. From its commit on no read succeeds, and archives of exports that
	// may hold the artifact end. Conditions: the artifact belongs to d.Workspace or is claimed into it, and is pinned or
	// not, as it was read. Errors: *idempotency.AlreadyDone, ErrMoved, not_authenticated (the workspace closed),
	// database_unavailable.
	Delete(ctx context.Context, d Deletion) error
}

// Deletion is everything that deleting changes.
type Deletion struct {
	Command   idempotency.Command
	Result    []byte
	Workspace id.Workspace
	Artifact  Artifact // as it was read
	At        time.Time
	Event     event.Event
}

// deleted is the stored result of a deletion.
type deleted struct {
	At time.Time `json:"at"`
}

// Delete ends an artifact for good and returns when it did. A repetition with the same credential returns the time of
// the first request.
func (s *Service) Delete(ctx context.Context, by credential.Actor, t Target) (time.Time, error) {
	now := s.Now()
	first, err := idempotency.Do(t.Command, t.Record, now, func() (deleted, error) {
		return retry(ctx, s, by, t.Artifact, func(a *Artifact) (deleted, error) {
			return deleted{now}, s.tryDelete(ctx, by, t.Command, a, now)
		})
	})
	return first.At, err
}

// tryDelete checks an artifact and commits its deletion. An expired one may be deleted too.
func (s *Service) tryDelete(
	ctx context.Context, by credential.Actor, c idempotency.Command, a *Artifact, now time.Time,
) error {
	if a == nil || a.Owner != by.Workspace.ID || a.Status != Live {
		return fault.New(fault.ArtifactNotFound, "no such artifact in this workspace, or it is deleted already")
	}
	return s.Store.Delete(ctx, Deletion{
		Command:   c,
		Result:    idempotency.Encode(deleted{now}),
		Workspace: by.Workspace.ID,
		Artifact:  *a,
		At:        now,
		Event:     by.Record(now, event.ArtifactDeleted, event.OnArtifact, string(a.ID), a.Title),
	})
}
