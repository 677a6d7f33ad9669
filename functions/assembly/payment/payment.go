// Package payment assembles billing at Stripe for the hosts that link its client.
package payment

import (
	"vitrine/functions/assembly"
	"vitrine/shared/adapter/stripe"
	"vitrine/shared/identity/billing"
)

// Service follows subscriptions at Stripe, whose events only a host with the secret for them can verify.
func Service(s *assembly.Services) *billing.Service {
	b := s.Config.Billing
	client := stripe.New(stripe.Config{
		Key:     b.Key,
		Secret:  b.WebhookSecret,
		Monthly: b.Monthly,
		Yearly:  b.Yearly,
		URL:     b.URL,
	})
	return &billing.Service{
		Store:         s.Stores.Billing,
		Ledger:        s.Stores.Billing,
		Cashier:       client,
		Subscriptions: client,
		Events:        client,
		Allowance:     s.Stores.Counters,
		App:           s.Config.Origins.App,
		Limits:        &s.Config.Limits,
		Now:           s.Config.Now,
	}
}
