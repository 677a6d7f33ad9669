package assembly

import (
	"errors"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/rate"
)

// Provisioning returns the service that makes ephemeral workspaces. It needs the ring pepper.
func (s *Services) Provisioning(limiter *rate.Limiter) (*ephemeral.Provisioner, error) {
	peppers, err1 := s.Peppers()
	signing, err2 := s.Config.Rings.Pepper.Derive("pow")
	return &ephemeral.Provisioner{
		Store:        s.Stores.Workspaces,
		Limiter:      limiter,
		Counters:     s.Stores.Counters,
		Limits:       &s.Config.Limits,
		Peppers:      peppers,
		Environment:  s.Config.Environment,
		AccountsOnly: !s.Config.Policy.Anonymous,
		App:          s.Config.Origins.App,
		Pow:          &pow.Service{Keys: signing, Store: s.Stores.Counters, Now: s.Config.Now},
		Now:          s.Config.Now,
	}, errors.Join(err1, err2)
}

// Claims returns the service by which members take over ephemeral workspaces. It needs the ring pepper.
func (s *Services) Claims() (*claim.Service, error) {
	peppers, err := s.Peppers()
	return &claim.Service{
		Store:       s.Stores.Claims,
		Artifacts:   s.Stores.Artifacts,
		Peppers:     peppers,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, err
}

// Agents returns the service that registers agents and lets people claim them. It needs the rings pepper and seal.
// Without the ring assertion, agents cannot register and registered ones get no tokens, but people can still answer
// them.
func (s *Services) Agents(limiter *rate.Limiter) (*agentauth.Service, error) {
	peppers, err1 := s.Peppers()
	admission, err2 := s.Provisioning(limiter)
	signer, err3 := s.signer()
	cursors, err4 := s.cursors()
	return &agentauth.Service{
		Store:       s.Stores.Registrations,
		Mover:       s.Stores.Claims,
		Artifacts:   s.Stores.Artifacts,
		Admission:   admission,
		Counters:    s.Stores.Counters,
		Failures:    s.Stores.Counters,
		Limiter:     limiter,
		Limits:      &s.Config.Limits,
		Allowlist:   s.Config.Allowlist(),
		Signer:      signer,
		Delegations: s.Stores.Delegations,
		Revocations: &delegation.Service{Store: s.Stores.Delegations, Cursors: cursors, Now: s.Config.Now},
		Peppers:     peppers,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Origins:     s.Config.Origins,
		NoAnonymous: s.Features().NoAnonymous,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3, err4)
}

// signer returns the signer of assertions; nil without its ring.
func (s *Services) signer() (*assertion.Signer, error) {
	ring := s.Config.Rings.Assertion
	if len(ring.Keys) == 0 {
		return nil, nil
	}
	return assertion.New(ring, s.Config.Origins.API)
}
