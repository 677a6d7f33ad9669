package provider

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Person is a person that the provider signs in.
type Person struct {
	Email string
	// Subject identifies the person, for people who change their address or share one. If empty it
	// is derived from the address, so that the same address is the same person after a restart.
	Subject string
	// Groups are in the claim cognito:groups; none: there is no claim.
	Groups []string
}

func (p Person) subject() string {
	if p.Subject != "" {
		return p.Subject
	}
	sum := sha256.Sum256([]byte(strings.ToLower(p.Email)))
	return "person-" + hex.EncodeToString(sum[:12])
}

// Hostile is a defect of a token, or of the endpoints that issue it.
type Hostile string

// The defects. A token without one is Honest.
const (
	Honest        Hostile = ""
	WrongNonce    Hostile = "wrong_nonce"
	NoNonce       Hostile = "no_nonce"
	WrongAudience Hostile = "wrong_aud"
	WrongIssuer   Hostile = "wrong_iss"
	AlgNone       Hostile = "alg_none"
	SecretSigned  Hostile = "hs256_secret"  // HS256 with the client's secret
	PublicSigned  Hostile = "hs256_public"  // HS256 with the public key as secret
	UnknownKey    Hostile = "unknown_kid"   // another key, under a new id
	OtherKey      Hostile = "bad_signature" // another key of the same kind, under the provider's key id
	Expired       Hostile = "expired"
	FromFuture    Hostile = "future"
	Old           Hostile = "old" // alive, but issued a while ago
	NoSubject     Hostile = "no_sub"
	OtherParty    Hostile = "wrong_azp"
	ManyAudiences Hostile = "many_aud" // without azp
	Unverified    Hostile = "unverified"
	VerifiedText  Hostile = "verified_text" // email_verified is "true"
	Unsaid        Hostile = "unsaid"        // there is no email_verified
	NoEmail       Hostile = "no_email"
	NoToken       Hostile = "no_token"    // the token endpoint gives no ID token
	Denied        Hostile = "denied"      // the token endpoint refuses the code
	TokenStalls   Hostile = "token_stall" // the token endpoint never answers
	TokenFails    Hostile = "token_500"
)

// idTokenDefects are what can be wrong with an ID token.
var idTokenDefects = defects{
	WrongNonce:    claim("nonce", "another"),
	NoNonce:       claim("nonce", nil),
	WrongAudience: claim("aud", "another"),
	WrongIssuer:   signedDefects[WrongIssuer],
	AlgNone:       signedDefects[AlgNone],
	SecretSigned:  both(member("alg", "HS256"), func(s *statement) { s.key = s.secret }),
	PublicSigned:  signedDefects[PublicSigned],
	UnknownKey:    signedDefects[UnknownKey],
	OtherKey:      signedDefects[OtherKey],
	Expired:       both(moment("iat", -2*tokenLife), moment("exp", -tokenLife)),
	FromFuture:    both(moment("iat", tokenLife), moment("exp", 2*tokenLife)),
	Old:           moment("iat", -tokenLife),
	NoSubject:     claim("sub", nil),
	OtherParty:    claim("azp", "another"),
	ManyAudiences: func(s *statement) { s.claims["aud"] = []any{s.claims["aud"], "another"} },
	Unverified:    assertionDefects[Unverified],
	VerifiedText:  claim("email_verified", "true"),
	Unsaid:        claim("email_verified", nil),
	NoEmail:       both(claim("email", nil), claim("email_verified", nil)),
}

// endpointDefects are those of the token endpoint.
var endpointDefects = []Hostile{NoToken, Denied, TokenStalls, TokenFails}

// Hostilities are all defects of a sign-in.
var Hostilities = slices.Concat(idTokenDefects.names(), endpointDefects)

const tokenLife = 15 * time.Minute

// Mint makes an ID token for the client. algorithm is RS256 (also when empty) or ES256.
func (p *Provider) Mint(who Person, nonce, algorithm string, h Hostile) (string, error) {
	s, err := p.First.statement("JWT", cmp.Or(algorithm, "RS256"))
	if err != nil {
		return "", err
	}
	s.claims, s.secret = p.claims(who, nonce), []byte(p.client.Secret)
	if slices.Contains(endpointDefects, h) {
		h = Honest
	}
	return s.signed(idTokenDefects, h)
}

func (p *Provider) claims(who Person, nonce string) map[string]any {
	now := p.now()
	c := map[string]any{
		"iss":            p.issuer,
		"aud":            p.client.ID,
		"sub":            who.subject(),
		"iat":            now.Unix(),
		"exp":            now.Add(tokenLife).Unix(),
		"auth_time":      now.Unix(),
		"email":          who.Email,
		"email_verified": true,
		"jti":            rand.Text(),
	}
	if nonce != "" {
		c["nonce"] = nonce
	}
	if len(who.Groups) > 0 {
		c["cognito:groups"] = who.Groups
	}
	return c
}

// mint prints an ID token: ?email=, and if wanted sub=, groups= (with commas), nonce=, alg= and hostile=.
func (p *Provider) mint(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	h, ok := hostile(q)
	who := person(q)
	if !ok || !strings.Contains(who.Email, "@") {
		http.Error(w,
			fmt.Sprintf("ask for /mint?email=ada@example.org; sub, groups, nonce, alg and hostile (one of %v) may be added",
				Hostilities), http.StatusBadRequest)
		return
	}
	token, err := p.Mint(who, q.Get("nonce"), q.Get("alg"), h)
	printToken(w, token, err)
}

// groups returns the requested groups: operators, as a rule.
func groups(q url.Values) []string {
	return strings.FieldsFunc(q.Get("groups"), func(r rune) bool { return r == ',' || r == ' ' })
}

func hostile(q url.Values) (Hostile, bool) {
	h := Hostile(q.Get("hostile"))
	return h, h == Honest || slices.Contains(Hostilities, h)
}
