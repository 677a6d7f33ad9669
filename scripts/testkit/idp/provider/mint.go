package provider

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
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
	NoEmail       Hostile = "no_email"
	NoToken       Hostile = "no_token"    // the token endpoint gives no ID token
	Denied        Hostile = "denied"      // the token endpoint refuses the code
	TokenStalls   Hostile = "token_stall" // the token endpoint never answers
	TokenFails    Hostile = "token_500"
)

// Hostilities are all of them.
var Hostilities = []Hostile{
	WrongNonce, NoNonce, WrongAudience, WrongIssuer, AlgNone, SecretSigned, PublicSigned, UnknownKey, OtherKey, Expired,
	FromFuture, Old, NoSubject,
	OtherParty, ManyAudiences, Unverified, VerifiedText, NoEmail, NoToken, Denied, TokenStalls, TokenFails,
}

const tokenLife = 15 * time.Minute

// Mint makes an ID token for the client. algorithm is RS256 (also when empty) or ES256.
func (p *Provider) Mint(who Person, nonce, algorithm string, h Hostile) (string, error) {
	payload, err := json.Marshal(p.claims(who, nonce, h))
	if err != nil {
		return "", err
	}
	if algorithm == "" {
		algorithm = "RS256"
	}
	key, err := p.First.signing(algorithm)
	if err != nil {
		return "", err
	}
	switch h {
	case AlgNone:
		encode := base64.RawURLEncoding.EncodeToString
		return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(payload) + ".", nil
	case SecretSigned:
		key.Key, key.Algorithm = []byte(p.client.Secret), "HS256"
	case PublicSigned:
		der, err := x509.MarshalPKIXPublicKey(key.Public().Key)
		if err != nil {
			return "", err
		}
		key.Key, key.Algorithm = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "HS256"
	case UnknownKey, OtherKey:
		if key, err = foreignKey(key, h); err != nil {
			return "", err
		}
	}
	return sign(key, payload)
}

// foreignKeys are keys that no provider publishes.
var foreignKeys = sync.OnceValues(makeKeys)

// foreignKey replaces the provider's key. It fits the algorithm, so that only the signature, or the
// key id, is wrong.
func foreignKey(ours jose.JSONWebKey, h Hostile) (jose.JSONWebKey, error) {
	all, err := foreignKeys()
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	key, err := all.signing(ours.Algorithm)
	if key.KeyID = ours.KeyID; h == UnknownKey {
		key.KeyID = "unknown"
	}
	return key, err
}

func sign(key jose.JSONWebKey, payload []byte) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return jws.CompactSerialize()
}

func (p *Provider) claims(who Person, nonce string, h Hostile) map[string]any {
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
		"nonce":          nonce,
		"jti":            rand.Text(),
	}
	changes := map[Hostile]map[string]any{
		WrongNonce:    {"nonce": "another"},
		NoNonce:       {"nonce": nil},
		WrongAudience: {"aud": "another"},
		WrongIssuer:   {"iss": "http://localhost:1"},
		Expired:       {"iat": now.Add(-2 * tokenLife).Unix(), "exp": now.Add(-tokenLife).Unix()},
		FromFuture:    {"iat": now.Add(tokenLife).Unix(), "exp": now.Add(2 * tokenLife).Unix()},
		Old:           {"iat": now.Add(-tokenLife).Unix()},
		NoSubject:     {"sub": nil},
		OtherParty:    {"azp": "another"},
		ManyAudiences: {"aud": []string{p.client.ID, "another"}},
		Unverified:    {"email_verified": false},
		VerifiedText:  {"email_verified": "true"},
		NoEmail:       {"email": nil, "email_verified": nil},
	}
	if nonce == "" {
		delete(c, "nonce")
	}
	if len(who.Groups) > 0 {
		c["cognito:groups"] = who.Groups
	}
	for name, v := range changes[h] {
		if c[name] = v; v == nil {
			delete(c, name)
		}
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
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	printToken(w, token, nil)
}

// groups returns the requested groups: operators, as a rule.
func groups(q url.Values) []string {
	return strings.FieldsFunc(q.Get("groups"), func(r rune) bool { return r == ',' || r == ' ' })
}

func hostile(q url.Values) (Hostile, bool) {
	h := Hostile(q.Get("hostile"))
	return h, h == Honest || slices.Contains(Hostilities, h)
}
