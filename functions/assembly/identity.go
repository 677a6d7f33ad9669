package assembly

import (
	"errors"

	"vitrine/shared/adapter/oidc"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/seal"
)

// Account returns the service that tells callers about themselves and their workspace, and operators what was done. It
// needs the ring seal.
func (s *Services) Account() (*account.Service, error) {
	cursors, err := s.cursors()
	return &account.Service{
		Allowance:  s.Stores.Counters,
		Workspaces: s.Stores.Workspaces,
		Events:     s.Stores.Events,
		Cursors:    cursors,
		Limits:     &s.Config.Limits,
		Now:        s.Config.Now,
	}, err
}

// Keys returns the service for the API keys of workspaces. It needs the rings pepper and seal.
func (s *Services) Keys() (*credential.Service, error) {
	peppers, err1 := s.Peppers()
	box, err2 := seal.New(s.Config.Rings.Seal, "record")
	cursors, err3 := s.cursors()
	return &credential.Service{
		Store:       s.Stores.Keys,
		Peppers:     peppers,
		Box:         box,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3)
}

// IdentityProvider returns the provider that people sign in at; nil if none is configured.
func (s *Services) IdentityProvider() (signin.Provider, error) {
	if s.Config.OIDC.Issuer == "" {
		return nil, nil
	}
	p, err := oidc.New(s.Config.oidc())
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Registrar returns the service that makes members of people who sign in.
func (s *Services) Registrar() *member.Service {
	return &member.Service{Store: s.Stores.Members, Allowlist: s.Config.Allowlist(), Now: s.Config.Now}
}

// OAuth returns the authorization server for people. It needs the rings pepper and seal. Without an identity provider
// it exchanges no ID tokens.
func (s *Services) OAuth(limiter *rate.Limiter) (*oauth.Server, error) {
	peppers, err1 := s.Peppers()
	chain, err2 := s.Config.Rings.Pepper.Derive("refresh chain")
	provider, err3 := s.IdentityProvider()
	cursors, err4 := s.cursors()
	return &oauth.Server{
		GrantStore:  s.Stores.Grants,
		Clients:     s.Stores.Clients,
		Requests:    s.Stores.Consents,
		Codes:       s.Stores.Consents,
		Flows:       s.Stores.Devices,
		Polls:       s.Stores.Devices,
		Keys:        s.Stores.Keys,
		Members:     s.Stores.Members,
		Failures:    s.Stores.Counters,
		Provider:    provider,
		Registrar:   s.Registrar(),
		Name:        s.Config.Policy.Brand.Name,
		NoDocuments: s.Config.NoClientDocuments,
		Limiter:     limiter,
		Limits:      &s.Config.Limits,
		Allowlist:   s.Config.Allowlist(),
		Peppers:     peppers,
		Chain:       chain,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Origins:     s.Config.Origins,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3, err4)
}

// Features returns what the authorization server of the deployment offers.
func (s *Services) Features() oauth.Features {
	agents := s.Config.AgentRegistration || len(s.Config.Rings.Assertion.Keys) > 0
	p := s.Config.Policy
	return oauth.Features{
		People:       s.Config.OIDC.Issuer != "",
		Agents:       agents,
		Documents:    !s.Config.NoClientDocuments,
		Providers:    agents && (s.Config.AgentProviders || len(s.Config.Providers) > 0),
		AccountsOnly: !p.Anonymous,
		NoAnonymous:  !p.Anonymous || !p.Agents,
		Brand:        p.Brand,
	}
}
