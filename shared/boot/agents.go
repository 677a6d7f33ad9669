package boot

import (
	"errors"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/platform/rate"
)

// Agents registers agents and lets people claim them; it needs the rings pepper and seal. Without the ring assertion
// agents cannot register, and those that did get no tokens; people can still answer them.
func (s *Services) Agents(limiter *rate.Limiter) (*agentauth.Service, error) {
	peppers, err1 := s.peppers()
	admission, err2 := s.Provisioning(limiter)
	signer, err3 := s.signer()
	cursors, err4 := s.cursors()
	return &agentauth.Service{
		Store:       s.stores.Registrations,
		Mover:       s.stores.Claims,
		Artifacts:   s.stores.Artifacts,
		Admission:   admission,
		Counters:    s.stores.Counters,
		Failures:    s.stores.Counters,
		Limiter:     limiter,
		Limits:      &s.Config.Limits,
		Signer:      signer,
		Peppers:     peppers,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Origins:     s.Config.Origins,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3, err4)
}

// signer is nil without its ring.
func (s *Services) signer() (*assertion.Signer, error) {
	ring := s.Config.Rings.Assertion
	if len(ring.Keys) == 0 {
		return nil, nil
	}
	return assertion.New(ring, s.Config.Origins.API)
}
