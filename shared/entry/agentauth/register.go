package agentauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Register creates an anonymous registration with an ephemeral workspace of its own, or one for the person for whom a
// provider vouches. Only its answer contains the assertion and the claim token. An anonymous registration that is
// refused because of rates, or while workspaces cannot be made, gets status 429. Where the deployment allows none, it gets
// access_denied and is not counted. Register fails with Interaction for a person who has to agree first.
func (s *Service) Register(
	ctx context.Context,
	r contract.RegisterAgent,
	from netip.Addr,
	requestID string,
) (contract.RegisteredAgent, error) {
	if err := cmp.Or(s.checkAnonymous(r), s.checkEnabled(), s.checkKind(r)); err != nil {
		return contract.RegisteredAgent{}, s.unserved(ctx, from, err)
	}
	if r.Type == contract.AssertionIdentity {
		return s.registerVouched(ctx, r.Assertion, from, requestID)
	}
	if err := s.admit(ctx, from); err != nil {
		return contract.RegisteredAgent{}, err
	}
	e, secret := s.newRegistration(from, requestID)
	if err := s.Store.Add(ctx, e); err != nil {
		return contract.RegisteredAgent{}, err
	}
	made := e.Registration
	signed, err := s.assert(made, e.Workspace.Epoch, made.CreatedAt)
	if err != nil {
		return contract.RegisteredAgent{}, err
	}
	words := credential.ScopeStrings(scopes)
	return contract.RegisteredAgent{
		RegistrationID:    made.ID,
		RegistrationType:  contract.AnonymousType,
		IdentityAssertion: signed,
		AssertionExpires:  contract.At(made.ExpiresAt),
		Scopes:            words,
		PreClaimScopes:    words,
		PostClaimScopes:   words,
		ClaimURL:          s.Origins.API + "/agent/identity/claim",
		ClaimToken:        secret.Reveal(),
		ClaimTokenExpires: contract.AtOrNull(e.Token.ExpiresAt),
	}, nil
}

// checkAnonymous refuses a registration without a person where the deployment allows none.
func (s *Service) checkAnonymous(r contract.RegisterAgent) error {
	if !s.NoAnonymous || r.Type != contract.AnonymousType {
		return nil
	}
	return fault.NewOAuth(fault.OAuthAccessDenied,
		"no agent registers here without a person; sign in with vitrine login, or have a person sign in at %s", s.Origins.App)
}

// checkKind refuses a registration of an unknown kind, and one by a provider where none is trusted.
func (s *Service) checkKind(r contract.RegisterAgent) error {
	switch {
	case r.Type == contract.AnonymousType:
		return nil
	case r.Type != contract.AssertionIdentity:
		return fault.NewOAuth(fault.OAuthInvalidRequest, "type must be %s; see /auth.md", s.kinds())
	case r.AssertionType != contract.TypeIDJAG || r.Assertion == "":
		return fault.NewOAuth(fault.OAuthInvalidRequest,
			"an identity assertion needs assertion and the assertion_type %s", contract.TypeIDJAG)
	case s.Providers != nil:
		return nil
	}
	instead := "; register with the type anonymous"
	if s.NoAnonymous {
		instead = ""
	}
	return fault.NewOAuth(fault.OAuthTemporarilyUnavailable, "no identity provider is trusted here%s", instead)
}

// kinds names the types of registrations.
func (s *Service) kinds() string {
	switch {
	case s.NoAnonymous:
		return contract.AssertionIdentity
	case s.Providers == nil:
		return contract.AnonymousType
	}
	return contract.AnonymousType + " or " + contract.AssertionIdentity
}

// RefuseProvider refuses a token of an identity provider, because none is trusted here.
func (s *Service) RefuseProvider(ctx context.Context, from netip.Addr) error {
	return s.unserved(ctx, from, fault.NewOAuth(fault.OAuthTemporarilyUnavailable, "no identity provider is trusted here"))
}

// unserved counts a request for a feature that this deployment lacks, and returns its refusal. Without the count one
// address could get any number of 503 answers. It returns other errors uncounted.
func (s *Service) unserved(ctx context.Context, from netip.Addr, refusal error) error {
	if fault.OAuthErrorOf(refusal).Code != fault.OAuthTemporarilyUnavailable {
		return refusal
	}
	return cmp.Or(s.Limiter.Take(ctx, s.Limits.Unserved, address.Subject(from, s.Peppers)), refusal)
}

// admit counts a registration, first against the rates that it shares with provisioning and then against a quota of its
// own.
func (s *Service) admit(ctx context.Context, from netip.Addr) error {
	_, err := s.Admission.Admit(ctx, from)
	if err == nil && !s.Limits.Off {
		now := s.Now()
		start := now.Truncate(time.Minute)
		window := rate.Window{
			Kind:    "gate",
			Subject: "registration",
			Start:   start,
			End:     start.Add(time.Minute),
		}
		_, ok, failed := s.Counters.Count(ctx, window, 1, limits.ProvisionQuota)
		switch {
		case failed != nil:
			err = fault.Wrap(fault.ProvisionUnavailable, failed, "no agent can register now; try again later").After(time.Minute)
		case !ok:
			err = fault.New(fault.ProvisionRateLimited,
				"many agents are registering; wait as long as Retry-After says").After(window.End.Sub(now))
		}
	}
	return routeError(err)
}

// routeError maps the errors of provisioning to the codes of this route.
func routeError(err error) error {
	switch f := fault.Of(err); {
	case err == nil:
		return nil
	case f.Code == fault.ProvisionRateLimited:
		return fault.NewOAuth(fault.OAuthProvisionRateLimited, "%s", f.Message).AsRateLimited(f.RetryAfter).WithCause(err)
	case f.Code == fault.ProvisionUnavailable:
		return fault.NewOAuth(fault.OAuthProvisionUnavailable, "%s", f.Message).AsRateLimited(f.RetryAfter).WithCause(err)
	}
	return err
}

// newRegistration returns a new registration and the secret of its claim token.
func (s *Service) newRegistration(from netip.Addr, requestID string) (NewRegistration, credential.Token) {
	now := s.now()
	ends := now.Add(limits.RegistrationLife).Truncate(time.Second) // assertions have whole seconds
	ws := id.NewWorkspace()
	secret := credential.Mint(credential.ClaimToken, s.Environment, ws, "")
	r := Registration{
		ID:         id.RegistrationOf(secret.Public),
		Kind:       Anonymous,
		State:      Unclaimed,
		Generation: 1,
		Version:    1,
		Workspace:  ws,
		Claim:      secret.Public,
		CreatedAt:  now,
		ExpiresAt:  ends,
		Network:    address.Network(from),
	}
	return NewRegistration{
		Workspace: workspace.Workspace{
			ID:        ws,
			Name:      workspace.EphemeralName,
			Plan:      workspace.FreePlan,
			CreatedAt: now,
		},
		Registration: r,
		Token: claim.Token{
			ID:           id.NewClaimToken(),
			Public:       secret.Public,
			Workspace:    ws,
			Registration: r.ID,
			Hash:         secret.Hash(s.Peppers),
			CreatedAt:    now,
			ExpiresAt:    ends,
		},
		Event: record(r, ws, now, event.RegistrationCreated, event.BySystem(), requestID),
	}, secret
}

// StartClaim begins an attempt to have a person claim the registration of a token, and ends the attempt before.
func (s *Service) StartClaim(
	ctx context.Context,
	c contract.StartClaim,
	admitted Admitted,
	requestID string,
) (contract.StartedClaim, error) {
	if err := s.checkEnabled(); err != nil {
		return contract.StartedClaim{}, err
	}
	sent, err := credential.Parse(c.ClaimToken, credential.ClaimToken, s.Environment)
	if err != nil {
		return contract.StartedClaim{}, errExpired
	}
	var started contract.StartedClaim
	err = race(func() error {
		r, err := s.claimable(ctx, sent, admitted)
		if err != nil {
			return err
		}
		now := s.now()
		ticket := credential.MintAs(credential.ClaimAttempt, s.Environment, id.NoWorkspace, r.Claim)
		code := newCode()
		st := r.start(Attempt{Token: ticket.Hash(s.Peppers), Code: s.hashCode(r.Claim, code)}, now,
			s.rate(s.Limits.ClaimStart))
		if st.write {
			if err := s.Store.Change(ctx, locking(*r, st, now, event.BySystem(), requestID)); err != nil {
				return err
			}
		}
		started = s.prompt(c.ClaimToken, st.to, ticket, code, now)
		if r.Kind == Provider {
			started = onlyPrompt(started) // the agent got the rest at its registration
		}
		return st.refusal
	})
	if err != nil {
		return contract.StartedClaim{}, err
	}
	return started, nil
}

// locking returns the change of a step. If the step locks the registration, the change records that in the workspace.
func locking(was Registration, st step, at time.Time, by event.Actor, requestID string) Change {
	c := change(was, st, at)
	if st.locked {
		c.Events = append(c.Events, record(was, was.Workspace, at, event.ClaimLocked, by, requestID))
	}
	return c
}

// prompt returns the answer whose content the agent shows to the person.
func (s *Service) prompt(
	claimToken string,
	r Registration,
	ticket credential.Token,
	code string,
	now time.Time,
) contract.StartedClaim {
	text := ticket.Reveal()
	return contract.StartedClaim{
		ClaimToken:        claimToken,
		ClaimTokenExpires: contract.At(r.ExpiresAt),
		AttemptToken:      text,
		RegistrationID:    r.ID,
		RegistrationType:  string(r.Kind),
		UserCode:          code,
		Claim: contract.ClaimPrompt{
			UserCode:        code,
			ExpiresIn:       contract.Seconds(r.Attempt.ExpiresAt.Sub(now)),
			VerificationURI: s.Origins.App + "/agent-auth/claim?claim_attempt_token=" + url.QueryEscape(text),
			Interval:        contract.Seconds(limits.PollInterval),
		},
	}
}

// onlyPrompt omits the fields that an agent of a provider got at its registration, such as the code.
func onlyPrompt(s contract.StartedClaim) contract.StartedClaim {
	s.Claim.UserCode = ""
	return contract.StartedClaim{ClaimToken: s.ClaimToken, ClaimTokenExpires: s.ClaimTokenExpires, Claim: s.Claim}
}

// newCode returns six random digits. Each of the million codes is equally likely.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // the system's source of randomness never fails
	}
	return fmt.Sprintf("%06d", n)
}

const codeUse = "agent-claim"

func (s *Service) hashCode(claim id.Public, code string) credential.Hash {
	return credential.HashCode(s.Peppers, codeUse, claim, code)
}
