package assertion

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

const issuer = "https://api.vitrine.test"

var at = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func newSigner(t testing.TB, ring keyring.Ring) *Signer {
	t.Helper()
	s, err := New(ring, issuer)
	expect.OK(t, err)
	return s
}

func someClaims() Claims {
	return Claims{
		Registration: id.RegistrationOf(id.NewPublic()),
		Type:         contract.AnonymousType,
		Phase:        PreClaim,
		Scopes:       []string{"read", "publish"},
		Generation:   3,
		Workspace:    id.NewWorkspace(),
		Epoch:        2,
		IssuedAt:     at,
		ExpiresAt:    at.Add(7 * 24 * time.Hour),
	}
}

func sign(t testing.TB, s *Signer, c Claims) string {
	t.Helper()
	text, err := s.Sign(c)
	expect.OK(t, err)
	return text
}

// kidOf returns the key id of the active key.
func kidOf(t testing.TB, s *Signer) string {
	t.Helper()
	header, err := base64.RawURLEncoding.DecodeString(strings.Split(sign(t, s, someClaims()), ".")[0])
	var h struct{ Kid, Typ, Alg string }
	if err != nil || json.Unmarshal(header, &h) != nil || h.Typ != contract.AssertionType || h.Alg != "ES256" {
		t.Fatalf("header %s: %v", header, err)
	}
	return h.Kid
}

func part(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// body returns the payload of an assertion with some members replaced.
func body(t testing.TB, s *Signer, replaced map[string]any) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(sign(t, s, someClaims()), ".")[1])
	var m map[string]any
	if err != nil || json.Unmarshal(raw, &m) != nil {
		t.Fatal(err)
	}
	for name, v := range replaced {
		m[name] = v
	}
	return m
}

func TestWhatIsSignedIsReadBack(t *testing.T) {
	s := newSigner(t, keyring.New().Assertion)
	want := someClaims()
	text := sign(t, s, want)
	got, err := s.Verify(text, at)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v, the claims (-want +got):\n%s", err, diff)
	}
	if again := sign(t, s, want); again == text {
		t.Error("two assertions are the same text")
	}
}

func TestAnAssertionHoldsForItsTimeAndALittleAround(t *testing.T) {
	s := newSigner(t, keyring.New().Assertion)
	c := someClaims()
	text := sign(t, s, c)
	for _, tt := range []struct {
		when string
		at   time.Time
		ok   bool
	}{
		{"long before it was made", at.Add(-time.Minute - time.Second), false},
		{"a little before", at.Add(-59 * time.Second), true},
		{"a little after its end", c.ExpiresAt.Add(59 * time.Second), true},
		{"a minute after its end", c.ExpiresAt.Add(time.Minute), false},
	} {
		if _, err := s.Verify(text, tt.at); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.when, err)
		}
	}
}

func TestT09AnAssertionWithoutSignatureIsRefused(t *testing.T) {
	s := newSigner(t, keyring.New().Assertion)
	parts := strings.Split(sign(t, s, someClaims()), ".")
	none := part(map[string]any{"alg": "none", "typ": contract.AssertionType, "kid": kidOf(t, s)})
	refuse(t, s, map[string]string{
		"alg none":         none + "." + parts[1] + ".",
		"alg none, signed": none + "." + parts[1] + "." + parts[2],
		"empty signature":  parts[0] + "." + parts[1] + ".",
		"no signature":     parts[0] + "." + parts[1],
		"zeros":            parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		"another one's":    parts[0] + "." + parts[1] + "." + strings.Split(sign(t, s, someClaims()), ".")[2],
		"other claims":     parts[0] + "." + part(body(t, s, nil)) + "." + parts[2],
	})
}

func TestT10AnAssertionSignedWithOurPublicKeyAsSecretIsRefused(t *testing.T) {
	s := newSigner(t, keyring.New().Assertion)
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(s.JWKS(), &set); err != nil || len(set.Keys) != 1 {
		t.Fatal(err, len(set.Keys))
	}
	input := part(map[string]any{"alg": "HS256", "typ": contract.AssertionType, "kid": kidOf(t, s)}) + "." +
		part(body(t, s, nil))
	texts := map[string]string{}
	for name, secret := range map[string][]byte{"the key": set.Keys[0], "the key set": s.JWKS()} {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(input))
		texts[name] = input + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil))
	}
	refuse(t, s, texts)
}

func TestT11OnlyKeysOfTheRingCount(t *testing.T) {
	s := newSigner(t, keyring.New().Assertion)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	expect.OK(t, err)
	dropped := newSigner(t, keyring.New().Assertion)
	texts := map[string]string{"the key of another ring": sign(t, dropped, someClaims())}
	for name, kid := range map[string]string{
		"an unknown kid": "as9-abcdefghijkl",
		"a path":         "../../x",
		"10 KB":          strings.Repeat("k", 10<<10),
		"none":           "",
		"ours":           kidOf(t, s),
	} {
		texts["another key, kid "+name] = forge(t, other, body(t, s, nil),
			map[string]any{"kid": kid, "typ": contract.AssertionType})
	}
	jwk := jose.JSONWebKey{Key: &other.PublicKey, Algorithm: "ES256"}
	there, asked := listen(t)
	for name, extra := range map[string]any{"jwk": jwk, "jku": there + "/keys", "x5u": there + "/chain"} {
		texts["its own key as "+name] = forge(t, other, body(t, s, nil),
			map[string]any{"kid": kidOf(t, s), "typ": contract.AssertionType, name: extra})
	}
	refuse(t, s, texts)
	if n := asked.Load(); n != 0 {
		t.Errorf("%d connections were made to where a header points", n)
	}
}

// listen counts connections.
func listen(t testing.TB) (origin string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	expect.OK(t, err)
	t.Cleanup(func() { l.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	return "http://" + l.Addr().String(), connections
}

// forge signs with a foreign key.
func forge(t testing.TB, key *ecdsa.PrivateKey, claims map[string]any, header map[string]any) string {
	t.Helper()
	header["alg"] = "ES256"
	input := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	expect.OK(t, err)
	raw := make([]byte, 64)
	r.FillBytes(raw[:32])
	s.FillBytes(raw[32:])
	return input + "." + base64.RawURLEncoding.EncodeToString(raw)
}

func refuse(t *testing.T, s *Signer, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if c, err := s.Verify(text, at); err == nil || !cmp.Equal(c, Claims{}) {
			t.Errorf("%s: accepted as %+v", name, c)
		}
	}
}

func TestClaimsOfAnotherMeaningAreRefusedEvenUnderOurSignature(t *testing.T) {
	ring := keyring.New().Assertion
	s := newSigner(t, ring)
	key, err := derive(ring.Keys[0].Secret)
	expect.OK(t, err)
	typ := map[string]any{"kid": kidOf(t, s), "typ": contract.AssertionType}
	if _, err := s.Verify(forge(t, key, body(t, s, nil), typ), at); err != nil {
		t.Fatal("the unchanged claims are refused:", err)
	}
	texts := map[string]string{}
	for name, replaced := range map[string]map[string]any{
		"another issuer":          {"iss": "https://elsewhere.test"},
		"issuer with slash":       {"iss": issuer + "/"},
		"another audience":        {"aud": "https://elsewhere.test"},
		"audience as list":        {"aud": []string{issuer}},
		"no subject":              {"sub": ""},
		"subject of another kind": {"sub": string(id.NewMember())},
		"no jti":                  {"jti": ""},
		"no iat":                  {"iat": 0},
		"iat as text":             {"iat": "1"},
		"no exp":                  {"exp": 0},
		"exp as a broken number":  {"exp": 1e300},
	} {
		texts[name] = forge(t, key, body(t, s, replaced), typ)
	}
	for _, other := range []string{
		"JWT", "jwt", "secevent+jwt", "", "OAUTH-ID-JAG+JWT", "application/" + contract.AssertionType,
	} {
		texts["typ "+other] = forge(t, key, body(t, s, nil), map[string]any{"kid": kidOf(t, s), "typ": other})
	}
	refuse(t, s, texts)
}

func TestAnAssertionHasOneSpelling(t *testing.T) {
	s := newSigner(t, keyring.New().Assertion)
	text := sign(t, s, someClaims())
	last := strings.IndexByte(base64url, text[len(text)-1])
	texts := map[string]string{
		"a line end":        text + "\n",
		"a line end inside": text[:20] + "\n" + text[20:],
		"a space":           " " + text,
		"padding":           text + "=",
		"stray bits":        text[:len(text)-1] + string(base64url[last^1]),
		"a fourth part":     text + ".",
		"more than 16 KB":   text + strings.Repeat("A", maxToken),
		"empty":             "",
		"dots":              "..",
		"JSON": fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, strings.Split(text, ".")[1],
			strings.Split(text, ".")[0], strings.Split(text, ".")[2]),
	}
	refuse(t, s, texts)
}

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func TestKeysRotateWithoutBreakingAssertions(t *testing.T) {
	first, second := keyring.New().Assertion.Keys[0], keyring.New().Assertion.Keys[0]
	ring := func(active byte, one, two string) keyring.Ring {
		a, b := first, second
		a.State = one
		b.ID = 2
		b.State = two
		return keyring.Ring{ActiveID: active, Keys: []keyring.Key{a, b}}
	}
	before, staged := newSigner(t, keyring.Ring{ActiveID: 1, Keys: []keyring.Key{first}}), newSigner(t,
		ring(1, keyring.Active, keyring.Next))
	flipped := newSigner(t, ring(2, keyring.Verify, keyring.Active))
	old, young := sign(t, before, someClaims()), sign(t, flipped, someClaims())
	for name, s := range map[string]*Signer{"staged": staged, "flipped": flipped} {
		for _, text := range []string{old, young} {
			if _, err := s.Verify(text, at); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := before.Verify(young, at); err == nil {
		t.Error("a key that the ring does not hold counts")
	}
	if kidOf(t, before) != kidOf(t, staged) || kidOf(t, staged) == kidOf(t, flipped) {
		t.Error("a key does not keep its name, or another has it")
	}
}

func TestAllKeysOfTheRingArePublishedWithoutTheirSecrets(t *testing.T) {
	one, two := keyring.New().Assertion, keyring.New().Assertion.Keys[0]
	two.ID, two.State = 2, keyring.Next
	one.Keys = append(one.Keys, two)
	s := newSigner(t, one)
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(s.JWKS(), &set); err != nil || len(set.Keys) != 2 {
		t.Fatalf("%s: %v", s.JWKS(), err)
	}
	for _, k := range set.Keys {
		if len(k) != 7 || k["kty"] != "EC" || k["crv"] != "P-256" || k["alg"] != "ES256" || k["use"] != "sig" ||
			k["x"] == "" || k["y"] == "" || len(k["kid"]) != 16 {
			t.Errorf("key %v", k)
		}
	}
}

func TestARingThatCannotSignIsRefused(t *testing.T) {
	lost := keyring.New().Assertion
	lost.ActiveID = 2
	for name, ring := range map[string]keyring.Ring{"empty": {}, "without its active key": lost} {
		if _, err := New(ring, issuer); err == nil {
			t.Errorf("a ring %s is accepted", name)
		}
	}
}

func FuzzVerify(f *testing.F) {
	s := newSigner(f, keyring.New().Assertion)
	text := sign(f, s, someClaims())
	signed := text[:strings.LastIndexByte(text, '.')]
	for _, seed := range []string{
		text, signed + ".", "..", "a.b.c", text + "\n", strings.Repeat(".", 100), `{"payload":"","signatures":[]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, other string) {
		if _, err := s.Verify(other, at); err == nil && !strings.HasPrefix(other, signed+".") {
			t.Errorf("%q is accepted but nobody signed it", other)
		}
	})
}
