package assembly

import (
	"errors"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/rate"
)

// OAuth is the authorization server for people; it needs the rings pepper and seal. Without an identity
// provider it exchanges no ID tokens.
func (s *Services) OAuth(limiter *rate.Limiter) (*oauth.Server, error) {
	peppers, err1 := s.peppers()
	chain, err2 := s.Config.Rings.Pepper.Derive("refresh chain")
	provider, err3 := s.identityProvider()
	cursors, err4 := s.cursors()
	return &oauth.Server{
		GrantStore:  s.stores.Grants,
		Clients:     s.stores.Clients,
		Requests:    s.stores.Consents,
		Codes:       s.stores.Consents,
		Flows:       s.stores.Devices,
		Polls:       s.stores.Devices,
		Keys:        s.stores.Keys,
		Members:     s.stores.Members,
		Failures:    s.stores.Counters,
		Provider:    provider,
		Registrar:   s.Members(),
		Limiter:     limiter,
		Limits:      &s.Config.Limits,
		Peppers:     peppers,
		Chain:       chain,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Origins:     s.Config.Origins,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3, err4)
}

// Features are what the authorization server of the deployment offers.
func (s *Services) Features() oauth.Features {
	agents := s.Config.AgentRegistration || len(s.Config.Rings.Assertion.Keys) > 0
	return oauth.Features{
		People:    s.Config.OIDC.Issuer != "",
		Agents:    agents,
		Documents: !s.Config.NoClientDocuments,
		Providers: agents && (s.Config.AgentProviders || len(s.Config.Providers) > 0),
	}
}
