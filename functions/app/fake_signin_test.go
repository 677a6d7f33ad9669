package app

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

const questionText = "cXVlc3Rpb24gd2hpY2ggYWdlbnRzIGEgcGVyc29uIGs"

// linkedDelegation is one of a provider with a name.
func linkedDelegation(name, email string) delegation.Delegation {
	return delegation.Delegation{
		Principal: delegation.Principal{
			Issuer:   "https://agents.example/tenant",
			Subject:  name,
			Audience: "http://localhost:8701",
		},
		Generation: 1,
		Provider:   name,
		Email:      email,
		Scopes:     []credential.Scope{credential.Read, credential.Publish},
		CreatedAt:  noon.Add(-48 * time.Hour),
		SeenAt:     noon.Add(-time.Hour),
	}
}

// vouching has two providers whose agents work for the person.
func vouching(s *house) {
	s.vouched = true
	s.linked = []delegation.Delegation{linkedDelegation(s.client, s.email), linkedDelegation("Night Desk", s.email)}
}

type delegations struct{ *house }

func (d delegations) LinkedProviders(
	ctx context.Context, _ credential.Actor, p cursor.Page,
) ([]delegation.Delegation, string, error) {
	if len(d.linked) == 0 {
		return nil, "", d.failing(ctx)
	}
	next, wrong := d.turn(p)
	return d.linked, next, wrong
}

func (d delegations) LinkedProvider(_ context.Context, _ credential.Actor, which id.Delegation) (delegation.Delegation, error) {
	n := slices.IndexFunc(d.linked, func(one delegation.Delegation) bool { return one.ID() == which })
	if n < 0 {
		return delegation.Delegation{}, fault.New(fault.NotFound, "no such provider")
	}
	return d.linked[n], nil
}

func (d delegations) UnlinkProvider(ctx context.Context, _ credential.Actor, which id.Delegation) error {
	return d.called(ctx, "Unlink "+string(which))
}

type takeovers struct{ *house }

func (t takeovers) PendingTakeover(_ context.Context, secret string) (signin.Question, []delegation.Delegation, error) {
	if secret != questionText {
		return signin.Question{}, nil, fault.New(fault.InvalidRequest, "nothing waits")
	}
	q := signin.Question{Who: member.Identity{Email: t.email}, ExpiresAt: noon.Add(10 * time.Minute)}
	return q, t.linked, nil
}

func (t takeovers) FinishTakeover(
	ctx context.Context, secret string, keep []id.Delegation, previous string, _ session.Client, _ string,
) (signin.Finished, error) {
	if secret != questionText {
		return signin.Finished{}, fault.New(fault.InvalidRequest, "nothing waits")
	}
	t.kept = keep
	return t.finished, t.called(ctx, "Finish "+previous)
}

// allSignIns are all that signing in needs.
type allSignIns struct {
	signIns
	takeovers
}

// allAgents are agents, and the providers that vouch for others.
type allAgents struct {
	agents
	delegations
}

// deletions deletes the workspace of the house, whose sessions are those of others.
type deletions struct{ *house }

func (d deletions) AuthenticateDeleting(ctx context.Context, given, requestID string) (session.Authenticated, error) {
	return sessions(d).find(ctx, given, requestID)
}

func (d deletions) Request(
	ctx context.Context, by credential.Actor, confirm string,
) (contract.WorkspaceDeletion, error) {
	if confirm != by.Workspace.Name {
		return contract.WorkspaceDeletion{}, fault.New(fault.InvalidRequest, "confirm is not the name of the workspace")
	}
	return contract.WorkspaceDeletion{}, d.called(ctx, "RequestDeletion "+confirm)
}

func (d deletions) Cancel(ctx context.Context, _ credential.Actor) (contract.WorkspaceDeletion, error) {
	return contract.WorkspaceDeletion{}, d.called(ctx, "CancelDeletion")
}

// refuseDeleting refuses what Sessions does of a workspace that is being deleted.
func refuseDeleting(found session.Authenticated) error {
	if w := found.Actor.Workspace; w.Deleting() {
		return w.RefuseDeleting()
	}
	return nil
}

// deleting lets the workspace of a house be deleted at an instant.
func deleting(at time.Time) func(*house) { return func(s *house) { s.deletes = at } }
