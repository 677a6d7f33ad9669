package provider

import (
	"cmp"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	assertionType = "oauth-id-jag+jwt" // draft-ietf-oauth-identity-assertion-authz-grant
	assertionLife = 5 * time.Minute
)

// Assertion describes an ID-JAG. Zero fields have defaults.
type Assertion struct {
	Person    Person
	Algorithm string        // ES256 or RS256
	Scope     string        // "read publish"
	SignedIn  time.Duration // how long ago the person signed in
	Hostile   Hostile
}

func (a Assertion) claims(i *Issuer) map[string]any {
	now := i.now()
	return map[string]any{
		"iss":            i.URL,
		"sub":            a.Person.subject(),
		"aud":            i.audience,
		"client_id":      i.ClientID,
		"jti":            rand.Text(),
		"iat":            now.Unix(),
		"exp":            now.Add(assertionLife).Unix(),
		"auth_time":      now.Add(-a.SignedIn).Unix(),
		"email":          a.Person.Email,
		"email_verified": true,
		"scope":          cmp.Or(a.Scope, "read publish"),
	}
}

// The defects of assertions and events that ID tokens do not have.
const (
	WrongType      Hostile = "wrong_typ" // that of an ID token
	OwnKey         Hostile = "jwk"       // brings its key along
	OwnIssuer      Hostile = "our_iss"   // the service's own issuer
	TwoAudiences   Hostile = "two_aud"
	LongLife       Hostile = "long_life" // a year
	OldLogin       Hostile = "old_login" // two hours
	WrongClient    Hostile = "wrong_client"
	WrongScope     Hostile = "wrong_scope"
	UnknownEvent   Hostile = "unknown_event" // to be taken and ignored
	ForeignSubject Hostile = "sub_iss"       // of another issuer
)

// assertionDefects are what can be wrong with an assertion, one for each attack. The service's own tests know more.
var assertionDefects = with(signedDefects, defects{
	LongLife:    moment("exp", 365*24*time.Hour),
	Expired:     both(moment("iat", -20*time.Minute), moment("exp", -15*time.Minute)),
	OldLogin:    moment("auth_time", -2*time.Hour),
	WrongClient: claim("client_id", "a-stranger"),
	Unverified:  claim("email_verified", false),
	WrongScope:  claim("scope", "admin"),
})

// signedDefects are those that assertions and events share.
var signedDefects = defects{
	AlgNone:       both(member("alg", "none"), func(s *statement) { s.key = nil }),
	PublicSigned:  both(member("alg", "HS256"), func(s *statement) { s.key = s.publicPEM() }),
	UnknownKey:    both(foreign, member("kid", "unknown")),
	OtherKey:      foreign,
	OwnKey:        both(foreign, func(s *statement) { s.header["jwk"] = s.foreignJWK() }),
	WrongType:     member("typ", "JWT"),
	WrongIssuer:   claim("iss", "http://localhost:1"),
	OwnIssuer:     func(s *statement) { s.claims["iss"] = s.issuer.audience },
	WrongAudience: claim("aud", "https://another.example"),
	TwoAudiences:  func(s *statement) { s.claims["aud"] = []string{s.issuer.audience, "https://another.example"} },
}

// AssertionDefects lists what can be wrong with an assertion.
func AssertionDefects() []Hostile { return assertionDefects.names() }

// EventDefects lists what can be wrong or odd with a security event.
func EventDefects() []Hostile { return eventDefects.names() }

// with joins two sets.
func with(a, b defects) defects {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// foreign signs with a key of the same kind that is not published.
func foreign(s *statement) {
	all, err := foreignKeys()
	if err != nil {
		return
	}
	if key, err := all.signing(s.header["alg"].(string)); err == nil {
		s.key = key.Key
	}
}

// foreignJWK is the public part of the key that signs.
func (s *statement) foreignJWK() jose.JSONWebKey {
	private := jose.JSONWebKey{Key: s.key, Algorithm: s.header["alg"].(string)}
	return private.Public()
}

// publicPEM is the public key as text, which some verifiers take for a shared secret.
func (s *statement) publicPEM() []byte {
	private := jose.JSONWebKey{Key: s.key}
	der, err := x509.MarshalPKIXPublicKey(private.Public().Key)
	if err != nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

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
