package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Deletions is what Deleter needs of the store.
type Deletions interface {
	// Delete ends a live artifact of d.Workspace, or that a claim takes into it, in one transaction that holds only while
	// it is pinned or not as it was read: from its commit no read succeeds. Errors: *idempotency.AlreadyDone, ErrMoved,
	// not_authenticated (the workspace closed), database_unavailable.
	Delete(ctx context.Context, d Deletion) error
	// Artifact reads the gate of an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*Artifact, error)
	Workspaces
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

// Deleter deletes artifacts.
type Deleter struct {
	Store Deletions
	Now   func() time.Time
}

type deleted struct {
	At time.Time `json:"at"`
}

// Delete ends an artifact for good. Repeating it with the same credential answers the first time again.
func (d *Deleter) Delete(ctx context.Context, by credential.Actor, t Target) (contract.DeletedArtifact, error) {
	now := d.Now()
	if t.Record.Finished(now) {
		return replayDeletion(t.Record, t)
	}
	for range maxAttempts {
		err := d.try(ctx, by, t, now)
		finished, err := idempotency.Lost(err, now)
		switch {
		case finished != nil:
			return replayDeletion(finished, t)
		case err == nil:
			return contract.DeletedArtifact{ArtifactID: t.Artifact.ID, DeletedAt: contract.At(now)}, nil
		case !errors.Is(err, ErrMoved):
			return contract.DeletedArtifact{}, err
		}
		if t.Artifact, err = d.Store.Artifact(ctx, t.Artifact.ID); err == nil {
			t.Artifact, err = Follow(ctx, d.Store, by.Workspace, t.Artifact)
		}
		if err != nil {
			return contract.DeletedArtifact{}, err
		}
	}
	return contract.DeletedArtifact{}, Contended()
}

// try decides on the artifact as it was read, and commits.
func (d *Deleter) try(ctx context.Context, by credential.Actor, t Target, now time.Time) error {
	a := t.Artifact
	if a == nil || a.Owner != by.Workspace.ID || a.Status != Live {
		return fault.New(fault.ArtifactNotFound, "no such artifact in this workspace, or it is deleted already")
	}
	result, err := json.Marshal(deleted{now})
	if err != nil {
		return err
	}
	return d.Store.Delete(ctx, Deletion{
		Command:   t.Command,
		Result:    result,
		Workspace: by.Workspace.ID,
		Artifact:  *a,
		At:        now,
		Event:     by.Record(now, event.ArtifactDeleted, event.OnArtifact, string(a.ID), a.Title),
	})
}

func replayDeletion(r *idempotency.Record, t Target) (contract.DeletedArtifact, error) {
	var first deleted
	if err := r.Replay(t.Command, &first); err != nil {
		return contract.DeletedArtifact{}, err
	}
	return contract.DeletedArtifact{ArtifactID: id.Artifact(t.Command.Key.Target), DeletedAt: contract.At(first.At)}, nil
}
