package agentauth

import (
	"context"
	"slices"
	"strings"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
)

// Exchange is what an agent sends for an access token.
type Exchange struct {
	Assertion string
	Scope     string // separated by spaces; empty: all that the registration has
	Resource  string // empty: the api
}

// Admitted tells whether an address may go on, or is refused because it came or failed too often. It is waited for before
// the first write, so that it may be found out beside the reads.
type Admitted func() error

// Exchange gives an access token for an assertion, which may be sent again until it expires.
func (s *Service) Exchange(ctx context.Context, e Exchange, admitted Admitted) (contract.Token, error) {
	if err := s.off(); err != nil {
		return contract.Token{}, err
	}
	granted, err := s.asked(e)
	if err != nil {
		return contract.Token{}, err
	}
	claims, err := s.Signer.Verify(e.Assertion, s.now())
	if err != nil {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidGrant, "this is no assertion of ours that holds now; register again").WithCause(err)
	}
	var out contract.Token
	err = race(func() error {
		r, w, err := s.Store.Registration(ctx, claims.Registration, claims.Workspace)
		if err == nil {
			err = admitted()
		}
		if err != nil || r == nil {
			return either(err, errDead)
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

// asked checks the parameters beside the assertion, and tells which scopes the token will have.
func (s *Service) asked(e Exchange) ([]credential.Scope, error) {
	if e.Assertion == "" {
		return nil, fault.NewOAuth(fault.OAuthInvalidRequest, "assertion is missing")
	}
	if e.Resource != "" && e.Resource != s.Origins.API {
		return nil, fault.NewOAuth(fault.OAuthInvalidTarget, "resource must be %s", s.Origins.API)
	}
	wanted := strings.Fields(e.Scope)
	if len(wanted) == 0 {
		return scopes, nil
	}
	granted := slices.DeleteFunc(slices.Clone(scopes), func(sc credential.Scope) bool { return !slices.Contains(wanted, string(sc)) })
	if len(granted) == 0 {
		return nil, fault.NewOAuth(fault.OAuthInvalidScope, "an agent can have the scopes %s", strings.Join(credential.ScopeStrings(scopes), " and "))
	}
	return granted, nil
}

// Redeem answers an agent that waits for its claim: an access token in the member's workspace and a new assertion once it
// is complete. A lost answer can be asked for again a few times; each ends the access token of the one before.
func (s *Service) Redeem(ctx context.Context, claimToken string, admitted Admitted, requestID string) (contract.Token, error) {
	if err := s.off(); err != nil {
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
		_, r, found, err := s.registrationOf(ctx, sent)
		if err == nil {
			err = admitted()
		}
		if err != nil || !found {
			return either(err, errExpired)
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

// redeem gives what a complete claim gives. The registration is read again, together with its workspace.
func (s *Service) redeem(ctx context.Context, seen Registration, requestID string) (contract.Token, error) {
	r, w, err := s.Store.Registration(ctx, seen.ID, seen.Workspace)
	if err != nil || r == nil {
		return contract.Token{}, either(err, errExpired)
	}
	now := s.now()
	key := credential.Mint(credential.APIKey, s.Environment, seen.Workspace, "")
	st := r.claim(w, key.Public, now)
	if st.refusal != nil {
		return contract.Token{}, st.refusal
	}
	c := change(*r, st, now)
	c.Key = s.stored(key, st.to, *w, now, scopes)
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
