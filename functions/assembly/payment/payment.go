// Package payment assembles billing at Stripe, for the hosts that link Stripe's client.
package payment

import (
	"vitrine/functions/assembly"
	"vitrine/shared/adapter/stripe"
	"vitrine/shared/identity/billing"
)

// Service returns the service that follows subscriptions at Stripe. Only a host with the secret for events can verify
// them.
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
