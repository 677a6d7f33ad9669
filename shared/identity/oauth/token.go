package oauth

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// TokenRequest holds the parameters of the token endpoint that this server reads.
type TokenRequest struct {
	GrantType, ClientID, Scope, Resource                   string
	Code, RedirectURI, Verifier                            string // authorization_code
	RefreshToken                                           string
	DeviceCode                                             string
	SubjectToken, SubjectTokenType, WantedType, ActorToken string // token exchange

	guest     *Guest
	requestID string
}

// Token serves the token endpoint for people's clients, which are all public. Its errors are those of RFC 6749, RFC
// 8628 and RFC 8693.
func (s *Server) Token(ctx context.Context, t TokenRequest, guest *Guest, requestID string) (contract.Token, error) {
	grants := map[string]func(context.Context, TokenRequest) (contract.Token, error){
		contract.GrantCode:     s.redeemCode,
		contract.GrantRefresh:  s.refresh,
		contract.GrantDevice:   s.poll,
		contract.GrantExchange: s.exchange,
	}
	serve, known := grants[t.GrantType]
	if !known || t.GrantType == contract.GrantExchange && s.Provider == nil {
		return contract.Token{}, fault.NewOAuth(fault.OAuthUnsupportedGrant, "this grant_type is not served here")
	}
	if t.ClientID == "" {
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "client_id is missing")
	}
	t.guest, t.requestID = guest, requestID
	return serve(ctx, t)
}

// ours returns a client that acts as the member. It fails for other clients, which may use codes and refresh tokens only.
func ours(named string) (Client, error) {
	c, known := firstParty[id.Client(named)]
	if c.actsAsMember() {
		return c, nil
	}
	if known || id.Client(named).Valid() || documentURL(id.Client(named)) != nil {
		return Client{}, fault.NewOAuth(fault.OAuthUnauthorizedClient,
			"this client may use authorization_code and refresh_token only")
	}
	return Client{}, fault.NewOAuth(fault.OAuthInvalidClient, "the client is not known")
}

// lookUp returns the secret that a request presents and what the secret is for, or invalid_grant. It admits the guest
// before the secret is compared, because finding the age of a refresh token costs up to maxAncestors derivations.
func lookUp[T any](
	ctx context.Context,
	s *Server,
	t TokenRequest,
	text string,
	kind credential.Kind,
	find func(context.Context, id.Public) (*T, error),
) (credential.Token, *T, error) {
	token, err := credential.Parse(text, kind, s.Environment)
	if err != nil {
		return token, nil, errInvalidGrant()
	}
	found, err := find(ctx, token.Public)
	if err == nil {
		err = t.guest.Admitted()
	}
	if err == nil && found == nil {
		err = errInvalidGrant()
	}
	return token, found, err
}
