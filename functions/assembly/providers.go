package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/env"
)

// trustList reads the identity providers of agents from where the setting says; none if there is no setting. This
// service cannot be a provider for itself.
func trustList(ctx context.Context, cfg aws.Config, from string, c *Config) ([]provider.Provider, error) {
	if from == "" {
		return nil, nil
	}
	text, err := secretText(ctx, cfg, from)
	var providers []provider.Provider
	if err == nil {
		providers, err = provider.Parse([]byte(text), c.FetchOrigins...)
	}
	for _, p := range providers {
		if p.Issuer == c.Origins.API || slices.Contains(p.Aliases, c.Origins.API) {
			err = errors.New("the list holds this service itself")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", env.Providers, err)
	}
	return providers, nil
}

// Providers verifies what the identity providers of agents send; nil if none is trusted. It reports a list that cannot
// be used. Each call makes a verifier with keys of its own.
func (s *Services) Providers(log *slog.Logger) *provider.Verifier {
	if err := s.Config.ProvidersError; err != nil {
		log.Error("providers", "error", err)
		return nil
	}
	if len(s.Config.Providers) == 0 {
		return nil
	}
	return &provider.Verifier{
		Providers: s.Config.Providers,
		Documents: s.Fetcher(),
		Audience:  s.Config.Origins.API,
		Now:       s.Config.Now,
	}
}
