package agentauth

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
)

// Exchange holds the parameters of a token request.
type Exchange struct {
	Assertion string
	Scope     string // separated by spaces; empty: all scopes of the registration
	Resource  string // empty: the api
}

// Admitted waits for the rate limits of an address and returns their error. The limits are read concurrently with the
// first reads of the request. The caller has to wait for them before its first write.
type Admitted func() error

// Exchange issues an access token for an assertion. The assertion may be used again until it expires.
func (s *Service) Exchange(ctx context.Context, e Exchange, admitted Admitted) (contract.Token, error) {
	if err := s.checkEnabled(); err != nil {
		return contract.Token{}, err
	}
	if err := s.checkExchange(e); err != nil {
		return contract.Token{}, err
	}
	claims, err := s.Signer.Verify(e.Assertion, s.now())
	if err != nil {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidGrant,
			"this is no assertion of ours that holds now; register again").WithCause(err)
	}
	var out contract.Token
	err = race(func() error {
		r, w, err := s.Store.Registration(ctx, claims.Registration, claims.Workspace)
		if err == nil {
			err = admitted()
		}
		if err != nil || r == nil || !s.trusts(*r) {
			return cmp.Or[error](err, errDead)
		}
		if err := s.admits(w); err != nil {
			return err
		}
		granted, err := r.narrow(e.Scope)
		if err != nil {
			return err
		}
		now := s.now()
		key := credential.Mint(credential.APIKey, s.Environment, claims.Workspace, "")
		st := r.exchange(claims, w, key.Public, now, s.rate(s.Limits.Exchange))
		if st.refusal != nil {
			return st.refusal
		}
		c := change(*r, st, now)
		c.Key = s.stored(key, st.to, *w, now, granted)
		out = answer(key, c.Key)
		return s.Store.Change(ctx, c)
	})
	if err != nil {
		return contract.Token{}, err
	}
	return out, nil
}

// checkExchange checks the parameters other than the scope.
func (s *Service) checkExchange(e Exchange) error {
	if e.Assertion == "" {
		return fault.NewOAuth(fault.OAuthInvalidRequest, "assertion is missing")
	}
	if e.Resource != "" && e.Resource != s.Origins.API {
		return fault.NewOAuth(fault.OAuthInvalidTarget, "resource must be %s", s.Origins.API)
	}
	return nil
}

// narrow returns the scopes of the registration that a token request names, or all of them if it names none.
func (r Registration) narrow(scope string) ([]credential.Scope, error) {
	has, wanted := r.scopes(), strings.Fields(scope)
	if len(wanted) == 0 {
		return has, nil
	}
	granted := slices.DeleteFunc(slices.Clone(has), func(sc credential.Scope) bool {
		return !slices.Contains(wanted, string(sc))
	})
	if len(granted) == 0 {
		return nil, fault.NewOAuth(fault.OAuthInvalidScope, "an agent can have the scopes %s",
			strings.Join(credential.ScopeStrings(has), " and "))
	}
	return granted, nil
}

// Redeem answers an agent that polls for its claim. Once the claim is complete, Redeem returns an access token in the
// member's workspace and a new assertion. An agent can request a lost answer again a few times. Each answer ends the
// access token of the one before.
func (s *Service) Redeem(
	ctx context.Context,
	claimToken string,
	admitted Admitted,
	requestID string,
) (contract.Token, error) {
	if err := s.checkEnabled(); err != nil {
		return contract.Token{}, err
	}
	if claimToken == "" {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "claim_token is missing")
	}
	sent, err := credential.Parse(claimToken, credential.ClaimToken, s.Environment)
	if err != nil {
		return contract.Token{}, errExpired
	}
	var out contract.Token
	err = race(func() error {
		r, err := s.claimable(ctx, sent, admitted)
		if err != nil {
			return err
		}
		if !s.trusts(*r) {
			return errDead
		}
		if r.State == Verified {
			out, err = s.redeem(ctx, *r, requestID)
			return err
		}
		now := s.now()
		st := r.claim(nil, "", now)
		if st.write {
			if err := s.Store.Change(ctx, change(*r, st, now)); err != nil {
				return err
			}
		}
		return st.refusal
	})
	if err != nil {
		return contract.Token{}, err
	}
	return out, nil
}

// redeem redeems a complete claim. It reads the registration a second time, because only then is its workspace known
// and the two have to be read consistently.
func (s *Service) redeem(ctx context.Context, seen Registration, requestID string) (contract.Token, error) {
	r, w, err := s.Store.Registration(ctx, seen.ID, seen.Workspace)
	if err != nil || r == nil {
		return contract.Token{}, cmp.Or[error](err, errExpired)
	}
	if err := s.admits(w); err != nil {
		return contract.Token{}, err
	}
	now := s.now()
	key := credential.Mint(credential.APIKey, s.Environment, seen.Workspace, "")
	st := r.claim(w, key.Public, now)
	if st.refusal != nil {
		return contract.Token{}, st.refusal
	}
	c := change(*r, st, now)
	c.Key = s.stored(key, st.to, *w, now, st.to.scopes())
	if len(c.Ends) > 0 {
		c.Events = append(c.Events, record(st.to, w.ID, now, event.TokenRevoked, event.BySystem(), requestID))
	}
	out := answer(key, c.Key)
	if out.IdentityAssertion, err = s.assert(st.to, w.Epoch, now); err != nil {
		return contract.Token{}, err
	}
	ends := contract.At(r.ExpiresAt)
	out.AssertionExpires = &ends
	return out, s.Store.Change(ctx, c)
}
