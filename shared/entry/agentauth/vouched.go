package agentauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/provider"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Providers verifies the tokens of identity providers of agents. Its errors are OAuth errors.
type Providers interface {
	Assertion(ctx context.Context, token string) (provider.Identity, error)
	Event(ctx context.Context, token string) (provider.Event, error)
	// Trusts reports whether the provider with an issuer is trusted.
	Trusts(issuer string) bool
}

// Delegations is the storage that registrations by a provider use. Reads are strongly consistent.
type Delegations interface {
	// Delegation reads a delegation, even one that has ended. It returns nil if there is none.
	Delegation(ctx context.Context, d id.Delegation) (*delegation.Delegation, error)
	// Member reads a member and the workspace. It returns nil for what does not exist.
	Member(ctx context.Context, w id.Workspace, m id.Member) (*member.Member, *workspace.Workspace, error)
	// ByAddress reads the members with an address.
	ByAddress(ctx context.Context, a member.Address) ([]member.Addressee, error)
	// Accept commits the effect of an assertion. Its errors are ErrMoved, delegation.ErrReplayed and
	// delegation.ErrRepeated.
	Accept(ctx context.Context, a Acceptance) error
	// Use uses up a token that has no other effect. Its errors are delegation.ErrReplayed and delegation.ErrRepeated.
	Use(ctx context.Context, p delegation.Proof) error
}

// Acceptance is the effect of an assertion.
type Acceptance struct {
	Proof        delegation.Proof
	Registration Registration
	Token        *claim.Token           // of a registration that waits for a person; nil: it works at once
	Was          *delegation.Delegation // as it was read; nil: there was none
	To           *delegation.Delegation // nil: the delegation stays as it is
	New          *member.NewMember      // nil: the person is a member already
	Readdressed  *member.Member         // a member that the provider made, with its new address; nil: unchanged
	Events       []event.Event
}

// Interaction is the error for a person who has to agree first.
type Interaction struct{ Answer contract.InteractionRequired }

// Error implements error.
func (i *Interaction) Error() string { return i.Answer.Error + ": " + i.Answer.Description }

// Unwrap returns the OAuth error.
func (i *Interaction) Unwrap() error {
	return fault.NewOAuth(fault.OAuthInteractionRequired, "%s", i.Answer.Description)
}

const (
	needsPerson = "the person has to agree: show them the code and the verification URI, then poll with the claim token"
	ambiguous   = "several members have this address, so that it is not clear whom the agent acts for"
)

var (
	errReplayed = fault.NewOAuth(fault.OAuthReplayDetected,
		"this assertion was used before; send a new one for each registration")
	// errUnwelcome is the answer for every person who is not let in. It does not say why.
	errUnwelcome = fault.NewOAuth(fault.OAuthInvalidGrant, "no agent of this person is let in here")
)

// arrival is a verified assertion.
type arrival struct {
	vouched   Vouched
	provision bool // a person who is not a member may become one
	proof     delegation.Proof
	network   string
	requestID string
}

// registerVouched registers an agent for the person of a provider's assertion.
// proofSlack is how long after its end the id of a provider's token is remembered.
const proofSlack = 5 * time.Minute

func (s *Service) registerVouched(
	ctx context.Context, token string, from netip.Addr, requestID string,
) (out contract.RegisteredAgent, err error) {
	if err := s.Limiter.Take(ctx, s.Limits.Assertion, address.Subject(from, s.Peppers)); err != nil {
		return out, err
	}
	who, err := s.Providers.Assertion(ctx, token)
	if err != nil {
		return out, err
	}
	s.trace(ctx, who.Issuer, who.KeyID)
	a := arrival{
		vouched: Vouched{
			Principal: delegation.Principal{Issuer: who.Issuer, Subject: who.Subject, Audience: who.Audience},
			Provider:  who.Name,
			Email:     who.Email,
			Scopes:    who.Scopes,
		},
		provision: who.Provision,
		network:   address.Network(from),
		requestID: requestID,
		proof: delegation.Proof{
			Kind:     delegation.Assertion,
			Issuer:   who.Issuer,
			ID:       who.ID,
			Digest:   sha256.Sum256([]byte(token)),
			IssuedAt: who.IssuedAt,
			Until:    who.Expires.Add(proofSlack),
		},
	}
	if err := s.takeOfProvider(ctx, who.Issuer); err != nil {
		return out, err
	}
	err = race(func() error {
		out, err = s.arrive(ctx, a)
		return err
	})
	if errors.Is(err, delegation.ErrReplayed) || errors.Is(err, delegation.ErrRepeated) {
		err = errReplayed
	}
	return out, err
}

// takeOfProvider counts an assertion, first of its provider and then of all, so that one provider cannot use up the
// limit of all.
func (s *Service) takeOfProvider(ctx context.Context, issuer string) error {
	if err := s.Limiter.Take(ctx, s.Limits.Vouched, string(delegation.Principal{Issuer: issuer}.ID())); err != nil {
		return err
	}
	return s.Limiter.Take(ctx, s.Limits.Assertions, "")
}

func (s *Service) trace(ctx context.Context, issuer, keyID string) {
	if s.Trace != nil {
		s.Trace(ctx, issuer, keyID)
	}
}

// trusts reports whether credentials may be made for a registration. A registration by a provider needs one that is
// still trusted.
func (s *Service) trusts(r Registration) bool {
	return r.Kind == Anonymous || s.Providers != nil && s.Providers.Trusts(r.Vouched.Principal.Issuer)
}

// arrive decides how the person of an assertion is let in, and commits the registration.
func (s *Service) arrive(ctx context.Context, a arrival) (contract.RegisteredAgent, error) {
	if !s.Allowlist.Allows(workspace.SignIn{Email: a.vouched.Email}) {
		return contract.RegisteredAgent{}, s.turnAway(ctx, a, errUnwelcome)
	}
	d, err := s.Delegations.Delegation(ctx, a.vouched.Principal.ID())
	if err != nil {
		return contract.RegisteredAgent{}, err
	}
	// Both times have whole seconds, so an assertion of the same second may be older than the revocation.
	if d != nil && !a.proof.IssuedAt.After(d.RevokedAt) {
		return contract.RegisteredAgent{}, s.turnAway(ctx, a, errUnwelcome)
	}
	if d != nil && d.EndedAt.IsZero() {
		m, w, err := s.Delegations.Member(ctx, d.Workspace, d.Member)
		switch {
		case err != nil:
			return contract.RegisteredAgent{}, err
		case m == nil || w == nil || !d.Live(*w): // the delegation is over, so the address decides
		case !w.Open():
			return contract.RegisteredAgent{}, s.turnAway(ctx, a, errUnwelcome)
		default:
			return s.renew(ctx, a, *d, *m, *w)
		}
	}
	known, err := s.Delegations.ByAddress(ctx, member.AddressOf(a.vouched.Email))
	switch {
	case err != nil:
		return contract.RegisteredAgent{}, err
	case len(known) > 1:
		return contract.RegisteredAgent{}, s.turnAway(ctx, a, fault.NewOAuth(fault.OAuthInvalidRequest, ambiguous))
	case len(known) == 1:
		return contract.RegisteredAgent{}, s.ask(ctx, a, d, known[0])
	case !a.provision:
		return contract.RegisteredAgent{}, s.turnAway(ctx, a, errUnwelcome)
	}
	return s.provision(ctx, a, d)
}

// turnAway uses up an assertion and returns why, the reason for which it lets no agent in.
func (s *Service) turnAway(ctx context.Context, a arrival, why error) error {
	return cmp.Or(s.Delegations.Use(ctx, a.proof), why)
}

// renew registers an agent under a live delegation.
func (s *Service) renew(
	ctx context.Context, a arrival, d delegation.Delegation, m member.Member, w workspace.Workspace,
) (contract.RegisteredAgent, error) {
	now := s.now()
	to := a.vouched.renewed(d, now)
	c := Acceptance{Was: &d, To: &to}
	if m.ProviderMade() && m.Listed != member.AddressOf(a.vouched.Email) {
		m.Email = a.vouched.Email
		c.Readdressed = &m
	}
	return s.accept(ctx, a, c, w, now)
}

// provision makes a member for a person who is none, with a workspace and a delegation. It makes no API key.
func (s *Service) provision(
	ctx context.Context, a arrival, was *delegation.Delegation,
) (contract.RegisteredAgent, error) {
	now := s.now()
	made := member.New(member.Agents(a.vouched.Principal.ID(), a.vouched.Email), now, a.requestID)
	made.Event.Actor = event.BySystem()
	to := a.vouched.delegation(was, made.Member, made.Workspace, now)
	return s.accept(ctx, a, Acceptance{
		Was:    was,
		To:     &to,
		New:    &made,
		Events: []event.Event{to.Record(event.DelegationCreated, event.BySystem(), now, a.requestID)},
	}, made.Workspace, now)
}

// accept commits a registration that works at once under the delegation c.To.
func (s *Service) accept(
	ctx context.Context, a arrival, c Acceptance, w workspace.Workspace, now time.Time,
) (contract.RegisteredAgent, error) {
	r, _ := s.vouchedFor(a, now)
	r = r.under(*c.To, now)
	c.Proof, c.Registration = a.proof, r
	c.Events = append(c.Events, record(r, w.ID, now, event.RegistrationCreated, event.BySystem(), a.requestID))
	if err := s.Delegations.Accept(ctx, c); err != nil {
		return contract.RegisteredAgent{}, err
	}
	signed, err := s.assert(r, w.Epoch, now)
	return contract.RegisteredAgent{
		RegistrationID:    r.ID,
		RegistrationType:  contract.AssertionIdentity,
		IdentityAssertion: signed,
		AssertionExpires:  contract.At(r.ExpiresAt),
		Scopes:            credential.ScopeStrings(r.scopes()),
	}, err
}

// ask registers an agent that waits for the agreement of the member with the person's address. d is a delegation that
// has ended, or nil.
func (s *Service) ask(ctx context.Context, a arrival, d *delegation.Delegation, whom member.Addressee) error {
	m, w, err := s.Delegations.Member(ctx, whom.Workspace, whom.Member)
	switch {
	case err != nil:
		return err
	case m == nil || w == nil:
		return errors.New("an address names a member who does not exist")
	case m.ProviderMade(): // another assertion of the same person may have made the member just now
		again, err := s.Delegations.Delegation(ctx, a.vouched.Principal.ID())
		if err != nil || generationOf(again) != generationOf(d) {
			return cmp.Or(err, ErrMoved)
		}
	}
	if !w.Open() {
		return s.turnAway(ctx, a, errUnwelcome)
	}
	now := s.now()
	r, secret := s.vouchedFor(a, now)
	ticket := credential.MintAs(credential.ClaimAttempt, s.Environment, id.NoWorkspace, r.Claim)
	code := newCode()
	st := r.waitsFor(*m, d).start(Attempt{Token: ticket.Hash(s.Peppers), Code: s.hashCode(r.Claim, code)}, now,
		s.rate(s.Limits.ClaimStart))
	r = st.to
	r.Attempt.Code = s.hashCode(r.Claim, code) // start keeps the code of a registration, and this one has none yet
	err = s.Delegations.Accept(ctx, Acceptance{
		Proof:        a.proof,
		Registration: r,
		Token: &claim.Token{
			ID:           id.NewClaimToken(),
			Public:       r.Claim,
			Workspace:    id.NoWorkspace,
			Registration: r.ID,
			Hash:         secret.Hash(s.Peppers),
			CreatedAt:    now,
			ExpiresAt:    r.ExpiresAt,
		},
		Events: []event.Event{record(r, w.ID, now, event.RegistrationCreated, event.BySystem(), a.requestID)},
	})
	if err != nil {
		return err
	}
	return s.interaction(s.prompt(secret.Reveal(), r, ticket, code, now), r)
}

// interaction returns the error whose content the agent shows to the person.
func (s *Service) interaction(p contract.StartedClaim, r Registration) error {
	return &Interaction{Answer: contract.InteractionRequired{
		Error:             string(fault.OAuthInteractionRequired),
		Description:       needsPerson,
		RegistrationID:    r.ID,
		RegistrationType:  contract.AssertionIdentity,
		ClaimURL:          s.Origins.API + "/agent/identity/claim",
		ClaimToken:        p.ClaimToken,
		ClaimTokenExpires: p.ClaimTokenExpires,
		PostClaimScopes:   credential.ScopeStrings(r.scopes()),
		Claim:             p.Claim,
	}}
}

// vouchedFor returns a new registration by a provider and the secret of its claim token.
func (s *Service) vouchedFor(a arrival, now time.Time) (Registration, credential.Token) {
	secret := credential.Mint(credential.ClaimToken, s.Environment, id.NoWorkspace, "")
	return Registration{
		ID:         id.RegistrationOf(secret.Public),
		Kind:       Provider,
		Generation: 1,
		Version:    1,
		Claim:      secret.Public,
		CreatedAt:  now,
		Network:    a.network,
		Vouched:    a.vouched,
	}, secret
}

// under returns the registration in the state in which it works under a delegation.
func (r Registration) under(d delegation.Delegation, now time.Time) Registration {
	r.State = Verified
	r.Workspace = d.Workspace
	r.Member = d.Member
	r.Link = d.Generation
	r.CompletedAt = now
	r.ExpiresAt = now.Add(limits.ProviderAgentLife).Truncate(time.Second) // assertions have whole seconds
	return r
}

// waitsFor returns the registration in the state in which it waits for a member. was is the delegation before; nil:
// there was none.
func (r Registration) waitsFor(m member.Member, was *delegation.Delegation) Registration {
	r.State = PendingStepUp
	r.Workspace = m.Workspace
	r.Member = m.ID
	r.ExpiresAt = r.CreatedAt.Add(limits.AttemptLife).Truncate(time.Second)
	if was != nil {
		r.Link = was.Generation
	}
	return r
}

// renewed returns a live delegation of the person with the values of this assertion.
func (v Vouched) renewed(d delegation.Delegation, now time.Time) delegation.Delegation {
	d.Provider = v.Provider
	d.Email = v.Email
	d.Scopes = v.Scopes
	d.SeenAt = now
	return d
}

// delegation returns a new delegation of the person. was is the one before; nil: there was none.
func (v Vouched) delegation(
	was *delegation.Delegation, m member.Member, w workspace.Workspace, now time.Time,
) delegation.Delegation {
	d := delegation.Delegation{
		Principal:  v.Principal,
		Generation: 1,
		Workspace:  w.ID,
		Member:     m.ID,
		Epoch:      w.Epoch,
		Provider:   v.Provider,
		Email:      v.Email,
		Scopes:     v.Scopes,
		CreatedAt:  now,
		SeenAt:     now,
	}
	if was != nil {
		d.Generation = was.Generation + 1
		d.RevokedAt = was.RevokedAt
	}
	return d
}
