package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/env"
)

// trustList reads the trusted identity providers of agents from where the setting points; none without a setting. It
// refuses this service itself as a provider.
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
