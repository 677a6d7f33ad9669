package replay

import (
	"context"
	"time"

	"vitrine/shared/identity/deletion"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/lockdown"
)

// setLockdown gives the lockdown another id, because events do not tell the first one.
func setLockdown(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	scope := lockdown.Scope(e.Target.Type)
	active, err := a.stores.Lockdowns.Active(ctx, scope, e.Target.ID)
	if err != nil || active != nil {
		return Already, err
	}
	target, err := a.stores.Lockdowns.Target(ctx, scope, e.Target.ID)
	if err != nil || target == nil {
		return Unknown, err
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Lockdowns.Lock(ctx, lockdown.Change{
			Command: a.command(e),
			Result:  result,
			Lockdown: lockdown.Lockdown{
				ID:     id.NewLockdown(),
				Scope:  scope,
				Target: e.Target.ID,
				Reason: e.Detail,
				SetAt:  e.At,
				SetBy:  id.Member(e.Actor.ID),
			},
			Target: *target,
			At:     e.At,
			Event:  e,
		})
	})
}

func liftLockdown(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	scope := lockdown.Scope(e.Target.Type)
	active, err := a.stores.Lockdowns.Active(ctx, scope, e.Target.ID)
	if err != nil || active == nil {
		return Already, err
	}
	active.LiftedAt, active.LiftedBy = e.At, id.Member(e.Actor.ID)
	return a.commit(ctx, e, func() error {
		return a.stores.Lockdowns.Lift(ctx, lockdown.Change{
			Command:  a.command(e),
			Result:   result,
			Lockdown: *active,
			At:       e.At,
			Event:    e,
		})
	})
}

func requestDeletion(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	return a.deleteWorkspace(ctx, e, e.At.Add(limits.DeletionGrace))
}

// deleteWorkspace closes a workspace, whose removal begins at an instant.
func (a *applier) deleteWorkspace(ctx context.Context, e event.Event, at time.Time) (Outcome, error) {
	member := id.Member(e.Actor.ID)
	w, err := a.stores.Workspaces.Workspace(ctx, e.Workspace)
	switch {
	case err != nil || w == nil:
		return Unknown, err
	case w.Deleting():
		return Already, nil
	case !w.Open():
		return "its workspace is closed in the restored set", nil
	}
	if e.Actor.Type != event.Member { // the jobs removed it
		if member, err = a.memberOf(ctx, w.ID); err != nil {
			return "", err
		}
	}
	known, _, err := a.stores.Members.Member(ctx, w.ID, member)
	switch {
	case err != nil:
		return "", err
	case known == nil:
		return "its member is not in the restored set", nil
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Deletions.Request(ctx, deletion.Change{
			Workspace: w.ID,
			Member:    member,
			DeletesAt: at.UTC().Truncate(time.Millisecond),
			At:        e.At,
			Event:     e,
		})
	})
}

func cancelDeletion(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	w, err := a.stores.Workspaces.Workspace(ctx, e.Workspace)
	switch {
	case err != nil || w == nil:
		return Unknown, err
	case !w.Deleting():
		return Already, nil
	case !w.RemovedAt.IsZero() || w.Lock != "":
		return "its removal has begun or it is locked in the restored set", nil
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Deletions.Cancel(ctx, deletion.Change{
			Workspace: w.ID,
			DeletesAt: w.DeletesAt,
			At:        e.At,
			Event:     e,
		})
	})
}

// finishDeletion leaves the removal to the jobs of the restored set, which find it due at once and write an event of
// their own when it is done. Where it was not asked for in the set, it is asked for with this event.
func finishDeletion(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	out, err := a.deleteWorkspace(ctx, e, e.At)
	if out == Already && !a.recorded[e.ID] {
		a.held[e.ID] = true
	}
	return out, err
}
