package api

import (
	"context"
	"log/slog"

	"vitrine/functions/api"
	"vitrine/functions/assembly"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/provider"
)

// agents adds what agents need to the host. They can register by trusted providers, if there are any. The log line of
// the request says which provider signed a token, and with which key.
func agents(s *assembly.Services, h *api.Host, log *slog.Logger) error {
	service, err := s.Agents(h.Surface.Limiter)
	if err != nil {
		return err
	}
	h.Agents = service
	if service.Signer == nil {
		return nil
	}
	h.AssertionKeys = service.Signer.JWKS()
	if v := providers(s, log); v != nil {
		service.Providers = v
		service.Trace = func(ctx context.Context, issuer, keyID string) {
			web.Annotate(ctx, slog.String("issuer", issuer), slog.String("kid", keyID))
		}
	}
	return nil
}

// providers returns the verifier of what agents' identity providers send; nil if no provider is trusted. It logs why
// the list of providers cannot be used.
func providers(s *assembly.Services, log *slog.Logger) *provider.Verifier {
	if err := s.Config.ProvidersError; err != nil {
		log.Error("providers", "error", err)
		return nil
	}
	if len(s.Config.Providers) == 0 {
		return nil
	}
	return &provider.Verifier{
		Providers: s.Config.Providers,
		Documents: fetcher(s),
		Audience:  s.Config.Origins.API,
		Now:       s.Config.Now,
	}
}
