package agentauth

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/event"
)

// link commits the agreement of the matched member, after which the registration works under a delegation. to is the
// registration after the right code. link fails with errWrong if the delegation ended since the assertion came or the
// member has another address now.
func (s *Service) link(ctx context.Context, by credential.Actor, was, to Registration, now time.Time) error {
	d, err := s.Delegations.Delegation(ctx, to.Vouched.Principal.ID())
	if err != nil {
		return err
	}
	m, w, err := s.Delegations.Member(ctx, by.Workspace.ID, by.Member)
	switch {
	case err != nil:
		return err
	case m == nil || w == nil || !w.Open() || w.Epoch != by.Workspace.Epoch ||
		member.AddressOf(m.Email) != member.AddressOf(to.Vouched.Email):
		return errWrong
	}
	l := Link{Was: d}
	switch {
	case d != nil && d.Live(*w) && d.Member == m.ID: // another registration of the same person was faster
		l.To = to.Vouched.renewed(*d, now)
	case generationOf(d) != to.Link:
		return errWrong
	default:
		l.To = to.Vouched.delegation(d, *m, *w, now)
	}
	to.Link = l.To.Generation
	c := change(was, step{to: to}, now)
	c.Link = &l
	c.Events = []event.Event{
		record(to, w.ID, now, event.ClaimCompleted, by.Event(), by.RequestID),
		l.To.Record(event.DelegationCreated, by.Event(), now, by.RequestID),
	}
	return s.Store.Change(ctx, c)
}

// generationOf returns the generation of a delegation; zero: there is none.
func generationOf(d *delegation.Delegation) int64 {
	if d == nil {
		return 0
	}
	return d.Generation
}
