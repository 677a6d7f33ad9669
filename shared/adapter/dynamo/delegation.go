package dynamo

import (
	"bytes"
	"context"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
)

// Delegations stores which people let providers bring agents in, and which tokens of those providers were used.
type Delegations struct{ Members }

var (
	_ delegation.Store      = Delegations{}
	_ agentauth.Delegations = Delegations{}
)

// delegationItem returns an item that is listed under its workspace until the delegation ends, and deleted some time
// later.
func delegationItem(d delegation.Delegation) item {
	i := encode(delegationKey(d.ID()), &d, delegationFields)
	if d.EndedAt.IsZero() {
		return i.str("g1p", delegationsOf(d.Workspace)).str("g1s", timeKey(d.CreatedAt, d.ID()))
	}
	return i.ttl(delegation.TombstoneEnds(d.EndedAt))
}

func delegationFields(f fields, d *delegation.Delegation) {
	f.principal(&d.Principal)
	integer(f, "gen", &d.Generation)
	f.member(&d.Member, &d.Workspace, &d.Epoch)
	text(f, "name", &d.Provider)
	text(f, "email", &d.Email)
	words(f, "scopes", &d.Scopes)
	f.time("created", &d.CreatedAt)
	f.time("seen", &d.SeenAt)
	f.time("ended", &d.EndedAt)
	f.time("revoked", &d.RevokedAt)
}

func readDelegation(i item) *delegation.Delegation {
	return decode(i, new(delegation.Delegation), delegationFields)
}

// Delegation implements delegation.Store.
func (s Delegations) Delegation(ctx context.Context, d id.Delegation) (*delegation.Delegation, error) {
	i, err := s.get(ctx, delegationKey(d))
	return readDelegation(i), err
}

// Workspace implements delegation.Store.
func (s Delegations) Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error) {
	return s.workspace(ctx, w)
}

// putDelegation stores a delegation, on condition that it has not changed since it was read; was is nil for a new one.
func (t *transaction) putDelegation(was *delegation.Delegation, to delegation.Delegation, changed refusal) {
	if was == nil {
		t.put(delegationItem(to), "attribute_not_exists(#pk)", nil, changed)
		return
	}
	t.put(delegationItem(to), "#gen = :gen", values{"gen": was.Generation}, changed)
}

// checkDelegation requires that this term of a delegation has not ended.
func (t *transaction) checkDelegation(d id.Delegation, generation int64, ended refusal) {
	t.check(delegationKey(d), "#gen = :gen AND attribute_not_exists(#ended)", values{"gen": generation}, ended)
}

// useToken marks a provider's token as used. It fails if the token was used before.
func (t *transaction) useToken(p delegation.Proof) {
	t.putHot(tokenItem(p), "attribute_not_exists(#pk)", nil, func(old item) error {
		if bytes.Equal(old.getBin("body"), p.Digest[:]) {
			return delegation.ErrRepeated
		}
		return delegation.ErrReplayed
	})
}

func tokenItem(p delegation.Proof) item {
	return item{}.str("pk", tokenKey(p)).bin("body", p.Digest[:]).ttl(p.Until)
}

// Use implements agentauth.Delegations.
func (s Delegations) Use(ctx context.Context, p delegation.Proof) error {
	t := s.begin()
	t.useToken(p)
	return s.commit(ctx, t)
}

// End implements delegation.Store.
func (s Delegations) End(ctx context.Context, e delegation.Ending) error {
	t := s.begin()
	if e.Proof != nil {
		t.useToken(*e.Proof)
	}
	changed := func(item) error { return delegation.ErrChanged }
	t.putDelegation(e.Was, e.To, changed)
	if e.Workspace != nil {
		t.endTerms(*e.Workspace, e.Terms(), changed)
	}
	for _, r := range e.Events {
		t.record(r)
	}
	return s.commit(ctx, t)
}

// endTerms adds ended terms to those that a workspace lists, on condition that the list has not changed since it was
// read.
func (t *transaction) endTerms(w workspace.Workspace, terms []workspace.EndedTerm, changed refusal) {
	v := values{"terms": packTerms(terms)}
	condition := "attribute_exists(#pk) AND attribute_not_exists(#terms_out)"
	if was := packTerms(w.EndedTerms); was != "" {
		condition, v["was"] = "#terms_out = :was", was
	}
	t.update(workspaceKey(w.ID), "SET #terms_out = :terms", condition, v, changed)
}

// List implements delegation.Store. The index names the delegations; their state is read from the table.
func (s Delegations) List(
	ctx context.Context, q cursor.Query[delegation.Delegation],
) ([]delegation.Delegation, string, error) {
	return liveRows(ctx, s.db, delegationsOf(q.Workspace), q, readDelegation)
}

// Accept implements agentauth.Delegations.
func (s Delegations) Accept(ctx context.Context, a agentauth.Acceptance) error {
	t := s.begin()
	t.useToken(a.Proof)
	moved := func(item) error { return agentauth.ErrMoved }
	if a.To != nil {
		t.putDelegation(a.Was, *a.To, moved)
	}
	if a.New != nil {
		t.addMember(*a.New, moved)
	}
	if a.Readdressed != nil {
		t.readdress(*a.Readdressed, moved)
	}
	t.create(registrationItem(a.Registration))
	if a.Token != nil {
		t.create(claimTokenItem(*a.Token))
	}
	for _, e := range a.Events {
		t.record(e)
	}
	return s.commit(ctx, t)
}

// readdress gives a member that a provider made the address in the newest assertion.
func (t *transaction) readdress(m member.Member, moved refusal) {
	was := m.Listed
	m.Listed = member.AddressOf(m.Email)
	v := values{
		"email":  m.Email,
		"listed": string(m.Listed),
		"was":    string(was),
		"iss":    m.Issuer,
	}
	t.update(memberKey(m.Workspace, m.ID), "SET #email = :email, #listed = :listed",
		"#listed = :was AND #iss = :iss", v, moved)
	t.moveAddress(m, was)
	t.setSignIn(m, workspace.SignIn{Email: m.Email})
}
