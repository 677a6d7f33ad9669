package api

import (
	"context"
	"log/slog"

	"vitrine/functions/api"
	"vitrine/functions/assembly"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/provider"
)

// agents gives the host what agents ask for. They can register by the providers that are trusted, if there are any.
// Which provider signed a token, and with which key, goes into the log line of the request.
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

// providers verifies what the identity providers of agents send; nil if none is trusted. It reports a list that cannot
// be used.
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
