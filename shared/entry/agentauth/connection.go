package agentauth

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Connections returns one page of the agents that work in the caller's workspace after a claim, newest first. It omits
// agents of a provider, which are listed as a delegation.
func (s *Service) Connections(
	ctx context.Context, by credential.Actor, p cursor.Page,
) (_ []Registration, next string, _ error) {
	if err := s.requireMember(by); err != nil {
		return nil, "", err
	}
	now := s.now()
	of := cursor.List{Workspace: by.Workspace.ID, Name: "agents", Now: now}
	return cursor.Read(s.Cursors, of, p, func(after string, limit int) ([]Registration, string, error) {
		return s.Store.List(ctx, cursor.Query[Registration]{
			Workspace: by.Workspace.ID,
			After:     after,
			Limit:     limit,
			Live:      func(r Registration) bool { return r.worksFor(by, now) },
		})
	})
}

// Connection returns one of the agents that Connections lists. It fails with not_found if there is none.
func (s *Service) Connection(
	ctx context.Context, by credential.Actor, registration id.Registration,
) (Registration, error) {
	if err := s.requireMember(by); err != nil {
		return Registration{}, err
	}
	if !registration.Valid() {
		return Registration{}, errNotConnected()
	}
	r, _, err := s.Store.Registration(ctx, registration, by.Workspace.ID)
	if err == nil && (r == nil || !r.worksFor(by, s.now())) {
		err = errNotConnected()
	}
	if err != nil {
		return Registration{}, err
	}
	return *r, nil
}

// worksFor reports whether the agent works in the caller's workspace after a claim.
func (r Registration) worksFor(by credential.Actor, now time.Time) bool {
	return r.Kind == Anonymous && r.State == Verified && r.Workspace == by.Workspace.ID && !r.expired(now)
}

// Unlink ends an agent's access to the caller's workspace. From its commit on, assertions and the claim token are
// invalid and the access tokens are revoked.
func (s *Service) Unlink(ctx context.Context, by credential.Actor, registration id.Registration) error {
	if by.Member == "" {
		return fault.New(fault.NotAuthenticated, "only a member can disconnect an agent: sign in")
	}
	if !registration.Valid() {
		return errNotConnected()
	}
	return race(func() error {
		r, _, err := s.Store.Registration(ctx, registration, by.Workspace.ID)
		if err != nil || r == nil {
			return cmp.Or(err, errNotConnected())
		}
		now := s.now()
		st := r.unlink(by.Workspace.ID)
		if st.refusal != nil {
			return st.refusal
		}
		c := change(*r, st, now)
		c.Events = []event.Event{record(*r, r.Workspace, now, event.DelegationRevoked, by.Event(), by.RequestID)}
		if n := len(c.Ends); n > 0 {
			e := record(*r, r.Workspace, now, event.TokenRevoked, by.Event(), by.RequestID)
			e.Detail = fmt.Sprintf("%d access tokens", n)
			c.Events = append(c.Events, e)
		}
		return s.Store.Change(ctx, c)
	})
}

func errNotConnected() error { return fault.New(fault.NotFound, "no connected agent has this id") }
