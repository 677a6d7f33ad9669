// Package upload assembles the upload host.
package upload

import (
	"log/slog"
	"net/http"

	"vitrine/functions/assembly"
	"vitrine/functions/upload"
	"vitrine/shared/platform/env"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.PepperRing}

// Handler returns the upload host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	surface, err := s.Guarded("Vitrine upload", "upload", s.Config.Origins.Upload, log)
	if err != nil {
		return nil, err
	}
	h := &upload.Host{Surface: surface, Uploads: s.Uploads()}
	return h.Handler(), nil
}
