package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"regexp"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Codes stores authorization codes.
type Codes interface {
	// Code reads a code with strong consistency. It returns nil if there is none.
	Code(ctx context.Context, public id.Public) (*Code, error)
	// Redeem turns an unused code into a grant in one transaction. For a used code it writes no item and returns ErrGone
	// with the public id of the grant that the code made.
	Redeem(ctx context.Context, c Code, g Grant) (made id.Public, err error)
}

// Code is an authorization code that a member made.
type Code struct {
	Public    id.Public
	Hash      credential.Hash
	Client    id.Client
	Name      string
	Redirect  string
	Challenge string
	Scopes    []credential.Scope
	Audience  string
	Member    id.Member
	Workspace id.Workspace
	Epoch     int64
	Operator  time.Time // see Grant
	// AuthenticatedAt is that of Grant.
	AuthenticatedAt time.Time
	CreatedAt       time.Time // when the member consented
	ExpiresAt       time.Time
	Grant           id.Public // the grant that the code made; empty: the code is unused
}

func (c Code) approval() approval {
	return approval{
		client:          c.Client,
		name:            c.Name,
		member:          c.Member,
		workspace:       c.Workspace,
		epoch:           c.Epoch,
		operator:        c.Operator,
		authenticatedAt: c.AuthenticatedAt,
		scopes:          c.Scopes,
		audience:        c.Audience,
		at:              c.CreatedAt,
	}
}

var verifiers = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// redeemCode exchanges an authorization code once. A second use revokes the grant of the first one, because it means
// that the code leaked.
func (s *Server) redeemCode(ctx context.Context, t TokenRequest) (contract.Token, error) {
	if t.Code == "" || t.Verifier == "" || t.RedirectURI == "" {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "send code, code_verifier and redirect_uri")
	}
	token, c, err := lookUp(ctx, s, t, t.Code, credential.AuthorizationCode, s.Codes.Code)
	if err != nil {
		return contract.Token{}, err
	}
	if !token.Matches(c.Hash, s.Peppers) {
		return contract.Token{}, errInvalidGrant()
	}
	// A used code is judged before client and expiry, because a second use by any client and at any time is a leak.
	if c.Grant != "" {
		return contract.Token{}, s.replayed(ctx, *c, c.Grant, t.requestID)
	}
	now := s.Now()
	if !now.Before(c.ExpiresAt) || string(c.Client) != t.ClientID || c.Redirect != t.RedirectURI ||
		!verifies(t.Verifier, c.Challenge) {
		return contract.Token{}, errInvalidGrant()
	}
	if err := checkResource(c.Audience, t.Resource); err != nil {
		return contract.Token{}, err
	}
	g, out := s.grant(c.approval(), now)
	scopes, err := s.holds(ctx, g)
	if err != nil {
		return contract.Token{}, err
	}
	out.Scope = scopeString(scopes)
	touched := async.Start(func() error {
		s.touch(ctx, c.Client)
		return nil
	})
	made, err := s.Codes.Redeem(ctx, *c, g)
	err = cmp.Or(err, touched())
	if errors.Is(err, ErrGone) {
		return contract.Token{}, s.replayed(ctx, *c, made, t.requestID)
	}
	if err != nil {
		return contract.Token{}, err
	}
	return out, nil
}

// replayed revokes the grant that a code made, and returns the error.
func (s *Server) replayed(ctx context.Context, c Code, made id.Public, requestID string) error {
	e := s.record(c.Workspace, event.BySystem(), event.GrantRevoked, target(c.Client), requestID)
	e.Detail = "its authorization code was used twice"
	if err := s.GrantStore.Revoke(ctx, made, e.At, e); err != nil {
		return err
	}
	return errInvalidGrant()
}

// verifies reports whether a PKCE verifier matches a challenge (RFC 7636, S256).
func verifies(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return verifiers.MatchString(verifier) &&
		subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

func errInvalidGrant() *fault.OAuthError {
	return fault.NewOAuth(fault.OAuthInvalidGrant,
		"what you sent is unknown, used, expired or was made for another client")
}
