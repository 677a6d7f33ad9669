package oauth

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// maxAncestors is how many used refresh tokens of a grant are recognised, and so how many derivations a forged token
// costs.
//
// A used token is recognised only if all its successors were derived with the grant's present key and that key is in
// the ring. Other used tokens are refused like unknown ones: they yield no tokens, but their reuse is not noticed and
// the grant stays live. The newest token and the one before are recognised by their hashes, as long as the peppers of
// these are in their ring.
const maxAncestors = 4096

// tokenAge is the age of a refresh token in its grant.
type tokenAge int

const (
	unknown tokenAge = iota // not a token of the grant
	newest                  // the live token
	recent                  // the token before the newest; its answer may have been lost
	stale                   // used too long ago for a lost answer, so a copy exists
)

// refresh exchanges a refresh token for a new one and an access token. Both are derived from the old token and a key,
// so that concurrent and repeated requests within the grace period get the same answer. A token that is used after
// that, or that was replaced more than once, was copied, so its grant is revoked.
func (s *Server) refresh(ctx context.Context, t TokenRequest) (contract.Token, error) {
	if t.RefreshToken == "" {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "send refresh_token")
	}
	token, g, err := lookUp(ctx, s, t, t.RefreshToken, credential.RefreshToken, s.GrantStore.Grant)
	if err != nil {
		return contract.Token{}, err
	}
	if g.Workspace != token.Workspace {
		return contract.Token{}, errInvalidGrant()
	}
	now := s.Now()
	// Reuse is judged before the client and the life of the grant, because a copy ends the grant whoever sends it.
	switch s.age(*g, token, now) {
	case unknown:
		return contract.Token{}, errInvalidGrant()
	case stale:
		return contract.Token{}, s.reused(ctx, *g, t.requestID)
	}
	scopes, err := s.refreshable(ctx, *g, t, now)
	if err != nil {
		return contract.Token{}, err
	}
	out, err := s.rotate(ctx, *g, token, t.requestID)
	if err != nil {
		return contract.Token{}, err
	}
	out.Scope = scopeString(scopes)
	return out, nil
}

// age returns the age of a refresh token, even of a grant that has ended.
func (s *Server) age(g Grant, t credential.Token, now time.Time) tokenAge {
	switch {
	case t.Matches(g.Refresh, s.Peppers):
		return newest
	case !t.Matches(g.Previous, s.Peppers):
		if s.descends(g, t) {
			return stale
		}
		return unknown
	case now.After(g.RotatedAt.Add(limits.RefreshGrace)):
		return stale
	}
	return recent
}

// descends reports whether the newest refresh token is derived from t.
func (s *Server) descends(g Grant, t credential.Token) bool {
	key := s.Chain.Key(g.ChainKeyID)
	for range min(g.Generation, maxAncestors) {
		if key == nil {
			return false
		}
		if t = t.Next(credential.RefreshToken, key); t.Matches(g.Refresh, s.Peppers) {
			return true
		}
	}
	return false
}

// refreshable returns the scopes of the new tokens. It refuses grants that ended, clients that do not own the grant,
// and scopes that were not granted or that the member has lost.
func (s *Server) refreshable(ctx context.Context, g Grant, t TokenRequest, now time.Time) ([]credential.Scope, error) {
	if string(g.Client) != t.ClientID || !now.Before(g.IdleAt) {
		return nil, errInvalidGrant()
	}
	scopes, err := s.holds(ctx, g)
	if err == nil {
		err = checkResource(g.Audience, t.Resource)
	}
	if err == nil {
		err = checkSubset(slices.Concat(g.Scopes, scopes), t.Scope)
	}
	return scopes, err
}

// rotate replaces the newest refresh token by the next one, or repeats the answer if that has happened already.
func (s *Server) rotate(ctx context.Context, g Grant, t credential.Token, requestID string) (contract.Token, error) {
	now := s.Now()
	if !t.Matches(g.Refresh, s.Peppers) {
		return s.repeatAnswer(g, t, now)
	}
	was, used := g.Refresh, g.RotatedAt
	if used.IsZero() {
		used = g.CreatedAt
	}
	// A key that is still in the ring is kept, because changing it would hide the reuse of older tokens.
	if s.Chain.Key(g.ChainKeyID) == nil {
		g.ChainKeyID, _ = s.Chain.Active()
	}
	access, next := successors(t, s.Chain, g.ChainKeyID)
	g.Previous = was
	g.Refresh = next.Hash(s.Peppers)
	g.RotatedAt = now
	g.Generation = g.Generation + 1
	g.IdleAt = g.end(now, limits.RefreshIdle)
	g.Access = append(remaining(g.Access, now),
		AccessToken{Hash: access.Hash(s.Peppers), ExpiresAt: g.end(now, limits.AccessTokenLife)})
	moved, err := s.GrantStore.Rotate(ctx, g, was)
	switch {
	case err != nil:
		return contract.Token{}, err
	case moved == nil:
		if now.Sub(used) >= limits.Day {
			s.touch(ctx, g.Client)
		}
		return answer(g, access, next, now), nil
	}
	// Another request rotated first. A client that sent the same token twice gets the same answer, a copy does not.
	if s.age(*moved, t, now) == stale {
		return contract.Token{}, s.reused(ctx, *moved, requestID)
	}
	return s.repeatAnswer(*moved, t, now)
}

// repeatAnswer derives the answer to the rotation of t again, as long as the tokens of that answer are the newest.
func (s *Server) repeatAnswer(g Grant, t credential.Token, now time.Time) (contract.Token, error) {
	if !g.RevokedAt.IsZero() || s.Chain.Key(g.ChainKeyID) == nil || !t.Matches(g.Previous, s.Peppers) {
		return contract.Token{}, errInvalidGrant()
	}
	access, next := successors(t, s.Chain, g.ChainKeyID)
	if !next.Matches(g.Refresh, s.Peppers) || !g.Holds(access, s.Peppers, now) {
		return contract.Token{}, errInvalidGrant()
	}
	return answer(g, access, next, now), nil
}

// successors derives the access token and the refresh token that replace a refresh token.
func successors(t credential.Token, chain keyring.Derived, kid byte) (access, refresh credential.Token) {
	key := chain.Key(kid)
	return t.Next(credential.AccessToken, key), t.Next(credential.RefreshToken, key)
}

// remaining returns the access tokens that stay valid when a new one is added.
func remaining(tokens []AccessToken, now time.Time) []AccessToken {
	var out []AccessToken
	for _, t := range tokens {
		if now.Before(t.ExpiresAt) {
			out = append(out, t)
		}
	}
	return out[max(0, len(out)-limits.AccessTokens+1):]
}

// reused revokes a grant whose used refresh token was presented again, and returns the error.
func (s *Server) reused(ctx context.Context, g Grant, requestID string) error {
	e := s.record(g.Workspace, event.BySystem(), event.RefreshReused, target(g.Client), requestID)
	if err := s.GrantStore.Revoke(ctx, g.Public, e.At, e); err != nil {
		return err
	}
	return errInvalidGrant()
}
