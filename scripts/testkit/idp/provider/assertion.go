package provider

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	assertionType = "oauth-id-jag+jwt" // draft-ietf-oauth-identity-assertion-authz-grant
	AssertionLife = 5 * time.Minute
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
	scope := a.Scope
	if scope == "" {
		scope = "read publish"
	}
	return map[string]any{
		"iss":            i.URL,
		"sub":            a.Person.subject(),
		"aud":            i.audience,
		"client_id":      i.ClientID,
		"jti":            rand.Text(),
		"iat":            now.Unix(),
		"exp":            now.Add(AssertionLife).Unix(),
		"auth_time":      now.Add(-a.SignedIn).Unix(),
		"email":          a.Person.Email,
		"email_verified": true,
		"scope":          scope,
	}
}

// The defects of assertions and events that ID tokens do not have.
const (
	WrongType       Hostile = "wrong_typ"
	NoType          Hostile = "no_typ"
	IDTokenType     Hostile = "id_token"     // the type of an ID token
	AccessTokenType Hostile = "access_token" // the type of an access token
	EventType       Hostile = "event"        // the type of a security event
	AssertionType   Hostile = "assertion"    // the type of an assertion, for events
	OwnIssuer       Hostile = "our_iss"      // the service's own issuer
	IssuerUserInfo  Hostile = "iss_userinfo"
	IssuerUpperCase Hostile = "iss_upper"
	IssuerSlash     Hostile = "iss_slash"
	TwoAudiences    Hostile = "two_aud"
	NoAudience      Hostile = "no_aud"
	LongLife        Hostile = "long_life" // a year
	OldLogin        Hostile = "old_login" // two hours
	FutureLogin     Hostile = "future_login"
	NoLogin         Hostile = "no_login"
	NotYet          Hostile = "not_yet" // nbf
	TextTime        Hostile = "text_time"
	WrongClient     Hostile = "wrong_client"
	NoClient        Hostile = "no_client"
	NoID            Hostile = "no_jti"
	WrongResource   Hostile = "wrong_resource"
	WrongScope      Hostile = "wrong_scope"
	Confirmation    Hostile = "cnf"
	Critical        Hostile = "crit"
	RepeatedHeader  Hostile = "duplicate_header"
	RepeatedClaim   Hostile = "duplicate"
	PathKey         Hostile = "kid_path"
	LongKey         Hostile = "kid_long"
	OwnKey          Hostile = "jwk"  // brings its key along
	KeyURL          Hostile = "jku"  // and where it may be fetched
	WrongAlgorithm  Hostile = "alg"  // RS256 for a key that is not
	TooLong         Hostile = "long" // 20 KiB
)

const (
	year     = 365 * 24 * time.Hour
	hour     = time.Hour
	longText = 20 << 10
)

// assertionDefects are what can be wrong with an assertion.
var assertionDefects = with(signatureDefects, defects{
	WrongType:       member("typ", "JWT+x"),
	NoType:          func(s *statement) { delete(s.header, "typ") },
	IDTokenType:     member("typ", "JWT"),
	AccessTokenType: member("typ", "at+jwt"),
	EventType:       member("typ", eventType),
	LongLife:        moment("exp", year),
	FromFuture:      both(moment("iat", hour), moment("exp", hour+AssertionLife)),
	Expired:         both(moment("iat", -hour/4-AssertionLife), moment("exp", -hour/4)),
	Old:             both(moment("iat", -2*hour), moment("exp", AssertionLife)),
	OldLogin:        moment("auth_time", -2*hour),
	FutureLogin:     moment("auth_time", hour),
	NoLogin:         claim("auth_time", nil),
	NotYet:          moment("nbf", hour),
	TextTime:        claim("exp", "tomorrow"),
	WrongClient:     claim("client_id", "a-stranger"),
	NoClient:        claim("client_id", nil),
	NoSubject:       claim("sub", nil),
	Unverified:      claim("email_verified", false),
	VerifiedText:    claim("email_verified", "true"),
	NoEmail:         both(claim("email", nil), claim("email_verified", nil)),
	WrongResource:   claim("resource", "https://another.example"),
	WrongScope:      claim("scope", "admin"),
	Confirmation:    claim("cnf", map[string]any{"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}),
	RepeatedClaim:   func(s *statement) { s.claimsAgain = `"sub":"another"` },
})

// signatureDefects are those of the parts that assertions and events share.
var signatureDefects = defects{
	AlgNone:        both(member("alg", "none"), func(s *statement) { s.key = nil }),
	PublicSigned:   both(member("alg", "HS256"), func(s *statement) { s.key = s.publicPEM() }),
	UnknownKey:     both(foreign, member("kid", "unknown")),
	OtherKey:       foreign,
	PathKey:        member("kid", "../../x"),
	LongKey:        member("kid", strings.Repeat("k", 10<<10)),
	OwnKey:         both(foreign, func(s *statement) { s.header["jwk"] = s.foreignJWK() }),
	KeyURL:         both(foreign, member("kid", "fetched"), member("jku", "http://127.0.0.1:1/keys")),
	WrongAlgorithm: member("alg", "RS512"),
	Critical:       both(member("crit", []string{"odd"}), member("odd", true)),
	RepeatedHeader: func(s *statement) { s.headerAgain = `"alg":"none"` },
	TooLong:        claim("padding", strings.Repeat("x", longText)),
	WrongIssuer:    claim("iss", "http://localhost:1"),
	OwnIssuer:      func(s *statement) { s.claims["iss"] = s.issuer.audience },
	IssuerUserInfo: respelt(func(u string) string { return strings.Replace(u, "://", "://user@", 1) }),
	IssuerUpperCase: respelt(func(u string) string {
		return strings.ToUpper(u[:len("http")]) + u[len("http"):]
	}),
	IssuerSlash:   respelt(func(u string) string { return u + "/" }),
	WrongAudience: claim("aud", "https://another.example"),
	TwoAudiences:  func(s *statement) { s.claims["aud"] = []string{s.issuer.audience, "https://another.example"} },
	NoAudience:    claim("aud", nil),
	NoID:          claim("jti", nil),
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

// respelt names the issuer in another way.
func respelt(spell func(string) string) func(*statement) {
	return func(s *statement) { s.claims["iss"] = spell(s.issuer.URL) }
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
