// Package api assembles the api host.
package api

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"vitrine/functions/api"
	"vitrine/functions/assembly"
	"vitrine/shared/adapter/fetch"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/manual"
	"vitrine/shared/publishing/anchor"
	"vitrine/shared/publishing/lockdown"
)

// Rings are the settings of the key rings that the host needs. With a ring for assertions as well, agents can register.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Handler returns the api host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	surface, err := surface(s, log)
	if err != nil {
		return nil, err
	}
	h := &api.Host{
		Surface:  surface,
		Features: s.Features(),
		Loads:    s.Config.Policy.Loads,
		Limits:   &s.Config.Limits,
	}
	if err := errors.Join(artifacts(s, h), callers(s, h), agents(s, h, log)); err != nil {
		return nil, err
	}
	if err := s.Config.BillingError; err != nil { // the host works without billing
		log.Error("billing", "error", err)
	}
	h.Billing = Billing(s)
	return h.Handler(), nil
}

// surface returns the server for callers with API keys, and for members on the routes that require them.
func surface(s *assembly.Services, log *slog.Logger) (*web.Server, error) {
	surface, err1 := s.Guarded("Vitrine API", "api", s.Config.Origins.API, log)
	here, err2 := s.MemberAccess(s.Config.Origins.API, false)
	there, err3 := s.MemberAccess(s.Config.Origins.Delegated(), true)
	surface.Headers = map[string]string{manual.VersionHeader: s.Manual().Version()}
	surface.AuthenticateMember, surface.AuthenticateMCP = here.Authenticate, there.Authenticate
	return surface, errors.Join(err1, err2, err3)
}

// artifacts adds the services for publishing and sharing to the host.
func artifacts(s *assembly.Services, h *api.Host) error {
	service, err := s.Artifacts()
	if err != nil {
		return err
	}
	h.URLs = service.URLs
	h.Artifacts = service
	h.Links = s.Links(service)
	h.Exports = s.Exports(service.URLs, h.Surface.Limiter)
	h.Views = s.Views(service, h.Surface.Limiter)
	h.Views.Bytes = s.Blobs
	h.Feedback = s.Feedback(service, h.Views, h.Surface.Limiter)
	h.Feedback.Anchors = anchor.Checker{}
	h.Lockdowns = &lockdown.Service{Store: s.Stores.Lockdowns, Cursors: service.Cursors, Now: s.Config.Now}
	return nil
}

// callers adds the services that tell API keys, members and OAuth clients about themselves.
func callers(s *assembly.Services, h *api.Host) error {
	var err1, err2, err3, err4, err5 error
	h.Account, err1 = s.Account()
	h.Deletions = &deletion.Service{Store: s.Stores.Deletions, Now: s.Config.Now}
	h.Keys, err2 = s.Keys()
	h.Provisioning, err3 = s.Provisioning(h.Surface.Limiter)
	h.Claims, err4 = s.Claims()
	h.OAuth, err5 = s.OAuth(h.Surface.Limiter)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	if h.Features.People {
		h.OAuth.Fetcher = fetcher(s)
	}
	return nil
}

// fetcher returns the client that reads metadata documents of OAuth clients and keys of agents' identity providers.
// documentTimeout is for reading a document; the rest of limits.IdentityAnswer is for the tables.
const documentTimeout = 2200 * time.Millisecond

func fetcher(s *assembly.Services) *fetch.Client {
	return fetch.New(documentTimeout, s.Config.FetchOrigins)
}
