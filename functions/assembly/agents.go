package assembly

import (
	"context"
	"errors"
	"log/slog"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/platform/rate"
)

// Agents registers agents and lets people claim them; it needs the rings pepper and seal. Without the ring assertion
// agents cannot register, and those that did get no tokens; people can still answer them.
func (s *Services) Agents(limiter *rate.Limiter) (*agentauth.Service, error) {
	peppers, err1 := s.peppers()
	admission, err2 := s.Provisioning(limiter)
	signer, err3 := s.signer()
	cursors, err4 := s.cursors()
	delegations, err5 := s.Delegations()
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
		Delegations: s.stores.Delegations,
		Revocations: delegations,
		Peppers:     peppers,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Origins:     s.Config.Origins,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3, err4, err5)
}

// Delegations lists and ends what agents of providers may do; it needs the ring seal.
func (s *Services) Delegations() (*delegation.Service, error) {
	cursors, err := s.cursors()
	return &delegation.Service{Store: s.stores.Delegations, Cursors: cursors, Now: s.Config.Now}, err
}

// TrustProviders lets agents register by the providers that are trusted, if there are any. Which provider signed a token,
// and with which key, goes into the log line of the request.
func (s *Services) TrustProviders(agents *agentauth.Service, log *slog.Logger) {
	v := s.Providers(log)
	if v == nil {
		return
	}
	agents.Providers = v
	agents.Trace = func(ctx context.Context, issuer, keyID string) {
		web.Annotate(ctx, slog.String("issuer", issuer), slog.String("kid", keyID))
	}
}

// signer is nil without its ring.
func (s *Services) signer() (*assertion.Signer, error) {
	ring := s.Config.Rings.Assertion
	if len(ring.Keys) == 0 {
		return nil, nil
	}
	return assertion.New(ring, s.Config.Origins.API)
}
