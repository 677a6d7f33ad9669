package assembly

import (
	"os"
	"path/filepath"
	"testing"

	"vitrine/shared/platform/env"
)

// TestPlansAreSoldWithAllSettingsOnly takes one setting away at a time.
func TestPlansAreSoldWithAllSettingsOnly(t *testing.T) {
	variables, _ := environment(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("of the account\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		env.StripeKey:           "file:" + secret,
		env.StripeWebhookSecret: "file:" + secret,
		env.StripePriceMonth:    "price_1",
		env.StripePriceYear:     "price_2",
	}
	sold := func(without string) Config {
		t.Helper()
		c, err := FromEnvironment(t.Context(), func(name string) string {
			if v, given := all[name]; given && name != without {
				return v
			}
			return variables[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := sold(""); !c.Billing.On() || c.Billing.Key != "of the account" || c.BillingError != nil {
		t.Errorf("%+v, %v, want it on, with the account's key", c.Billing, c.BillingError)
	}
	for name := range all {
		if c := sold(name); c.Billing.On() || c.BillingError != nil {
			t.Errorf("plans are sold without %s, %v", name, c.BillingError)
		}
	}
	all[env.StripeKey] = "file:" + secret + ".none"
	if c := sold(""); c.Billing.On() || c.BillingError == nil {
		t.Errorf("plans are sold without a key: %v", c.BillingError)
	}
}
