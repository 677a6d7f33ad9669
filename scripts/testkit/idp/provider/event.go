package provider

import (
	"cmp"
	"crypto/rand"
	"time"
)

// RevokedEvent is the type of the event that ends what an issuer's agents may do for a person.
const RevokedEvent = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"

const (
	eventType  = "secevent+jwt" // RFC 8417
	otherEvent = "https://schemas.openid.net/secevent/risc/event-type/account-enabled"
)

// Event describes a security event token. Zero fields have defaults.
type Event struct {
	Person    Person
	Type      string // RevokedEvent
	ID        string // jti, to send another event under the same one
	Algorithm string // ES256 or RS256
	Hostile   Hostile
}

// claims have no expiry: RFC 8417 advises against it.
func (e Event) claims(i *Issuer) map[string]any {
	return map[string]any{
		"iss": i.URL,
		"aud": i.audience,
		"jti": cmp.Or(e.ID, rand.Text()),
		"iat": i.now().Unix(),
		"sub_id": map[string]any{
			"format": "iss_sub",
			"iss":    i.URL,
			"sub":    e.Person.subject(),
		},
		"events": map[string]any{cmp.Or(e.Type, RevokedEvent): map[string]any{}},
	}
}

// eventDefects are what can be wrong with an event.
var eventDefects = with(signedDefects, defects{
	FromFuture:     moment("iat", time.Hour),
	UnknownEvent:   claim("events", map[string]any{otherEvent: map[string]any{}}),
	ForeignSubject: func(s *statement) { s.claims["sub_id"].(map[string]any)["iss"] = "https://another.example" },
})
