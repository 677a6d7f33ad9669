package main

import (
	"fmt"
	"regexp"

	"vitrine/shared/platform/env"
)

// billing is the account at Stripe. The zero value has no account and turns billing off.
type billing struct {
	Key           string // ARN of the secret with the API key
	WebhookSecret string // ARN of the secret that signs webhooks
	PriceMonth    string
	PriceYear     string
}

func (b billing) on() bool { return b != billing{} }

// settings returns the settings of a host that talks to Stripe, without the secret of the webhook.
func (b billing) settings() map[string]string {
	return map[string]string{
		env.StripeKey:        b.Key,
		env.StripePriceMonth: b.PriceMonth,
		env.StripePriceYear:  b.PriceYear,
		env.StripeURL:        "", // empty, but declared so that tests can set it: functions see declared variables only
	}
}

// billingSettings returns the settings that a host gets; nil if it does not talk to Stripe.
func (h host) billingSettings(b billing) map[string]string {
	if !h.sells {
		return nil
	}
	all := b.settings()
	if h.hears {
		all[env.StripeWebhookSecret] = b.WebhookSecret
	}
	return all
}

var priceShape = regexp.MustCompile(`^[A-Za-z0-9_]{1,255}$`)

// readBilling reads the account at Stripe. It refuses a partial one, because billing needs all four values.
func readBilling(c lookup) (billing, error) {
	b := billing{
		Key:           c.text("stripe-key", ""),
		WebhookSecret: c.text("stripe-webhook-secret", ""),
		PriceMonth:    c.text("stripe-price-month", ""),
		PriceYear:     c.text("stripe-price-year", ""),
	}
	if !b.on() {
		return b, nil
	}
	for _, secret := range []struct{ name, arn string }{
		{"stripe-key", b.Key}, {"stripe-webhook-secret", b.WebhookSecret},
	} {
		if !secretShape.MatchString(secret.arn) {
			return b, fmt.Errorf("the context %s is the whole ARN of a secret in Secrets Manager, not %q", secret.name,
				secret.arn)
		}
	}
	for _, price := range []struct{ name, id string }{
		{"stripe-price-month", b.PriceMonth}, {"stripe-price-year", b.PriceYear},
	} {
		if !priceShape.MatchString(price.id) {
			return b, fmt.Errorf("the context %s is the id of a price at Stripe, not %q", price.name, price.id)
		}
	}
	return b, nil
}
