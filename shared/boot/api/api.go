// Package api assembles the api host.
package api

import (
	"log/slog"
	"net/http"

	"vitrine/functions/api"
	"vitrine/shared/boot"
	"vitrine/shared/platform/env"
)

// Rings are the settings of the key rings that the host needs. Agents can register where there is one for assertions too.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Handler is the api host of a deployment.
func Handler(s *boot.Services, log *slog.Logger) (http.Handler, error) {
	surface, err := s.Guarded("Vitrine API", "api", s.Config.Origins.API, log)
	if err != nil {
		return nil, err
	}
	addresses, err := s.Addresses()
	if err != nil {
		return nil, err
	}
	provisioner, err := s.Provisioner(surface.Limiter)
	if err != nil {
		return nil, err
	}
	lister, err := s.Lister()
	if err != nil {
		return nil, err
	}
	h := &api.Host{
		Surface:     surface,
		Accounts:    s.Accounts(),
		Keys:        s.Revoker(),
		Provisioner: provisioner,
		Publisher:   s.Publisher(addresses),
		Deleter:     s.Deleter(),
		Lister:      lister,
		Historian:   s.Historian(),
		Viewer:      s.Files(s.Viewer(addresses, surface.Limiter)),
		Addresses:   addresses,
		Renamer:     s.Renamer(),
		Pinner:      s.Pinner(lister),
	}
	h.Sharer = s.Sharer(addresses, lister)
	if err := members(s, h); err != nil {
		return nil, err
	}
	if err := claims(s, h); err != nil {
		return nil, err
	}
	if err := operators(s, h); err != nil {
		return nil, err
	}
	if err := authorization(s, h); err != nil {
		return nil, err
	}
	if err := agents(s, h); err != nil {
		return nil, err
	}
	return h.Handler(), nil
}
