package app

import (
	"errors"

	"vitrine/functions/app"
	"vitrine/functions/assembly"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/lookup"
)

// oversight adds the services that take reports of abuse and those that operators work with.
func oversight(s *assembly.Services, h *app.Host, artifacts *artifact.Service, limiter *rate.Limiter) error {
	urls, cursors := artifacts.URLs, artifacts.Cursors
	now := s.Config.Now
	pasted := abuse.Reader{
		Origins: s.Config.Origins,
		Tokens:  []*token.Codec{urls.ContentToken, urls.BundleToken, urls.ViewToken},
	}
	log, err1 := s.Account()
	h.Operators = app.Operators{
		Lockdowns: &lockdown.Service{Store: s.Stores.Lockdowns, Cursors: cursors, Now: now},
		Inbox:     &abuse.Inbox{Store: s.Stores.Reports, Cursors: cursors, Now: now},
		Lookups: &lookup.Service{
			Store:   s.Stores.Lookups,
			Locks:   s.Stores.Lockdowns,
			Reader:  pasted,
			URLs:    urls,
			Marks:   s.Stores.Counters,
			Members: s.Stores.Members,
			Copies:  s.Stores.Copies,
			Now:     now,
		},
		Log:    log,
		Gate:   &ephemeral.Gate{Store: s.Stores.Workspaces, Counters: s.Stores.Counters, Now: now},
		Limits: &s.Config.Limits,
		Policy: s.Config.Policy.Facts(),
	}
	addresses, err2 := s.Peppers()
	signing, err3 := s.Config.Rings.Pepper.Derive("pow-report")
	h.Reports = &abuse.Service{
		Store:     s.Stores.Reports,
		Reader:    pasted,
		Gate:      gate(s, limiter, signing),
		Addresses: addresses,
		Now:       now,
	}
	return errors.Join(err1, err2, err3)
}

// gate returns what asks people without an account for proof of work. keys sign its challenges.
func gate(s *assembly.Services, limiter *rate.Limiter, keys keyring.Derived) *pow.Gate {
	return &pow.Gate{
		Pow:      &pow.Service{Keys: keys, Store: s.Stores.Counters, Now: s.Config.Now},
		Limiter:  limiter,
		Counters: s.Stores.Counters,
		Limits:   &s.Config.Limits,
		Now:      s.Config.Now,
	}
}
