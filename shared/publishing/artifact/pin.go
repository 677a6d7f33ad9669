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
	"vitrine/shared/platform/limits"
)

// Pins is what Pinner needs of the store.
type Pins interface {
	// Pin keeps an artifact from expiring and counts it, in one transaction that holds only while it is as it was read,
	// has not expired and the count is below p.Most. Errors: *idempotency.AlreadyDone, ErrMoved, pinned_artifact_cap_exceeded,
	// not_authenticated (the workspace closed), database_unavailable. An artifact that is kept has to be pinned already, and
	// only the command is recorded.
	Pin(ctx context.Context, p Pinning) error
	// Unpin lets a pinned artifact expire at p.Artifact.ExpiresAt and counts it no more, in one transaction that holds
	// only while it is as it was read. Errors: as of Pin, without the cap. One that is kept is not pinned, likewise.
	Unpin(ctx context.Context, p Pinning) error
}

// Pinning is everything that pinning or unpinning changes.
type Pinning struct {
	Command   idempotency.Command
	Result    []byte
	Workspace id.Workspace
	Artifact  Artifact // as it was read; to be unpinned, with the time when it ends from now on
	Most      int      // artifacts that the workspace may pin, at least one
	Noop      bool     // there is nothing to do
	At        time.Time
	Event     event.Event
}

// Pinner keeps artifacts from expiring. Only members pin.
type Pinner struct {
	Store  Pins
	Lister *Lister // answers what was pinned
	Now    func() time.Time
}

// Pin keeps a live artifact with a published revision from expiring. One that is pinned already is answered as it is.
func (p *Pinner) Pin(ctx context.Context, by credential.Actor, t Target) (contract.WebArtifact, error) {
	return p.change(ctx, by, t, p.pin)
}

// Unpin lets an artifact expire again: when it would have, but not before limits.UnpinnedLife has passed, so that
// nothing is lost by one click. One that is not pinned is answered as it is.
func (p *Pinner) Unpin(ctx context.Context, by credential.Actor, t Target) (contract.WebArtifact, error) {
	return p.change(ctx, by, t, p.unpin)
}

// change reads the artifact that t names, lets step decide and commit, and answers what there is then. A step that lost
// against another change decides anew.
func (p *Pinner) change(ctx context.Context, by credential.Actor, t Target, step func(context.Context, credential.Actor, Target, time.Time) (*Artifact, error)) (contract.WebArtifact, error) {
	if by.Member == "" {
		return contract.WebArtifact{}, fault.New(fault.Forbidden, "only members pin artifacts")
	}
	if err := by.Require(credential.Read); err != nil {
		return contract.WebArtifact{}, err
	}
	now := p.Now()
	if t.Record.Finished(now) {
		return p.replay(ctx, by, t.Record, t)
	}
	for range maxAttempts {
		var err error
		if t.Artifact, err = p.Lister.Owned(ctx, by, t.RequestedID); err != nil {
			return contract.WebArtifact{}, err
		}
		changed, err := step(ctx, by, t, now)
		finished, err := idempotency.Lost(err, now)
		switch {
		case finished != nil:
			return p.replay(ctx, by, finished, t)
		case err == nil:
			return p.Lister.detail(ctx, by, changed)
		case !errors.Is(err, ErrMoved):
			return contract.WebArtifact{}, err
		}
	}
	return contract.WebArtifact{}, Contended()
}

func (p *Pinner) pin(ctx context.Context, by credential.Actor, t Target, now time.Time) (*Artifact, error) {
	a := *t.Artifact
	switch {
	case !a.Active(now) || a.Current == "":
		return nil, fault.New(fault.ArtifactNotFound, "only a live artifact with a published revision can be pinned")
	case !a.PinnedAt.IsZero():
		return &a, p.Store.Pin(ctx, p.kept(by, t, a, now))
	}
	planned := p.plan(by, t, a, event.ArtifactPinned, now)
	a.PinnedAt = now
	planned.Result = p.result(&a, now)
	err := error(fault.NewCode(fault.PinnedArtifactCap))
	if planned.Most > 0 {
		err = p.Store.Pin(ctx, planned)
	}
	if fault.CodeOf(err) == fault.PinnedArtifactCap {
		err = fault.New(fault.PinnedArtifactCap, "this workspace may pin %d artifacts; unpin another one first", by.Policy.LiveArtifacts)
	}
	return &a, err
}

func (p *Pinner) unpin(ctx context.Context, by credential.Actor, t Target, now time.Time) (*Artifact, error) {
	a := *t.Artifact
	switch {
	case !a.Active(now):
		return nil, NotFound()
	case a.PinnedAt.IsZero():
		return &a, p.Store.Unpin(ctx, p.kept(by, t, a, now))
	}
	if least := now.Add(limits.UnpinnedLife); a.ExpiresAt.Before(least) {
		a.ExpiresAt = least
	}
	planned := p.plan(by, t, a, event.ArtifactUnpinned, now)
	a.PinnedAt = time.Time{}
	planned.Result = p.result(&a, now)
	return &a, p.Store.Unpin(ctx, planned)
}

// kept finishes a command that finds what it asks for.
func (p *Pinner) kept(by credential.Actor, t Target, a Artifact, now time.Time) Pinning {
	return Pinning{
		Command:   t.Command,
		Result:    p.result(&a, now),
		Workspace: by.Workspace.ID,
		Artifact:  a,
		Noop:      true,
		At:        now,
	}
}

func (p *Pinner) plan(by credential.Actor, t Target, a Artifact, action event.Action, now time.Time) Pinning {
	return Pinning{
		Command:   t.Command,
		Workspace: by.Workspace.ID,
		Artifact:  a,
		Most:      by.Policy.LiveArtifacts,
		At:        now,
		Event:     by.Record(now, action, event.OnArtifact, string(a.ID), a.Title),
	}
}

// result is what a repetition is answered with: the artifact as it was left, without what is signed.
func (p *Pinner) result(a *Artifact, now time.Time) []byte {
	result, _ := json.Marshal(a.bare(now))
	return result
}

// replay answers what the first request did, with what shows the artifact today.
func (p *Pinner) replay(ctx context.Context, by credential.Actor, r *idempotency.Record, t Target) (contract.WebArtifact, error) {
	var first contract.WebArtifact
	if err := r.Replay(t.Command, &first); err != nil {
		return contract.WebArtifact{}, err
	}
	today, err := p.Lister.Detail(ctx, by, t.RequestedID)
	if fault.CodeOf(err) == fault.NotFound {
		return first, nil
	}
	first.Viewer = today.Viewer
	return first, err
}
