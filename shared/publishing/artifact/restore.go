package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// Restorations is what Restorer needs of the store.
type Restorations interface {
	// Restore commits r as one transaction that holds only while what a publication wants is so, but that the artifact has
	// no draft, and while its source is published. Errors: as of Publications.Publish.
	Restore(ctx context.Context, r Restoration) error
	// Contents reads a revision and its files, nil if there is no such revision. A copy may serve.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*Contents, error)
	// AddReference stores references of a revision to the objects that it borrows, before it is committed.
	AddReference(ctx context.Context, a id.Artifact, r id.Revision, objects []tree.Object) error
	// Draft reads an artifact and one of its revisions strongly; nil for what does not exist.
	Draft(ctx context.Context, a id.Artifact, r id.Revision) (*Artifact, *Revision, error)
	Workspaces
}

// Restoration is everything that publishing an older revision again changes.
type Restoration struct {
	Publication // Again: its revision and files are made with it
	Files       tree.Tree
}

// Restorer publishes older revisions again, as new ones of the same files. No byte is moved: the artifact has them already.
type Restorer struct {
	Store Restorations
	Now   func() time.Time
}

// restored is the stored result.
type restored struct {
	Revision id.Revision `json:"r"`
}

// Restore makes a new revision of the files of a published one and answers its id; the newest one is answered as it is. The
// artifact keeps its title. Only members restore.
func (r *Restorer) Restore(ctx context.Context, by credential.Actor, t Target, from id.Revision) (id.Revision, error) {
	if by.Member == "" || by.Workspace.Tier() == limits.Ephemeral {
		return "", fault.New(fault.Forbidden, "only members restore revisions")
	}
	if _, err := t.RequestedID.Bits(); err != nil {
		return "", NotFound()
	}
	if _, err := from.Bits(); err != nil {
		return "", fault.New(fault.RevisionUnpublished, "no such revision of this artifact")
	}
	now, made := r.Now(), id.NewRevision()
	for range maxAttempts {
		newest, err := r.try(ctx, by, t, from, made, now)
		finished, err := idempotency.Lost(err, now)
		switch {
		case finished != nil:
			first, err := idempotency.First[restored](finished, t.Command)
			return first.Revision, err
		case err == nil:
			return newest, nil
		case !errors.Is(err, ErrMoved):
			return "", err
		}
	}
	return "", Contended()
}

// try decides on the state as it is, and commits; it answers what the newest revision is then.
func (r *Restorer) try(ctx context.Context, by credential.Actor, t Target, from, made id.Revision, now time.Time) (id.Revision, error) {
	a, old, err := r.Store.Draft(ctx, t.RequestedID, from)
	if err != nil {
		return "", err
	}
	if a, err = Follow(ctx, r.Store, by.Workspace, a); err != nil {
		return "", err
	}
	if err := restorable(by, a, old, now); err != nil || a.Current == from {
		return from, err
	}
	return made, r.commit(ctx, by, t.Command, a, old, made, now)
}

func restorable(by credential.Actor, a *Artifact, old *Revision, now time.Time) error {
	if err := publishable(by, a, old, now); err != nil {
		return err
	}
	switch {
	case old.Status != Published:
		return fault.New(fault.RevisionUnpublished, "this revision is a draft: publish it instead")
	case a.Current == old.ID:
		return nil
	case a.Draft != "":
		return fault.New(fault.DraftRevisionConflict, "the artifact has an unpublished draft; publish that one first")
	case a.Number >= by.Policy.Revisions:
		return fault.New(fault.RevisionCeilingExceeded, "an artifact holds at most %d published revisions; publish a new artifact", by.Policy.Revisions)
	}
	return nil
}

// commit refers to what the files borrow and makes the revision. References of one that never comes hold nothing.
func (r *Restorer) commit(ctx context.Context, by credential.Actor, c idempotency.Command, a *Artifact, old *Revision, made id.Revision, now time.Time) error {
	contents, err := r.Store.Contents(ctx, a.ID, old.ID)
	if err != nil {
		return err
	}
	if contents == nil {
		return NotFound()
	}
	if borrowed := contents.Tree.Borrowed(); len(borrowed) > 0 {
		if err := r.Store.AddReference(ctx, a.ID, made, borrowed); err != nil {
			return err
		}
	}
	revision := *old
	revision.Source = old.ID
	revision.ID = made
	revision.Number = a.Number + 1
	revision.Title = a.Title
	revision.CreatedAt = now
	revision.PublishedAt = now
	result, _ := json.Marshal(restored{made})
	return r.Store.Restore(ctx, Restoration{Files: contents.Tree, Publication: Publication{
		Command:     c,
		Result:      result,
		Workspace:   by.Workspace.ID,
		ClaimedFrom: a.ClaimedFrom,
		Artifact:    a.ID,
		Revision:    revision,
		Number:      revision.Number,
		ExpiresAt:   a.ExpiresAt,
		Pinned:      !a.PinnedAt.IsZero(),
		Republish:   true,
		At:          now,
		Event:       by.Record(now, event.ArtifactPublished, event.OnRevision, string(made), a.Title),
	}})
}
