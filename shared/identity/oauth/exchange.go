package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Provider verifies ID tokens.
type Provider interface {
	// Verify checks an ID token that the provider issued to this deployment at most limits.ProviderTokenLife ago for a
	// person with a verified address. It fails with the kind unavailable if the provider does not answer.
	Verify(ctx context.Context, idToken string) (member.Identity, error)
}

// Registrar maps identities to members.
type Registrar interface {
	// SignIn returns the member of an identity, or creates one with a workspace.
	SignIn(ctx context.Context, who member.Identity, requestID string) (member.SignedIn, error)
}

// exchange issues an access token to a first-party client for the person of an ID token (RFC 8693). It issues no
// refresh token, because the client can get a new ID token from the provider.
func (s *Server) exchange(ctx context.Context, t TokenRequest) (contract.Token, error) {
	c, err := ours(t.ClientID)
	if err != nil {
		return contract.Token{}, err
	}
	switch {
	case t.SubjectToken == "" || t.SubjectTokenType != contract.TypeIDToken || t.ActorToken != "":
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest,
			"send subject_token and subject_token_type %s, and no actor_token", contract.TypeIDToken)
	case t.WantedType != "" && t.WantedType != contract.TypeAccessToken:
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "requested_token_type is %s",
			contract.TypeAccessToken)
	}
	if err := checkResource(s.audienceFor(c), t.Resource); err != nil {
		return contract.Token{}, err
	}
	if err := t.guest.Admitted(); err != nil {
		return contract.Token{}, err
	}
	who, err := s.Provider.Verify(ctx, t.SubjectToken)
	if err != nil {
		return contract.Token{}, unverified(err)
	}
	entered, err := s.Registrar.SignIn(ctx, who, t.requestID)
	if err != nil {
		return contract.Token{}, err
	}
	return s.signedIn(ctx, c, entered, t)
}

// signedIn makes the grant of an exchange.
func (s *Server) signedIn(ctx context.Context, c Client, in member.SignedIn, t TokenRequest) (contract.Token, error) {
	m, w := in.Member, in.Workspace
	now := s.Now()
	access := credential.Mint(credential.AccessToken, s.Environment, w.ID, "")
	g := Grant{
		Public:          access.Public,
		Client:          c.ID,
		Name:            c.Name,
		Member:          m.ID,
		Workspace:       w.ID,
		Audience:        s.audienceFor(c),
		Scopes:          scopesFor(c, t.Scope),
		Epoch:           w.Epoch,
		Operator:        in.Operator,
		AuthenticatedAt: in.AuthenticatedAt,
		CreatedAt:       now,
		ExpiresAt:       now.Add(limits.AccessTokenLife),
	}
	g.Access = []AccessToken{{Hash: access.Hash(s.Peppers), ExpiresAt: g.ExpiresAt}}
	if !g.issuable(now, w, m) {
		return contract.Token{}, errInvalidGrant()
	}
	e := s.record(g.Workspace, event.ByMember(g.Member), event.SessionStarted, target(c.ID), t.requestID)
	e.Detail = "by an ID token"
	err := s.GrantStore.Add(ctx, g, proofOf(t.SubjectToken, now), e)
	if errors.Is(err, ErrGone) {
		err = fault.NewOAuth(fault.OAuthInvalidRequest,
			"the subject token is refused: it was exchanged before; sign in again")
	}
	if err != nil {
		return contract.Token{}, err
	}
	return contract.Token{
		AccessToken:     access.Reveal(),
		TokenType:       "Bearer",
		ExpiresIn:       contract.Seconds(limits.AccessTokenLife),
		Scope:           scopeString(rights(g, m)),
		IssuedTokenType: contract.TypeAccessToken,
	}, nil
}

// Proof identifies an exchanged ID token. It is stored until the ID token is too old to be accepted again.
type Proof struct {
	Digest string
	Until  time.Time
}

// proofOf identifies an ID token by the part that its signature covers, because one signature may have several
// spellings.
func proofOf(idToken string, now time.Time) Proof {
	signed := idToken[:max(0, strings.LastIndexByte(idToken, '.'))]
	sum := sha256.Sum256([]byte(signed))
	return Proof{
		Digest: base64.RawURLEncoding.EncodeToString(sum[:]),
		Until:  now.Add(limits.ProviderTokenLife + 2*limits.AssertionLeeway),
	}
}

// unverified returns the error for a refused ID token (RFC 8693, section 2.2.2). It returns server_error if the
// provider does not answer.
func unverified(err error) error {
	f := fault.Of(err)
	switch f.Code.Kind() {
	case fault.KindUnavailable, fault.KindInternal:
		return fault.NewOAuth(fault.OAuthServerError, "the identity provider does not answer; try again in a moment").
			WithCause(err).After(max(f.RetryAfter, limits.PollInterval))
	}
	return fault.NewOAuth(fault.OAuthInvalidRequest, "the subject token is refused: %s", f.Message).WithCause(err)
}
