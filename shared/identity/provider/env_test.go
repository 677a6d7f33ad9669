package provider

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

const (
	issuer   = "https://agents.example"
	alias    = "https://login.agents.example/"
	audience = "https://api.vitrine.test"
)

var at = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// members are those of a header or payload before it is encoded as JSON.
type members map[string]any

// absent takes a member out.
type absent struct{}

func (m members) with(change members) members {
	out := maps.Clone(m)
	for name, v := range change {
		if _, gone := v.(absent); gone {
			delete(out, name)
		} else {
			out[name] = v
		}
	}
	return out
}

func (m members) json(t testing.TB) string {
	t.Helper()
	b, err := json.Marshal(m)
	expect.OK(t, err)
	return string(b)
}

// assertionClaims are those of an assertion that is good at at.
func assertionClaims() members {
	return members{
		"iss":            issuer,
		"sub":            "person-1",
		"aud":            audience,
		"client_id":      "agent-host",
		"jti":            "id-1",
		"iat":            at.Unix(),
		"exp":            at.Add(5 * time.Minute).Unix(),
		"auth_time":      at.Add(-10 * time.Minute).Unix(),
		"email":          "Kim@Example.com",
		"email_verified": true,
	}
}

func eventClaims() members {
	return members{
		"iss":    issuer,
		"aud":    audience,
		"jti":    "event-1",
		"iat":    at.Unix(),
		"sub_id": members{"format": "iss_sub", "iss": issuer, "sub": "person-1"},
		"events": members{contract.EventRevokedAlias: members{}},
	}
}

// signingKey is a private key of a provider, and how it signs.
type signingKey struct {
	kid, alg string
	private  crypto.Signer
}

// sign signs a payload under a header that names the key, with changes.
func (k signingKey) sign(t testing.TB, typ string, claims, header members) string {
	t.Helper()
	head := members{"alg": k.alg, "kid": k.kid, "typ": typ}.with(header)
	return k.signRaw(t, head.json(t), claims.json(t))
}

func (k signingKey) signRaw(t testing.TB, header, payload string) string {
	t.Helper()
	input := encode([]byte(header)) + "." + encode([]byte(payload))
	signature, err := k.signature([]byte(input))
	expect.OK(t, err)
	return input + "." + encode(signature)
}

func (k signingKey) signature(input []byte) ([]byte, error) {
	sum256, sum384 := sha256.Sum256(input), sha512.Sum384(input)
	switch private := k.private.(type) {
	case ed25519.PrivateKey:
		return private.Sign(rand.Reader, input, crypto.Hash(0))
	case *ecdsa.PrivateKey:
		sum := sum256[:]
		if private.Curve == elliptic.P384() {
			sum = sum384[:]
		}
		r, s, err := ecdsa.Sign(rand.Reader, private, sum)
		size := private.Curve.Params().BitSize / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...), err
	case *rsa.PrivateKey:
		if k.alg == "PS256" {
			return private.Sign(rand.Reader, sum256[:], &rsa.PSSOptions{SaltLength: 32, Hash: crypto.SHA256})
		}
		return private.Sign(rand.Reader, sum256[:], crypto.SHA256)
	}
	return nil, errors.New("no such key")
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newEC(t testing.TB, kid string) signingKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.OK(t, err)
	return signingKey{kid, "ES256", private}
}

// signingKeys are keys of all kinds by their algorithm. They are made once, because RSA takes its time.
var signingKeys = sync.OnceValue(func() map[string]signingKey {
	p256, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p384, err2 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	_, ed, err3 := ed25519.GenerateKey(rand.Reader)
	long, err4 := rsa.GenerateKey(rand.Reader, 2048)
	short, err5 := rsa.GenerateKey(rand.Reader, 1024)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		panic(err)
	}
	return map[string]signingKey{
		"ES256": {"ec", "ES256", p256},
		"ES384": {"ec3", "ES384", p384},
		"EdDSA": {"ed", "EdDSA", ed},
		"RS256": {"rsa", "RS256", long},
		"PS256": {"rsa", "PS256", long},
		"weak":  {"weak", "RS256", short},
	}
})

// publish returns a key set.
func publish(t testing.TB, keys ...signingKey) []byte {
	t.Helper()
	var set jose.JSONWebKeySet
	for _, k := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.private.Public(), KeyID: k.kid})
	}
	b, err := json.Marshal(set)
	expect.OK(t, err)
	return b
}

// fakeDocuments answers with what is set, and counts.
type fakeDocuments struct {
	mu    sync.Mutex
	body  []byte
	life  time.Duration
	err   error
	reads map[string]int
	began chan struct{} // gets a value when a read begins, if set
	block chan struct{} // a read waits for it, if set
}

func (f *fakeDocuments) Get(ctx context.Context, url string, _ int) ([]byte, time.Duration, error) {
	f.mu.Lock()
	if f.reads == nil {
		f.reads = map[string]int{}
	}
	f.reads[url]++
	began, block := f.began, f.block
	f.mu.Unlock()
	if began != nil {
		began <- struct{}{}
	}
	if block != nil {
		<-block
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.body, f.life, errors.Join(f.err, ctx.Err())
}

func (f *fakeDocuments) set(body []byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.body, f.err = body, err
}

func (f *fakeDocuments) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, reads := range f.reads {
		n += reads
	}
	return n
}

// env is a verifier that trusts one provider, with a clock.
type env struct {
	*Verifier
	*fakeDocuments
	at  time.Time
	key signingKey
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{fakeDocuments: &fakeDocuments{}, at: at, key: signingKeys()["ES256"]}
	e.body = publish(t, e.key)
	e.Verifier = &Verifier{
		Providers: []Provider{aProvider()},
		Documents: e.fakeDocuments,
		Audience:  audience,
		Now:       func() time.Time { return e.at },
	}
	return e
}

func aProvider() Provider {
	return Provider{
		Issuer:     issuer,
		Aliases:    []string{alias},
		Name:       "Agents",
		ClientIDs:  []string{"agent-host", "agent-cli"},
		JWKS:       issuer + "/.well-known/jwks.json",
		Algorithms: []string{"ES256", "RS256"},
		Provision:  true,
		MaxAuthAge: time.Hour,
	}
}

// assertion signs one with the key of the environment, with changes.
func (e *env) assertion(t testing.TB, change members) string {
	t.Helper()
	return e.key.sign(t, contract.AssertionType, assertionClaims().with(change), nil)
}

// wantCode fails unless an error is a refusal with a code; an empty code stands for none.
func wantCode(t *testing.T, err error, code fault.OAuthCode) {
	t.Helper()
	if err == nil && code == "" {
		return
	}
	refusal, ok := errors.AsType[*fault.OAuthError](err)
	if !ok || refusal.Code != code {
		t.Errorf("%v, want %q", err, code)
	}
}
