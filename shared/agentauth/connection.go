package agentauth

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vitrine/shared/credential"
	"vitrine/shared/event"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/limits"
)

// Connections are the agents that work in the caller's workspace, newest first.
func (s *Service) Connections(ctx context.Context, by credential.Actor) ([]Registration, error) {
	if err := s.member(by); err != nil {
		return nil, err
	}
	all, err := s.Store.Registrations(ctx, by.Workspace.ID, limits.ConnectionsListed)
	if err != nil {
		return nil, err
	}
	now := s.now()
	live := slices.DeleteFunc(all, func(r Registration) bool {
		return r.State != Verified || r.Workspace != by.Workspace.ID || r.expired(now)
	})
	slices.SortFunc(live, func(a, b Registration) int {
		return cmp.Or(b.CompletedAt.Compare(a.CompletedAt), cmp.Compare(b.ID, a.ID))
	})
	return live, nil
}

// Unlink takes an agent's access to the caller's workspace away, from this commit on: its assertions and its claim token
// give nothing any more, and its access tokens are revoked.
func (s *Service) Unlink(ctx context.Context, by credential.Actor, registration id.Registration) error {
	if by.Member == "" {
		return fault.New(fault.NotAuthenticated, "only a member can disconnect an agent: sign in")
	}
	if !registration.Valid() {
		return unconnected()
	}
	return race(func() error {
		r, _, err := s.Store.Registration(ctx, registration, by.Workspace.ID)
		if err != nil || r == nil {
			return either(err, unconnected())
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

func unconnected() error { return fault.New(fault.NotFound, "no connected agent has this id") }
