// Package app assembles the app host.
package app

import (
	"errors"
	"log/slog"
	"net/http"

	"vitrine/functions/app"
	"vitrine/shared/boot"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/rate"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Handler is the app host of a deployment.
func Handler(s *boot.Services, log *slog.Logger) (http.Handler, error) {
	addresses, err := s.Addresses()
	if err != nil {
		return nil, err
	}
	o, limiter := s.Config.Origins, s.Limiter("app")
	h := &app.Host{
		Surface:    s.Public("Vitrine", o.App, log),
		ContentURL: o.Content,
		AppURL:     o.App,
		APIURL:     o.API,
	}
	if err := people(s, h, limiter, addresses); err != nil {
		return nil, err
	}
	return h.Handler(), nil
}

// people gives the host what visitors and members need.
func people(s *boot.Services, h *app.Host, limiter *rate.Limiter, addresses *address.URLBuilder) error {
	desk, err := s.Desk(limiter)
	if err != nil {
		return err
	}
	agents, err := s.Agents(limiter)
	if err != nil {
		return err
	}
	claimer, err := s.Claimer()
	if err != nil {
		return err
	}
	server, err := s.Authorization(limiter)
	if err != nil {
		return err
	}
	lister, err := s.Lister()
	if err != nil {
		return err
	}
	keeper, err1 := s.Keeper()
	auditor, err2 := s.Auditor()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	h.Links = s.Viewer(addresses, limiter)
	h.Sessions = s.Sessions()
	h.SignIns = desk
	h.Agents = agents
	h.Claims = claimer
	h.Apps = server
	h.Refusals = server
	h.Devices = server
	h.Keys = keeper
	h.Accounts = s.Accounts()
	h.Counter = limiter
	h.Now = s.Config.Now
	h.Settings, h.Audits = s.Steward(), auditor
	sharer := s.Sharer(addresses, lister)
	h.Artifacts = lister
	h.Revisions = lister.Store
	h.History = s.Historian()
	h.Views = s.Viewer(addresses, limiter)
	h.Pins = s.Pinner(lister)
	h.Titles = s.Renamer()
	h.Deletions = s.Deleter()
	h.Restores = s.Restorer()
	h.Sharing = sharer
	h.LinkLists = sharer
	h.Reach = sharer
	h.ConnectedAgents, h.ConnectedApps = agents, server
	return nil
}
