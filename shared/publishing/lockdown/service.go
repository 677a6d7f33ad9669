package lockdown

import (
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/text"
)

// Service sets and lifts lockdowns for operators. Other callers get not_found, as if the routes did not exist.
type Service struct {
	Store   Store
	Cursors *cursor.Codec
	Now     func() time.Time
}

// races bounds optimistic retries. Every lost attempt means that another change of the target succeeded.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 4, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "the target keeps changing; repeat the request in a moment")
}}

// Set locks a workspace or an artifact. If it is locked already, Set returns the lockdown in effect.
func (s *Service) Set(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.SetLockdown,
) (contract.Lockdown, error) {
	return s.change(by, c, r, func(now time.Time) (Lockdown, error) {
		l := Lockdown{
			ID:     id.NewLockdown(),
			Scope:  Scope(asked.Scope),
			Target: strings.TrimSpace(asked.TargetID),
			SetAt:  now,
			SetBy:  by.Member,
		}
		var err error
		if l.Reason, err = text.Reason.Clean(asked.ReasonCode); err != nil {
			return l, err
		}
		if l.Target == "" {
			return l, fault.New(fault.InvalidRequest, "target_id is empty")
		}
		return s.set(ctx, by, c, l)
	})
}

// Lift ends the lockdown of a target. Other locks stay.
func (s *Service) Lift(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, scope Scope, target string,
) (contract.Lockdown, error) {
	return s.change(by, c, r, func(now time.Time) (Lockdown, error) {
		return s.lift(ctx, by, c, scope, target, now)
	})
}

// change runs step for an operator until it no longer loses a race, and returns the lockdown afterwards.
func (s *Service) change(
	by credential.Actor, c idempotency.Command, r *idempotency.Record, step func(time.Time) (Lockdown, error),
) (contract.Lockdown, error) {
	now := s.Now().UTC().Truncate(time.Millisecond) // the precision that is stored
	if err := by.Operates(now); err != nil {
		return contract.Lockdown{}, err
	}
	return idempotency.Do(c, r, now, func() (contract.Lockdown, error) {
		l, err := conflict.Retry(races, func() (Lockdown, error) { return step(now) })
		return l.Detail(), err
	})
}

// set puts l into effect, or records the command and returns the lockdown of the target that is in effect already.
func (s *Service) set(ctx context.Context, by credential.Actor, c idempotency.Command, l Lockdown) (Lockdown, error) {
	if !validTarget(l.Scope, l.Target) {
		return l, notFound()
	}
	if l.Target == string(by.Workspace.ID) {
		return l, fault.New(fault.InvalidRequest,
			"this is your own workspace: once it is locked your credentials are refused, and you could not lift the lock")
	}
	effective, err := s.Store.Active(ctx, l.Scope, l.Target)
	if err != nil {
		return l, err
	}
	if effective != nil {
		kept := newChange(by, c, *effective, Target{}, event.LockdownSet, l.SetAt)
		kept.Noop = true
		return *effective, s.Store.Lock(ctx, kept)
	}
	t, err := s.Store.Target(ctx, l.Scope, l.Target)
	switch {
	case err != nil:
		return l, err
	case t == nil:
		return l, notFound()
	case l.Scope == Workspace && t.ClaimedInto != "":
		return l, fault.New(fault.InvalidRequest,
			"this workspace was claimed into %s; lock that one, or an artifact", t.ClaimedInto)
	}
	return l, s.Store.Lock(ctx, newChange(by, c, l, *t, event.LockdownSet, l.SetAt))
}

// lift ends the lockdown of a target. It is not_found if none is in effect.
func (s *Service) lift(
	ctx context.Context, by credential.Actor, c idempotency.Command, scope Scope, target string, now time.Time,
) (Lockdown, error) {
	if !validTarget(scope, target) {
		return Lockdown{}, notFound()
	}
	l, err := s.Store.Active(ctx, scope, target)
	if err != nil {
		return Lockdown{}, err
	}
	if l == nil {
		return Lockdown{}, notFound()
	}
	t, err := s.Store.Target(ctx, scope, target)
	if err != nil {
		return Lockdown{}, err
	}
	if t == nil {
		return Lockdown{}, notFound()
	}
	l.LiftedAt, l.LiftedBy = now, by.Member
	return *l, s.Store.Lift(ctx, newChange(by, c, *l, *t, event.LockdownLifted, now))
}

// newChange returns the change whose outcome is l, with its event and the result of its command.
func newChange(
	by credential.Actor, c idempotency.Command, l Lockdown, t Target, action event.Action, now time.Time,
) Change {
	return Change{
		Command:  c,
		Result:   idempotency.Encode(l.Detail()),
		Lockdown: l,
		Target:   t,
		At:       now,
		Event: event.Event{
			ID:        id.NewEvent(),
			Workspace: t.Workspace,
			At:        now,
			Action:    action,
			Actor:     event.ByOperator(by.Member),
			Target:    event.Target{Type: string(l.Scope), ID: l.Target},
			Detail:    l.Reason,
			RequestID: by.RequestID,
		},
	}
}

// validTarget reports whether target is a well-formed id of the scope. Other ids must not reach the store.
func validTarget(scope Scope, target string) bool {
	var err error
	switch scope {
	case Workspace:
		_, err = id.Workspace(target).Bits()
	case Artifact:
		_, err = id.Artifact(target).Bits()
	default:
		return false
	}
	return err == nil
}

// notFound returns the refusal of a target that does not exist or has no lockdown to lift.
func notFound() error {
	return fault.New(fault.NotFound, "no such target, or no lockdown of it is in effect")
}

const listName = "lockdowns"

// List returns one page of all lockdowns, newest first.
func (s *Service) List(
	ctx context.Context, by credential.Actor, after string, limit int,
) (contract.LockdownList, error) {
	now := s.Now()
	if err := by.Operates(now); err != nil {
		return contract.LockdownList{}, err
	}
	of := cursor.List{Workspace: by.Workspace.ID, Name: listName, Now: now}
	start, err := s.Cursors.Start(of, cursor.Page{Cursor: after, Limit: limit})
	if err != nil {
		return contract.LockdownList{}, err
	}
	rows, more, err := s.Store.List(ctx, Position{start.At, id.Lockdown(start.ID)}, limit)
	if err != nil {
		return contract.LockdownList{}, err
	}
	out := contract.LockdownList{Items: make([]contract.Lockdown, len(rows))}
	for i, l := range rows {
		out.Items[i] = l.Detail()
	}
	if more {
		last := rows[len(rows)-1]
		next, err := s.Cursors.Seal(of, cursor.Position{At: last.SetAt, ID: string(last.ID)})
		out.PageInfo = contract.Page(next)
		return out, err
	}
	return out, nil
}
