package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// Restorations commits restorations.
type Restorations interface {
	// Restore commits r in one transaction, under the conditions of Publications.Publish with two changes: the artifact
	// has no draft, and the source of the revision is published. Errors: those of Publications.Publish.
	Restore(ctx context.Context, r Restoration) error
}

// Restoration is everything that restoring a revision changes.
type Restoration struct {
	Publication // with Republish: the commit also creates its revision
	Files       tree.Tree
}

// restored is the stored result of a restoration: the newest revision after it.
type restored struct {
	Revision id.Revision `json:"r"`
}

// Restore makes a new revision of the files of a published one and returns its id. It returns the id of the newest
// revision as it is. The artifact keeps its title. No byte is copied, because the artifact already has the files. Only
// members restore.
func (s *Service) Restore(
	ctx context.Context, by credential.Actor, t Target, from id.Revision,
) (id.Revision, error) {
	if by.Member == "" || by.Workspace.Tier() == limits.Ephemeral {
		return "", fault.New(fault.Forbidden, "only members restore revisions")
	}
	if _, err := t.RequestedID.Bits(); err != nil {
		return "", NotFound()
	}
	if _, err := from.Bits(); err != nil {
		return "", fault.New(fault.RevisionUnpublished, "no such revision of this artifact")
	}
	now, made := s.Now(), id.NewRevision()
	newest, err := idempotency.Do(t.Command, t.Record, now, func() (restored, error) {
		return conflict.Retry(Races, func() (restored, error) { return s.tryRestore(ctx, by, t, from, made, now) })
	})
	return newest.Revision, err
}

// tryRestore reads and checks the state, commits the restoration, and returns the newest revision after it.
func (s *Service) tryRestore(
	ctx context.Context, by credential.Actor, t Target, from, made id.Revision, now time.Time,
) (restored, error) {
	a, old, err := s.draft(ctx, by, t.RequestedID, from)
	if err != nil {
		return restored{}, err
	}
	if err := restorable(by, a, old, now); err != nil {
		return restored{}, err
	}
	if a.Current == from {
		return restored{from}, nil
	}
	return restored{made}, s.commitRestoration(ctx, by, t.Command, a, old, made, now)
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
		return fault.New(fault.RevisionCeilingExceeded,
			"an artifact holds at most %d published revisions; publish a new artifact", by.Policy.Revisions)
	}
	return nil
}

// commitRestoration commits the new revision. It has no session of its own, and inherits the references of the old one.
func (s *Service) commitRestoration(
	ctx context.Context, by credential.Actor, c idempotency.Command, a *Artifact, old *Revision, made id.Revision,
	now time.Time,
) error {
	contents, err := s.Store.Contents(ctx, a.ID, old.ID)
	if err != nil {
		return err
	}
	if contents == nil {
		return NotFound()
	}
	revision := *old
	revision.Source = old.ID
	revision.ID = made
	revision.Session = ""
	revision.Number = a.Number + 1
	revision.Title = a.Title
	revision.CreatedAt = now
	revision.PublishedAt = now
	revision.Bundle = Bundle{Status: s.newBundle()}
	return s.Store.Restore(ctx, Restoration{Files: contents.Tree.Inherited(old.ID), Publication: Publication{
		Command:     c,
		Result:      idempotency.Encode(restored{made}),
		Workspace:   by.Workspace.ID,
		ClaimedFrom: a.ClaimedFrom,
		Artifact:    a.ID,
		Revision:    revision,
		Number:      revision.Number,
		ExpiresAt:   a.ExpiresAt,
		Pinned:      !a.PinnedAt.IsZero(),
		Republish:   true,
		At:          now,
		Event:       publishedEvent(by, now, a.ID, made, revision.Number, a.Title),
	}})
}
