// Package content assembles the content host.
package content

import (
	"log/slog"
	"net/http"

	"vitrine/functions/assembly"
	"vitrine/functions/content"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.ContentRing}

// Handler returns the content host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	reader, err := s.Content(s.Limiter("content"))
	if err != nil {
		return nil, err
	}
	surface := s.Public("Vitrine content", s.Config.Origins.Content, log)
	surface.Pace = s.Config.Limits.Pace
	h := &content.Host{
		Surface: surface,
		Reader:  reader,
		Origins: s.Config.Origins,
		Loads:   s.Config.Policy.Loads,
		Static:  s.Config.Policy.StaticLoads,
		Strict:  s.Config.Environment == credential.Production,
	}
	return h.Handler(), nil
}
