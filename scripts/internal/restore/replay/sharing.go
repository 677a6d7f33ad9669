package replay

import (
	"context"
	"errors"
	"slices"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/sharing"
)

func revokeLink(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	public, err := id.Link(e.Target.ID).Public()
	if err != nil {
		return Unknown, nil
	}
	l, err := a.stores.Links.Link(ctx, public)
	switch {
	case err != nil || l == nil || string(l.ID) != e.Target.ID:
		return Unknown, err
	case !l.RevokedAt.IsZero():
		return Already, nil
	}
	return a.commit(ctx, e, func() error {
		_, err := a.stores.Links.Revoke(ctx, sharing.Revocation{Link: *l, At: e.At, Event: e})
		return err
	})
}

// makePrivate closes the links and views that the set has. Those that were made after the instant are not in it.
func makePrivate(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	switch {
	case found == nil:
		return missing, err
	case !found.LinksRevokedBefore.Before(e.At):
		return Already, nil
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Links.RevokeAll(ctx, sharing.Closing{Artifact: *found, At: found.NextLink(e.At), Event: e})
	})
}

func lockLinks(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	lift := e.Action == event.LinksUnlocked
	found, missing, err := a.live(ctx, id.Artifact(e.Target.ID))
	switch {
	case found == nil:
		return missing, err
	case found.LinksLockedAt.IsZero() == lift:
		return Already, nil
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Links.Lock(ctx, sharing.Lock{
			Command:  a.command(e),
			Result:   result,
			Artifact: *found,
			Lift:     lift,
			At:       e.At,
			Event:    e,
		})
	})
}

func deleteThread(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	counts, thread, err := a.stores.Feedback.Thread(ctx, e.Artifact, id.Thread(e.Target.ID))
	switch {
	case err != nil || thread == nil:
		return Unknown, err
	case thread.State == feedback.Deleted:
		return Already, nil
	}
	act := feedback.Act{By: feedback.Author{Kind: feedback.Member}, Delete: true, At: e.At}
	change, err := feedback.Apply(counts, *thread, act)
	if err != nil {
		return "", err
	}
	return a.discuss(ctx, e, change)
}

// deleteMessage takes the words of a message away if it is certain which: the event names the thread and the person, so
// they must have one message there that is not deleted. An event that the set has is not judged by the state, because
// the message may be another one.
func deleteMessage(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	if a.recorded[e.ID] {
		return Already, nil
	}
	counts, thread, err := a.stores.Feedback.Thread(ctx, e.Artifact, id.Thread(e.Target.ID))
	if err != nil || thread == nil {
		return Unknown, err
	}
	all, err := a.stores.Feedback.Messages(ctx, e.Artifact, thread.ID, 0, thread.Messages)
	if err != nil {
		return "", err
	}
	by := feedback.Author{Kind: feedback.Member, ID: e.Actor.ID}
	all = slices.DeleteFunc(all, func(m feedback.Message) bool {
		return m.Deleted || m.Author.Kind != by.Kind || m.Author.ID != by.ID || m.At.After(e.At)
	})
	switch {
	case len(all) == 0 || thread.State == feedback.Deleted:
		return Already, nil
	case len(all) > 1:
		return "its person wrote several messages there, and the event does not say which; delete it again", nil
	}
	change, err := feedback.DeleteMessage(counts, *thread, all[0], by, e.At)
	if err != nil {
		return "", err
	}
	return a.discuss(ctx, e, change)
}

// dropHeld lets go what waited in a thread when the event was written. The event does not say how much of it the member
// saw, and what came between is let go too. So an event that the set has is not judged by the state.
func dropHeld(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	if a.recorded[e.ID] {
		return Already, nil
	}
	thread := id.Thread(e.Target.ID)
	waiting, err := a.stores.Feedback.Waiting(ctx, e.Artifact)
	if err != nil {
		return "", err
	}
	waiting = slices.DeleteFunc(waiting, func(h feedback.Held) bool { return h.Thread != thread || h.At.After(e.At) })
	if len(waiting) == 0 {
		return Already, nil
	}
	counts, found, err := a.stores.Feedback.Thread(ctx, e.Artifact, thread)
	if err != nil {
		return "", err
	}
	return a.discuss(ctx, e, feedback.Drop(counts, found, waiting))
}

// discuss commits a change of a thread. An artifact that has ended or is locked takes none, and shows no thread.
func (a *applier) discuss(ctx context.Context, e event.Event, change feedback.Change) (Outcome, error) {
	found, missing, err := a.live(ctx, e.Artifact)
	if found == nil {
		return missing, err
	}
	out, err := a.commit(ctx, e, func() error {
		return a.stores.Feedback.Commit(ctx, feedback.Commit{
			Change:    change,
			Command:   a.command(e),
			Result:    result,
			Workspace: found.Owner,
			From:      found.ClaimedFrom,
			Event:     e,
			At:        e.At,
		})
	})
	if errors.Is(err, artifact.ErrMoved) {
		return "its artifact takes no feedback in the restored set", nil
	}
	return out, err
}
