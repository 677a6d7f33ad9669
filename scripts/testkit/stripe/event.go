package stripe

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"
)

// tell records the event of a change, with the subscription as it is now.
func (s *Standin) tell(kind string, x *subscription) {
	s.record(kind, x.id, x.object())
}

func (s *Standin) record(kind, sub string, about object) {
	e := Event{ID: s.name("evt"), Type: kind, Subscription: sub}
	e.Payload, _ = json.Marshal(object{
		"id":               e.ID,
		"object":           "event",
		"api_version":      stripe.APIVersion,
		"created":          s.now.Unix(),
		"type":             kind,
		"livemode":         false,
		"pending_webhooks": 1,
		"request":          nil,
		"data":             object{"object": about},
	})
	s.events, s.made = append(s.events, e), append(s.made, e)
}

// Other makes an event that is about something else than a subscription.
func (s *Standin) Other(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(kind, "", s.invoiceObject(invoice{id: s.name("in"), customer: "cus_other", at: s.now, amount: cents(Monthly)}))
}

// Events returns the events that were made since it was called last, oldest first. None is sent by itself, so that a
// test chooses when and how often.
func (s *Standin) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	made := slices.Clone(s.events)
	s.events = nil
	return made
}

// Sign returns the header of a payload that is signed at an instant with a secret.
func Sign(payload []byte, at time.Time, secret string) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{
		Payload:   payload,
		Secret:    secret,
		Timestamp: at,
	}).Header
}
