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
func people(s *boot.Services, h *app.Host, limiter *rate.Limiter, addresses *address.Book) error {
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
	h.Links, h.Sessions, h.SignIns, h.Agents, h.Claims = s.Viewer(addresses, limiter), s.Sessions(), desk, agents, claimer
	h.Apps, h.Refusals, h.Devices, h.Keys, h.Accounts, h.Counter, h.Now = server, server, server, keeper, s.Accounts(), limiter, s.Config.Now
	h.Settings, h.Audits = s.Steward(), auditor
	sharer := s.Sharer(addresses, lister)
	h.Artifacts, h.Revisions, h.History, h.Views = lister, lister.Store, s.Historian(), s.Viewer(addresses, limiter)
	h.Pins, h.Titles, h.Deletions, h.Restores = s.Pinner(lister), s.Renamer(), s.Deleter(), s.Restorer()
	h.Sharing, h.LinkLists, h.Reach = sharer, sharer, sharer
	h.ConnectedAgents, h.ConnectedApps = agents, server
	return nil
}
