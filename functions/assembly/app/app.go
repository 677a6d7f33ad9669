// Package app assembles the app host.
package app

import (
	"errors"
	"log/slog"
	"net/http"
	"os"

	"vitrine/functions/app"
	"vitrine/functions/assembly"
	"vitrine/functions/assembly/payment"
	"vitrine/shared/entry/download"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/anchor"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/live"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

// Handler returns the app host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	limiter := s.Limiter("app")
	h := &app.Host{
		Surface:   s.Public("Vitrine", s.Config.Origins.App, log),
		Origins:   s.Config.Origins,
		Limiter:   limiter,
		Loads:     s.Config.Policy.Loads,
		Now:       s.Config.Now,
		PutOrigin: s.Blobs.PutOrigin(),
		Brand:     s.Config.Policy.Brand,
		Manual:    s.Manual(),
		NoReports: !s.Config.Policy.ReportAbuse,

		AccountsOnly: !s.Config.Policy.Anonymous,
	}
	if s.Config.Root != "" {
		h.Programs = os.DirFS(s.Config.Root)
	}
	if err := s.Config.BillingError; err != nil { // the host works without the page of the plan
		log.Error("billing", "error", err)
	}
	if s.Config.Policy.SignIn.Operators && s.Config.OIDC.Issuer == "" { // a new deployment has its user pool only later
		log.Error("policy", "error", "sign_in lets in operators only, and no identity provider names them: set "+env.OIDCIssuer)
	}
	if err := errors.Join(artifacts(s, h, limiter), people(s, h, limiter)); err != nil {
		return nil, err
	}
	if s.Config.Billing.Sells() {
		service := payment.Service(s)
		h.Billing, h.Operators.Plans = service, service
	}
	return h.Handler(), nil
}

// artifacts adds the services for publishing and sharing to the host, and those with which operators oversee them.
func artifacts(s *assembly.Services, h *app.Host, limiter *rate.Limiter) error {
	service, err := s.Artifacts()
	if err != nil {
		return err
	}
	h.Artifacts = service
	h.Uploads = s.Uploads()
	h.Links = s.Links(service)
	h.Exports = s.Exports(service.URLs, limiter)
	views := s.Views(service, limiter)
	views.Bytes = s.Blobs // what a thread is about is looked up in the file
	h.Views = views
	threads := s.Feedback(service, views, limiter)
	threads.Anchors = anchor.Checker{}
	h.Feedback = threads
	signing, err1 := s.Config.Rings.Pepper.Derive("pow-feedback")
	peppers, err2 := s.Peppers()
	h.Guests = &feedback.Guests{
		Service:   threads,
		Gate:      gate(s, limiter, signing),
		States:    s.Stores.Artifacts,
		Addresses: service.URLs,
		Peppers:   peppers,
	}
	h.Live = &live.Service{
		Store:     s.Stores.Artifacts,
		Pointers:  views,
		Addresses: service.URLs,
		Limiter:   limiter,
		Now:       s.Config.Now,
	}
	h.Comparisons = s.Comparisons(service)
	h.Downloads = &download.Service{
		Objects: s.Blobs,
		Limiter: limiter,
		Limits:  &s.Config.Limits,
		Peppers: peppers,
		Now:     s.Config.Now,
	}
	return errors.Join(err1, err2, oversight(s, h, service, limiter))
}
