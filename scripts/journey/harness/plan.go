package harness

import (
	"net/http/httptest"
	"testing"
	"time"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/stripe"
)

// NewSeller starts a stand-in for Stripe. The option makes a deployment sell plans there. For mockURL see stripe.New.
func NewSeller(t testing.TB, mockURL string) (*stripe.Standin, func(*stack.Options)) {
	t.Helper()
	standin := stripe.New(time.Now(), mockURL)
	server := httptest.NewServer(standin)
	t.Cleanup(server.Close)
	standin.At(server.URL)
	return standin, func(o *stack.Options) {
		o.Billing = assembly.Billing{
			Key:           stripe.Key,
			WebhookSecret: stripe.Secret,
			Monthly:       stripe.Monthly,
			Yearly:        stripe.Yearly,
			URL:           server.URL,
		}
	}
}
