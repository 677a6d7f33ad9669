// Package api assembles the api host.
package api

import (
	"errors"
	"log/slog"
	"net/http"

	"vitrine/functions/api"
	"vitrine/functions/assembly"
	"vitrine/shared/platform/env"
)

// Rings are the settings of the key rings that the host needs. Agents can register where there is one for assertions too.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Handler is the api host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	surface, err := s.Guarded("Vitrine API", "api", s.Config.Origins.API, log)
	if err != nil {
		return nil, err
	}
	if err := s.ForMembers(surface); err != nil {
		return nil, err
	}
	h := &api.Host{Surface: surface, Features: s.Features()}
	if err := errors.Join(artifacts(s, h), callers(s, h), agents(s, h, log)); err != nil {
		return nil, err
	}
	if err := s.Config.BillingError; err != nil { // publishing goes on without it
		log.Error("billing", "error", err)
	}
	h.Billing = Billing(s)
	return h.Handler(), nil
}

// artifacts gives the host what is published and shared.
func artifacts(s *assembly.Services, h *api.Host) error {
	service, err := s.Artifacts()
	if err != nil {
		return err
	}
	h.URLs = service.URLs
	h.Artifacts = service
	h.Links = s.Links(service)
	h.Exports = s.Exports(service.URLs, h.Surface.Limiter)
	h.Views = s.Files(s.Views(service.URLs, h.Surface.Limiter))
	h.Lockdowns, err = s.Lockdowns()
	return err
}

// callers gives the host what keys, members and OAuth clients ask for about themselves.
func callers(s *assembly.Services, h *api.Host) error {
	var err1, err2, err3, err4, err5 error
	h.Account, err1 = s.Account()
	h.Deletions = s.Deletions()
	h.Keys, err2 = s.Keys()
	h.Provisioning, err3 = s.Provisioning(h.Surface.Limiter)
	h.Claims, err4 = s.Claims()
	h.OAuth, err5 = s.OAuth(h.Surface.Limiter)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	if h.Features.People {
		h.OAuth.Fetcher = s.Fetcher()
	}
	return nil
}

// agents gives the host what agents ask for.
func agents(s *assembly.Services, h *api.Host, log *slog.Logger) error {
	service, err := s.Agents(h.Surface.Limiter)
	if err != nil {
		return err
	}
	h.Agents = service
	if service.Signer != nil {
		h.AssertionKeys = service.Signer.JWKS()
		s.TrustProviders(service, log)
	}
	return nil
}
