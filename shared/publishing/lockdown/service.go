package lockdown

import (
	"context"
	"encoding/json"
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

// Service sets and lifts lockdowns for operators. To everybody else it is not there.
type Service struct {
	Store   Store
	Cursors *cursor.Codec
	Now     func() time.Time
}

// races says how often a change is decided anew whose target changes meanwhile.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 4, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "the target keeps changing; repeat the request in a moment")
}}

// Set closes a workspace or an artifact. One that is closed already is answered with the lockdown in effect.
func (w *Service) Set(ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.SetLockdown) (contract.Lockdown, error) {
	return w.change(by, c, r, func(now time.Time) (Lockdown, error) {
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
		return w.set(ctx, by, c, l)
	})
}

// Lift opens again what a lockdown closed; other locks stay.
func (w *Service) Lift(ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, s Scope, target string) (contract.Lockdown, error) {
	return w.change(by, c, r, func(now time.Time) (Lockdown, error) { return w.lift(ctx, by, c, s, target, now) })
}

// change runs a step for an operator until it does not lose against another change, and answers what there is then.
func (w *Service) change(by credential.Actor, c idempotency.Command, r *idempotency.Record, step func(time.Time) (Lockdown, error)) (contract.Lockdown, error) {
	now := w.Now().UTC().Truncate(time.Millisecond) // as it is stored
	if err := by.Operates(now); err != nil {
		return contract.Lockdown{}, err
	}
	return idempotency.Do(c, r, now, func() (contract.Lockdown, error) {
		l, err := conflict.Retry(races, func() (Lockdown, error) { return step(now) })
		return l.Detail(), err
	})
}

func (w *Service) set(ctx context.Context, by credential.Actor, c idempotency.Command, l Lockdown) (Lockdown, error) {
	if !valid(l.Scope, l.Target) {
		return l, missing()
	}
	if l.Target == string(by.Workspace.ID) {
		return l, fault.New(fault.InvalidRequest, "this is your own workspace: once it is locked your credentials are refused, and you could not lift the lock")
	}
	effective, err := w.Store.ActiveLockdown(ctx, l.Scope, l.Target)
	if err != nil {
		return l, err
	}
	if effective != nil {
		kept := planned(by, c, *effective, Target{}, event.LockdownSet, l.SetAt)
		kept.Noop = true
		return *effective, w.Store.Lock(ctx, kept)
	}
	t, err := w.Store.Target(ctx, l.Scope, l.Target)
	switch {
	case err != nil:
		return l, err
	case t == nil:
		return l, missing()
	case l.Scope == Workspace && t.ClaimedInto != "":
		return l, fault.New(fault.InvalidRequest, "this workspace was claimed into %s; lock that one, or an artifact", t.ClaimedInto)
	}
	return l, w.Store.Lock(ctx, planned(by, c, l, *t, event.LockdownSet, l.SetAt))
}

func (w *Service) lift(ctx context.Context, by credential.Actor, c idempotency.Command, s Scope, target string, now time.Time) (Lockdown, error) {
	if !valid(s, target) {
		return Lockdown{}, missing()
	}
	l, err := w.Store.ActiveLockdown(ctx, s, target)
	if err != nil {
		return Lockdown{}, err
	}
	if l == nil {
		return Lockdown{}, missing()
	}
	t, err := w.Store.Target(ctx, s, target)
	if err != nil {
		return Lockdown{}, err
	}
	if t == nil {
		return Lockdown{}, missing()
	}
	l.LiftedAt, l.LiftedBy = now, by.Member
	return *l, w.Store.Lift(ctx, planned(by, c, *l, *t, event.LockdownLifted, now))
}

func planned(by credential.Actor, c idempotency.Command, l Lockdown, t Target, action event.Action, now time.Time) Change {
	result, _ := json.Marshal(l.Detail())
	return Change{
		Command:  c,
		Result:   result,
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

// valid tells whether a scope has ids of this form; nothing else reaches the store.
func valid(s Scope, target string) bool {
	var err error
	switch s {
	case Workspace:
		_, err = id.Workspace(target).Bits()
	case Artifact:
		_, err = id.Artifact(target).Bits()
	default:
		return false
	}
	return err == nil
}

func missing() error {
	return fault.New(fault.NotFound, "no such target, or no lockdown of it is in effect")
}

const listName = "lockdowns"

// List answers one page of all lockdowns, the newest first.
func (w *Service) List(ctx context.Context, by credential.Actor, after string, limit int) (contract.LockdownList, error) {
	now := w.Now()
	if err := by.Operates(now); err != nil {
		return contract.LockdownList{}, err
	}
	of := cursor.List{Workspace: by.Workspace.ID, Name: listName, Now: now}
	start, err := w.Cursors.Start(of, cursor.Page{Cursor: after, Limit: limit})
	if err != nil {
		return contract.LockdownList{}, err
	}
	rows, more, err := w.Store.Lockdowns(ctx, Position{start.At, id.Lockdown(start.ID)}, limit)
	if err != nil {
		return contract.LockdownList{}, err
	}
	out := contract.LockdownList{Items: make([]contract.Lockdown, len(rows))}
	for i, l := range rows {
		out.Items[i] = l.Detail()
	}
	if more {
		last := rows[len(rows)-1]
		out.PageInfo, err = w.Cursors.Info(of, cursor.Position{At: last.SetAt, ID: string(last.ID)})
	}
	return out, err
}
