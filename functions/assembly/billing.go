package assembly

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/platform/env"
)

// Billing is the account at the payment provider. Billing is off unless all of it but URL is set. A host that receives
// no events gets no WebhookSecret.
type Billing struct {
	Key           string // API key at the provider
	WebhookSecret string // secret with which the provider signs events
	Monthly       string // ID of the monthly price
	Yearly        string // ID of the yearly price
	URL           string // of a stand-in for the provider; empty: the provider
}

// On reports whether this host can both sell plans and receive their events.
func (b Billing) On() bool {
	return b.Sells() && b.WebhookSecret != ""
}

// Sells reports whether this host can open pages of the provider.
func (b Billing) Sells() bool { return b.Key != "" && b.Monthly != "" && b.Yearly != "" }

// billingFrom reads the account that the settings describe. It reads secrets only if everything that Sells requires is
// set.
func billingFrom(ctx context.Context, cfg aws.Config, getenv func(string) string) (Billing, error) {
	b := Billing{
		Monthly: getenv(env.StripePriceMonth),
		Yearly:  getenv(env.StripePriceYear),
		URL:     getenv(env.StripeURL),
	}
	key, secret := getenv(env.StripeKey), getenv(env.StripeWebhookSecret)
	if key == "" || b.Monthly == "" || b.Yearly == "" {
		return Billing{}, nil
	}
	var err1, err2 error
	var read sync.WaitGroup
	read.Go(func() { b.Key, err1 = trimmedSecret(ctx, cfg, env.StripeKey, key) })
	if secret != "" {
		read.Go(func() { b.WebhookSecret, err2 = trimmedSecret(ctx, cfg, env.StripeWebhookSecret, secret) })
	}
	read.Wait()
	if err := errors.Join(err1, err2); err != nil {
		return Billing{}, err
	}
	return b, nil
}

// trimmedSecret reads the secret that a setting names. It returns an error for an empty one.
func trimmedSecret(ctx context.Context, cfg aws.Config, name, from string) (string, error) {
	text, err := secretText(ctx, cfg, from)
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = errors.New("the secret is empty")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}
