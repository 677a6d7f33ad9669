package artifact

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// Pins commits pins.
type Pins interface {
	// Pin keeps an artifact from expiring and counts it, in one transaction. Conditions: the artifact is as it was read
	// and has not expired, and the count is below p.Most. Errors: *idempotency.AlreadyDone, ErrMoved,
	// pinned_artifact_cap_exceeded, not_authenticated (the workspace closed), database_unavailable. With p.Noop it only
	// records the command, and the artifact has to be pinned already.
	Pin(ctx context.Context, p Pinning) error
	// Unpin lets a pinned artifact expire at p.Artifact.ExpiresAt and no longer counts it, in one transaction. Condition:
	// the artifact is as it was read. Errors: those of Pin, without the cap. With p.Noop it only records the command, and
	// the artifact must not be pinned.
	Unpin(ctx context.Context, p Pinning) error
}

// Pinning is everything that pinning or unpinning changes.
type Pinning struct {
	Command   idempotency.Command
	Result    []byte
	Workspace id.Workspace
	Artifact  Artifact // as it was read; for Unpin, with its new ExpiresAt
	Most      int      // artifacts that the workspace may pin, at least one
	Noop      bool     // the artifact is already as requested
	At        time.Time
	Event     event.Event
}

// Pin keeps a live artifact with a published revision from expiring. It returns an artifact that is already pinned as
// it is.
func (s *Service) Pin(ctx context.Context, by credential.Actor, t Target) (Detail, error) {
	return s.changePin(ctx, by, t, s.tryPin)
}

// Unpin lets an artifact expire again: at its former time, but not before limits.UnpinnedLife has passed, so that one
// click does not lose it. It returns an artifact that is not pinned as it is.
func (s *Service) Unpin(ctx context.Context, by credential.Actor, t Target) (Detail, error) {
	return s.changePin(ctx, by, t, s.tryUnpin)
}

// pinStep checks an artifact, commits a change of its pin, and returns the changed artifact.
type pinStep func(context.Context, credential.Actor, idempotency.Command, Artifact, time.Time) (*Artifact, error)

// changePin runs step on the artifact that t names and returns the artifact afterwards.
func (s *Service) changePin(ctx context.Context, by credential.Actor, t Target, step pinStep) (Detail, error) {
	if by.Member == "" {
		return Detail{}, fault.New(fault.Forbidden, "only members pin artifacts")
	}
	if err := by.Require(credential.Read); err != nil {
		return Detail{}, err
	}
	now := s.Now()
	return idempotency.DoWith(t.Command, t.Record, now, func() (Detail, error) {
		changed, err := conflict.Retry(Races, func() (*Artifact, error) {
			a, err := s.Owned(ctx, by, t.RequestedID)
			if err != nil {
				return nil, err
			}
			return step(ctx, by, t.Command, *a, now)
		})
		if err != nil {
			return Detail{}, err
		}
		return s.detail(ctx, by, changed)
	}, func(first Detail) (Detail, error) {
		return s.replayPin(ctx, by, t.RequestedID, first)
	})
}

func (s *Service) tryPin(
	ctx context.Context, by credential.Actor, c idempotency.Command, a Artifact, now time.Time,
) (*Artifact, error) {
	switch {
	case !a.Active(now) || a.Current == "":
		return nil, fault.New(fault.ArtifactNotFound, "only a live artifact with a published revision can be pinned")
	case !a.PinnedAt.IsZero():
		return &a, s.Store.Pin(ctx, noopPinning(by, c, a, now))
	case by.Policy.LiveArtifacts < 1:
		return nil, tooManyPins(by)
	}
	planned := pinning(by, c, a, event.ArtifactPinned, now) // with a as it was read, which the commit checks
	a.PinnedAt = now
	planned.Result = pinResult(&a, now)
	err := s.Store.Pin(ctx, planned)
	if fault.CodeOf(err) == fault.PinnedArtifactCap {
		err = tooManyPins(by)
	}
	return &a, err
}

func tooManyPins(by credential.Actor) error {
	return fault.New(fault.PinnedArtifactCap,
		"this workspace may pin %d artifacts; unpin another one first", by.Policy.LiveArtifacts)
}

func (s *Service) tryUnpin(
	ctx context.Context, by credential.Actor, c idempotency.Command, a Artifact, now time.Time,
) (*Artifact, error) {
	switch {
	case !a.Active(now):
		return nil, NotFound()
	case a.PinnedAt.IsZero():
		return &a, s.Store.Unpin(ctx, noopPinning(by, c, a, now))
	}
	if least := now.Add(limits.UnpinnedLife); a.ExpiresAt.Before(least) {
		a.ExpiresAt = least
	}
	planned := pinning(by, c, a, event.ArtifactUnpinned, now) // still pinned, which the commit checks
	a.PinnedAt = time.Time{}
	planned.Result = pinResult(&a, now)
	return &a, s.Store.Unpin(ctx, planned)
}

// noopPinning returns the change of a command that finds the artifact already as requested.
func noopPinning(by credential.Actor, c idempotency.Command, a Artifact, now time.Time) Pinning {
	return Pinning{
		Command:   c,
		Result:    pinResult(&a, now),
		Workspace: by.Workspace.ID,
		Artifact:  a,
		Noop:      true,
		At:        now,
	}
}

func pinning(by credential.Actor, c idempotency.Command, a Artifact, action event.Action, now time.Time) Pinning {
	return Pinning{
		Command:   c,
		Workspace: by.Workspace.ID,
		Artifact:  a,
		Most:      by.Policy.LiveArtifacts,
		At:        now,
		Event:     by.Record(now, action, event.OnArtifact, string(a.ID), a.Title),
	}
}

// pinResult returns the stored result: the artifact after the change, without signed URLs.
func pinResult(a *Artifact, now time.Time) []byte { return idempotency.Encode(a.Detail(now)) }

// replayPin returns the result of the first request, with a preview of the artifact as it is today.
func (s *Service) replayPin(
	ctx context.Context, by credential.Actor, named id.Artifact, first Detail,
) (Detail, error) {
	today, err := s.Detail(ctx, by, named)
	if fault.CodeOf(err) == fault.NotFound { // gone since, which does not change the first result
		return first, nil
	}
	first.Preview = today.Preview
	return first, err
}
