package artifact

import (
	"context"
	"encoding/json"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Deletions commits deletions.
type Deletions interface {
	// Delete ends a live artifact of d.Workspace, or that a claim takes into it, in one transaction that holds only while
	// it is pinned or not as it was read: from its commit no read succeeds, and archives of exports that may hold it end.
	// Errors: *idempotency.AlreadyDone, ErrMoved,
	// not_authenticated (the workspace closed), database_unavailable.
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

// deleted is the stored result.
type deleted struct {
	At time.Time `json:"at"`
}

// Delete ends an artifact for good. Repeating it with the same credential answers the first time again.
func (s *Service) Delete(ctx context.Context, by credential.Actor, t Target) (contract.DeletedArtifact, error) {
	now := s.Now()
	return idempotency.DoWith(t.Command, t.Record, now, func() (contract.DeletedArtifact, error) {
		return retry(ctx, s, by, t.Artifact, func(a *Artifact) (contract.DeletedArtifact, error) {
			if err := s.tryDelete(ctx, by, t.Command, a, now); err != nil {
				return contract.DeletedArtifact{}, err
			}
			return contract.DeletedArtifact{ArtifactID: a.ID, DeletedAt: contract.At(now)}, nil
		})
	}, func(first deleted) (contract.DeletedArtifact, error) {
		of := id.Artifact(t.Command.Key.Target)
		return contract.DeletedArtifact{ArtifactID: of, DeletedAt: contract.At(first.At)}, nil
	})
}

// tryDelete decides on the artifact as it was read, and commits.
func (s *Service) tryDelete(
	ctx context.Context, by credential.Actor, c idempotency.Command, a *Artifact, now time.Time,
) error {
	if a == nil || a.Owner != by.Workspace.ID || a.Status != Live {
		return fault.New(fault.ArtifactNotFound, "no such artifact in this workspace, or it is deleted already")
	}
	result, err := json.Marshal(deleted{now})
	if err != nil {
		return err
	}
	return s.Store.Delete(ctx, Deletion{
		Command:   c,
		Result:    result,
		Workspace: by.Workspace.ID,
		Artifact:  *a,
		At:        now,
		Event:     by.Record(now, event.ArtifactDeleted, event.OnArtifact, string(a.ID), a.Title),
	})
}
