package oauth

import (
	"context"
	"net/netip"

	"vitrine/shared/contract"
	"vitrine/shared/fault"
	"vitrine/shared/id"
)

// TokenRequest are the parameters of the token endpoint that this server reads.
type TokenRequest struct {
	GrantType, ClientID, Scope, Resource                   string
	Code, RedirectURI, Verifier                            string // authorization_code
	RefreshToken                                           string
	DeviceCode                                             string
	SubjectToken, SubjectTokenType, WantedType, ActorToken string // token exchange

	requestID string
}

// Token serves the token endpoint for people's clients, which are all public. Its refusals are those of RFC 6749, 8628
// and 8693.
func (s *Server) Token(ctx context.Context, t TokenRequest, from netip.Addr, requestID string) (contract.Token, error) {
	grants := map[string]func(context.Context, TokenRequest) (contract.Token, error){
		contract.GrantCode: s.redeemCode, contract.GrantRefresh: s.refresh, contract.GrantDevice: s.poll, contract.GrantExchange: s.exchange,
	}
	serve, known := grants[t.GrantType]
	if !known || t.GrantType == contract.GrantExchange && s.Provider == nil {
		return contract.Token{}, fault.Refuse(fault.OAuthUnsupportedGrant, "this grant_type is not served here")
	}
	t.requestID = requestID
	out, err := contract.Token{}, error(fault.Refuse(fault.OAuthInvalidRequest, "client_id is missing"))
	if t.ClientID != "" {
		out, err = serve(ctx, t)
	}
	if err != nil {
		return contract.Token{}, s.Failed(ctx, err, from)
	}
	return out, nil
}

// Failed counts a refusal of the token endpoint against the address it goes to, and answers slow_down instead where
// there were too many. Waiting for a person is no failure, nor is anything that is not the client's fault.
func (s *Server) Failed(ctx context.Context, err error, from netip.Addr) error {
	r := fault.RefusalOf(err)
	switch r.Code {
	case fault.OAuthAuthorizationPending, fault.OAuthSlowDown, fault.OAuthServerError, fault.OAuthTemporarilyUnavailable:
		return err
	}
	if limited := s.limit(ctx, "token", from, s.Limits.TokenFailure); limited != nil {
		return limited
	}
	return err
}

// ours finds a first-party client; the others may use their own grants only.
func ours(named string) (Client, error) {
	if c, ok := firstParty[id.Client(named)]; ok {
		return c, nil
	}
	if id.Client(named).Valid() {
		return Client{}, fault.Refuse(fault.OAuthUnauthorizedClient, "this client may use authorization_code and refresh_token only")
	}
	return Client{}, fault.Refuse(fault.OAuthInvalidClient, "the client is not known")
}
