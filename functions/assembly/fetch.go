package assembly

import (
	"errors"
	"fmt"
	"net/url"

	"vitrine/shared/adapter/fetch"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
)

// Fetcher reads the metadata documents of OAuth clients, and the keys of agents' identity providers.
func (s *Services) Fetcher() oauth.Fetcher {
	return fetch.New(limits.DocumentTimeout, s.Config.FetchOrigins)
}

// checkFetchOrigins refuses what is no origin, and any exemption in production, because it would open inner addresses
// to strangers.
func (c *Config) checkFetchOrigins() error {
	if c.Environment == credential.Production && len(c.FetchOrigins) > 0 {
		return fmt.Errorf("%s cannot be set in production", env.FetchOrigins)
	}
	var wrong []error
	for _, origin := range c.FetchOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin || u.Scheme != "http" && u.Scheme != "https" {
			wrong = append(wrong, fmt.Errorf("%s holds %q, which is no http origin without path", env.FetchOrigins, origin))
		}
	}
	return errors.Join(wrong...)
}
