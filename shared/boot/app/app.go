// Package app assembles the app host.
package app

import (
	"log/slog"
	"net/http"

	"vitrine/functions/app"
	"vitrine/shared/boot"
	"vitrine/shared/setting"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{setting.ContentRing, setting.LinksRing}

// Handler is the app host of a deployment.
func Handler(s *boot.Services, log *slog.Logger) (http.Handler, error) {
	addresses, err := s.Addresses()
	if err != nil {
		return nil, err
	}
	o := s.Config.Origins
	h := &app.Host{Links: s.Viewer(addresses, s.Limiter("app")), ContentURL: o.Content, AppURL: o.App, APIURL: o.API, Surface: s.Public("Vitrine", o.App, log)}
	return h.Handler(), nil
}
