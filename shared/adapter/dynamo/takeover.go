package dynamo

import (
	"context"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
)

// Takeovers stores questions to people whose address agents have worked under, and commits their answers.
type Takeovers struct{ Delegations }

var _ signin.TakeoverStore = Takeovers{}

func questionFields(f fields, q *signin.Question) {
	text(f, "iss", &q.Who.Issuer)
	text(f, "sub", &q.Who.Subject)
	text(f, "email", &q.Who.Email)
	f.time("auth_at", &q.Who.AuthenticatedAt)
	f.flag("operator", &q.Who.Operator)
	text(f, "mem", &q.Member)
	text(f, "ws", &q.Workspace)
	text(f, "to", &q.ReturnTo)
	f.time("exp", &q.ExpiresAt)
}

// Ask implements signin.TakeoverStore.
func (s Takeovers) Ask(ctx context.Context, q signin.Question) error {
	t := s.begin()
	t.create(encode(takeoverKey(q.Secret), &q, questionFields).ttl(ttlAfter(q.ExpiresAt)))
	return s.commit(ctx, t)
}

// Question implements signin.TakeoverStore.
func (s Takeovers) Question(ctx context.Context, secret session.Hash) (*signin.Question, error) {
	i, err := s.get(ctx, takeoverKey(secret))
	return decode(i, &signin.Question{Secret: secret}, questionFields), err
}

// TakeOver implements signin.TakeoverStore.
func (s Takeovers) TakeOver(ctx context.Context, c signin.Takeover) error {
	answered := func(item) error { return signin.ErrAnswered }
	t := s.begin()
	if c.Question.Secret != (session.Hash{}) {
		t.remove(takeoverKey(c.Question.Secret), "attribute_exists(#pk)", nil, answered)
	}
	t.putIdentity(c.To, answered)
	t.update(memberKey(c.To.Workspace, c.To.ID), "SET #iss = :iss, #sub = :sub, #email = :email, #seen = :now",
		"#iss = :agents AND #listed = :listed", values{
			"iss":    c.To.Issuer,
			"sub":    c.To.Subject,
			"email":  c.To.Email,
			"now":    c.To.SeenAt,
			"agents": member.ProviderIssuer,
			"listed": string(c.To.Listed),
		}, answered)
	t.setSignIn(c.To, c.Question.Who.SignIn())
	t.raiseEpoch(c.Workspace.ID, c.Workspace.Epoch, answered)
	for _, d := range c.Changes {
		t.putDelegation(&d.Was, d.To, answered)
	}
	for _, e := range c.Events {
		t.record(e)
	}
	return s.commit(ctx, t)
}
