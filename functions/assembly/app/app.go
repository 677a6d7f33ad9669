// Package app assembles the app host.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"

	"vitrine/functions/app"
	"vitrine/functions/assembly"
	"vitrine/functions/assembly/payment"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/rate"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Handler is the app host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	limiter := s.Limiter("app")
	h := &app.Host{
		Surface:  s.Public("Vitrine", s.Config.Origins.App, log),
		Origins:  s.Config.Origins,
		Limiter:  limiter,
		Sessions: s.Sessions(),
		Now:      s.Config.Now,
	}
	if s.Config.Root != "" {
		h.Programs = os.DirFS(s.Config.Root)
	}
	h.Deletions = deletions{s.Deletions(), s.Sessions()}
	if err := s.Config.BillingError; err != nil { // there is no page for it then
		log.Error("billing", "error", err)
	}
	if err := errors.Join(artifacts(s, h, limiter), people(s, h, limiter)); err != nil {
		return nil, err
	}
	return h.Handler(), nil
}

// artifacts gives the host what is published and shared.
func artifacts(s *assembly.Services, h *app.Host, limiter *rate.Limiter) error {
	service, err := s.Artifacts()
	if err != nil {
		return err
	}
	h.Artifacts = service
	h.Links = s.Links(service)
	h.Exports = s.Exports(service.URLs, limiter)
	views := s.Views(service.URLs, limiter)
	h.Views = views
	h.Live = s.Live(views)
	h.Comparisons = s.Comparisons(service)
	reports, err1 := s.Reports(service.URLs, limiter)
	h.Reports = reports
	h.Operators.Lookups = s.Lookups(service.URLs)
	return errors.Join(err1, oversight(s, h))
}

// oversight gives the host what operators work with, and what sells plans, which they give away.
func oversight(s *assembly.Services, h *app.Host) error {
	locks, err1 := s.Lockdowns()
	inbox, err2 := s.Inbox()
	log, err3 := s.Account()
	h.Operators.Lockdowns = locks
	h.Operators.Inbox = inbox
	h.Operators.Log = log
	h.Operators.Gate = s.Gate()
	h.Operators.Limits = &s.Config.Limits
	if s.Config.Billing.Sells() {
		service := payment.Service(s)
		h.Billing, h.Operators.Plans = service, service
	}
	return errors.Join(err1, err2, err3)
}

// people gives the host what members ask for about themselves, and what asks for their consent.
func people(s *assembly.Services, h *app.Host, limiter *rate.Limiter) error {
	var err2, err3, err4, err6 error
	flow, err1 := s.SignIns(limiter)
	h.SignIns = signIns{flow, s.Takeovers()}
	h.Account, err2 = s.Account()
	h.Keys, err3 = s.Keys()
	h.Claims, err4 = s.Claims()
	registered, err5 := s.Agents(limiter)
	vouched, err7 := s.Delegations()
	h.Agents = agents{registered, vouching{vouched}}
	h.Apps, err6 = s.OAuth(limiter)
	return errors.Join(err1, err2, err3, err4, err5, err6, err7)
}

// signIns signs people in and asks which agents they keep.
type signIns struct {
	*signin.Service
	*signin.Takeovers
}

// agents are those that registered, and those that providers vouch for.
type agents struct {
	*agentauth.Service
	vouching
}

// vouching gives the service another name than that of the agents beside it.
type vouching struct{ *delegation.Service }

// deletions deletes workspaces and finds members of those that are being deleted.
type deletions struct {
	*deletion.Service
	sessions *session.Service
}

// AuthenticateDeleting implements app.Deletions.
func (d deletions) AuthenticateDeleting(
	ctx context.Context, secret, requestID string,
) (session.Authenticated, error) {
	return d.sessions.AuthenticateDeleting(ctx, secret, requestID)
}
