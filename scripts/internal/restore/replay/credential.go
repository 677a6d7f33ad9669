package replay

import (
	"context"
	"fmt"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

func revokeKey(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	public, err := id.Key(e.Target.ID).Public()
	if err != nil {
		return Unknown, nil
	}
	k, err := a.stores.Keys.Key(ctx, public)
	switch {
	case err != nil || k == nil || string(k.ID) != e.Target.ID:
		return Unknown, err
	case !k.RevokedAt.IsZero():
		return Already, nil
	}
	return a.commit(ctx, e, func() error {
		_, err := a.stores.Keys.Revoke(ctx, *k, e.At, e)
		return err
	})
}

// revokeToken revokes the access token of an agent. An event about the registration does not say which token, so all
// that the set has of it end, and the agent asks for another. Tokens that it got later are no sign that the event had
// no effect, so an event that the set has is not judged by the state.
func revokeToken(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	if e.Target.Type == event.OnKey {
		return revokeKey(ctx, a, e)
	}
	r, missing, err := a.registration(ctx, e)
	switch {
	case r == nil:
		return missing, err
	case a.recorded[e.ID] || len(r.Keys) == 0:
		return Already, nil
	}
	to := *r
	to.Keys = nil
	return a.register(ctx, e, agentauth.Change{Was: *r, To: to, Ends: r.Keys})
}

func lockClaim(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	r, missing, err := a.registration(ctx, e)
	switch {
	case r == nil:
		return missing, err
	case r.Locked:
		return Already, nil
	}
	to := *r
	to.Locked = true
	return a.register(ctx, e, agentauth.Change{Was: *r, To: to})
}

// endDelegation ends what a provider's agents may do, or the access of one agent, with all its credentials. An agent
// that the set does not know as let in is ended too.
func endDelegation(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	if e.Target.Type == event.OnDelegation {
		return a.unlink(ctx, e)
	}
	r, missing, err := a.registration(ctx, e)
	switch {
	case r == nil:
		return missing, err
	case r.State == agentauth.Revoked:
		return Already, nil
	}
	to := *r
	to.State, to.Keys = agentauth.Revoked, nil
	to.Generation++
	return a.register(ctx, e, agentauth.Change{Was: *r, To: to, Ends: r.Keys})
}

func (a *applier) unlink(ctx context.Context, e event.Event) (Outcome, error) {
	d, err := a.stores.Delegations.Delegation(ctx, id.Delegation(e.Target.ID))
	switch {
	case err != nil || d == nil:
		return Unknown, err
	case !d.EndedAt.IsZero() || d.CreatedAt.After(e.At): // it ended, and may have been made again
		return Already, nil
	}
	w, err := a.stores.Workspaces.Workspace(ctx, d.Workspace)
	if err != nil {
		return "", err
	}
	ended := d.Ended(e.At)
	if e.Actor == event.BySystem() { // the provider said so in a token, which was issued by then
		ended.RevokedAt = e.At
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Delegations.End(ctx, delegation.Ending{
			Was:       d,
			To:        ended,
			Workspace: w,
			At:        e.At,
			Events:    []event.Event{e},
		})
	})
}

func (a *applier) registration(ctx context.Context, e event.Event) (*agentauth.Registration, Outcome, error) {
	r, _, err := a.stores.Registrations.Registration(ctx, id.Registration(e.Target.ID), e.Workspace)
	return r, Unknown, err
}

func (a *applier) register(ctx context.Context, e event.Event, c agentauth.Change) (Outcome, error) {
	c.At, c.Events = e.At, []event.Event{e}
	return a.commit(ctx, e, func() error { return a.stores.Registrations.Change(ctx, c) })
}

// revokeGrants ends what an app holds. The event does not say which of several grants of the app, so all that were made
// until then end, with the API keys that they made. A grant that ended at the time of the event shows that it had its
// effect.
func revokeGrants(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	h, err := a.holding(ctx)
	if err != nil {
		return "", err
	}
	var open []id.Public
	for _, g := range h.grants {
		switch {
		case g.workspace != e.Workspace || g.client != e.Target.ID || g.created.After(e.At):
		case e.Actor.Type == event.Member && string(g.member) != e.Actor.ID:
		case g.revoked.IsZero():
			open = append(open, g.public)
		case g.revoked.Equal(e.At):
			return Already, nil
		}
	}
	if len(open) == 0 {
		return Unknown, nil
	}
	if len(open) > 1 {
		a.report.say("all %d sign-ins of the app %s in workspace %s ended, because the event does not say which",
			len(open), e.Target.ID, e.Workspace)
	}
	for n, public := range open {
		at := e.At
		if n < len(open)-1 { // the time of the event says that all are done
			at = at.Add(-time.Millisecond)
		}
		out, err := a.commit(ctx, e, func() error { return a.stores.Grants.Revoke(ctx, public, at, e) })
		if err != nil || out != Applied {
			return out, err
		}
	}
	a.holders = nil // they have changed
	return Applied, nil
}

// signOut ends the API keys that a member made, too.
func signOut(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	m, _, err := a.stores.Members.Member(ctx, e.Workspace, id.Member(e.Actor.ID))
	switch {
	case err != nil || m == nil:
		return Unknown, err
	case !m.SignedOutAt.Before(e.At):
		return Already, nil
	}
	return a.commit(ctx, e, func() error {
		if err := a.stores.Members.SignOut(ctx, m.Workspace, m.ID, e.At, e); err != nil {
			return fmt.Errorf("member %s is not signed out: %w", m.ID, err)
		}
		return nil
	})
}
