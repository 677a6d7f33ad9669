package boot

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
		GrantStore:  s.store,
		Clients:     s.store,
		Requests:    s.store,
		Codes:       s.store,
		Flows:       s.store,
		Polls:       s.store,
		Keys:        s.store,
		Members:     s.store,
		Failures:    s.store,
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
