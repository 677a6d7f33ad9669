package stripe

import (
	"encoding/json"
	"strings"

	"github.com/stripe/stripe-go/v85/webhook"

	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// event holds those fields of an event that are used.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Object struct {
			ID     string `json:"id"`
			Object string `json:"object"`
		} `json:"object"`
	} `json:"data"`
}

// aboutSubscription is the prefix of the event types that are acted upon.
const aboutSubscription = "customer.subscription."

// Read implements billing.Events. It accepts any API version of an event, because it reads only the IDs.
func (c *Client) Read(payload []byte, signature string) (billing.Notice, error) {
	err := webhook.ValidatePayloadWithTolerance(payload, signature, c.config.Secret, limits.BillingTolerance)
	if err != nil {
		return billing.Notice{}, fault.Wrap(fault.InvalidRequest, err,
			"the header Stripe-Signature does not fit this body now")
	}
	var e event
	if err := json.Unmarshal(payload, &e); err != nil || !isID(e.ID) {
		return billing.Notice{}, fault.New(fault.InvalidRequest, "this is not an event of Stripe")
	}
	n := billing.Notice{ID: billing.EventID(e.ID)}
	if !strings.HasPrefix(e.Type, aboutSubscription) {
		return n, nil
	}
	if e.Data.Object.Object != "subscription" || !isID(e.Data.Object.ID) {
		return n, fault.New(fault.InvalidRequest, "this event names no subscription")
	}
	n.Subscription = billing.SubscriptionID(e.Data.Object.ID)
	return n, nil
}
