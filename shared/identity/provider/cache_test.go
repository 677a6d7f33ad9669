package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

var errDown = errors.New("no answer")

// take verifies a good assertion of a key and wants a code; empty: none.
func (e *env) take(t *testing.T, k signingKey, code fault.OAuthCode) {
	t.Helper()
	claims := assertionClaims().with(members{
		"iat":       e.at.Unix(),
		"exp":       e.at.Add(time.Minute).Unix(),
		"auth_time": e.at.Unix(),
	})
	_, err := e.Assertion(t.Context(), k.sign(t, contract.AssertionType, claims, nil))
	wantCode(t, err, code)
}

func (e *env) wantReads(t *testing.T, n int) {
	t.Helper()
	if got := e.count(); got != n {
		t.Errorf("%d readings, want %d", got, n)
	}
}

func TestKeysAreReadOnceForTheirLife(t *testing.T) {
	for told, life := range map[time.Duration]time.Duration{
		0:                10 * time.Minute,
		time.Second:      10 * time.Minute,
		time.Hour:        time.Hour,
		90 * time.Minute: 90 * time.Minute,
		1000 * time.Hour: 24 * time.Hour,
	} {
		e := newEnv(t)
		e.life = told
		e.take(t, e.key, "")
		e.at = at.Add(life - time.Second)
		e.take(t, e.key, "")
		e.wantReads(t, 1)
		e.at = at.Add(life)
		e.take(t, e.key, "")
		e.wantReads(t, 2)
	}
}

func TestT20AFloodOfUnknownKeysReadsTheKeysOnceAMinute(t *testing.T) {
	e := newEnv(t)
	e.life = time.Hour
	flood := func() {
		for n := range 200 {
			e.take(t, newKid(e.key, n), fault.OAuthInvalidSignature)
		}
	}
	flood()
	e.wantReads(t, 1)
	e.at = at.Add(59 * time.Second)
	flood()
	e.take(t, e.key, "")
	e.wantReads(t, 1)
	e.at = at.Add(60 * time.Second)
	flood()
	e.wantReads(t, 2)
}

// newKid returns the key under another id.
func newKid(k signingKey, n int) signingKey {
	k.kid = fmt.Sprintf("random-%d", n)
	return k
}

func TestT20AFloodOfWrongSignaturesReadsNothing(t *testing.T) {
	e := newEnv(t)
	e.take(t, e.key, "")
	forged := newEC(t, e.key.kid)
	for range 50 {
		e.take(t, forged, fault.OAuthInvalidSignature)
	}
	e.wantReads(t, 1)
}

func TestANewKeyIsFoundAtOnceAndTheOldOneGoesOn(t *testing.T) {
	e := newEnv(t)
	next := newEC(t, "next")
	e.take(t, e.key, "")
	e.set(publish(t, e.key, next), nil)
	e.take(t, next, "")
	e.take(t, e.key, "")
	e.wantReads(t, 2)
	// A search was made in this minute, so that a third key waits.
	last := newEC(t, "last")
	e.set(publish(t, next, last), nil)
	e.take(t, last, fault.OAuthInvalidSignature)
	e.take(t, e.key, "")
	e.at = at.Add(time.Minute)
	e.take(t, last, "")
	e.take(t, e.key, fault.OAuthInvalidSignature)
	e.wantReads(t, 3)
}

func TestAKeyThatIsTakenBackEndsWithTheLifeOfTheSet(t *testing.T) {
	e := newEnv(t)
	e.take(t, e.key, "")
	e.set([]byte(`{"keys":[]}`), nil)
	e.take(t, e.key, "")
	e.at = at.Add(10 * time.Minute)
	e.take(t, e.key, fault.OAuthInvalidSignature)
	e.wantReads(t, 2)
}

func TestOldKeysServeForADayWhileNewOnesCannotBeRead(t *testing.T) {
	e := newEnv(t)
	e.take(t, e.key, "")
	e.set([]byte("<html>"), nil)
	e.at = at.Add(10 * time.Minute)
	for range 10 {
		e.take(t, e.key, "")
	}
	e.wantReads(t, 2)
	// Whether an unknown key is a new one cannot be told.
	e.take(t, newEC(t, "next"), fault.OAuthTemporarilyUnavailable)
	e.wantReads(t, 2)
	e.set(nil, errDown)
	e.at = at.Add(11 * time.Minute)
	e.take(t, e.key, "")
	e.wantReads(t, 3)
	e.at = at.Add(24*time.Hour + 10*time.Minute - time.Second)
	e.take(t, e.key, "")
	e.at = at.Add(24*time.Hour + 10*time.Minute)
	e.take(t, e.key, fault.OAuthTemporarilyUnavailable)
}

func TestT21WithoutKeysTheProviderIsUnavailableForHalfAMinute(t *testing.T) {
	e := newEnv(t)
	keys := e.body
	e.set(nil, errDown)
	for range 20 {
		_, err := e.Assertion(t.Context(), e.assertion(t, nil))
		refusal := fault.OAuthErrorOf(err)
		wantCode(t, err, fault.OAuthTemporarilyUnavailable)
		if refusal.RetryAfter != 30*time.Second || !errors.Is(err, errDown) {
			t.Fatalf("%v, wait %s", err, refusal.RetryAfter)
		}
	}
	e.wantReads(t, 1)
	e.set(keys, nil)
	e.at = at.Add(30 * time.Second)
	e.take(t, e.key, "")
	e.wantReads(t, 2)
}

func TestT21ASlowProviderHoldsUpNeitherAnotherNorCallersThatLeave(t *testing.T) {
	e := newEnv(t)
	slow := aProvider()
	slow.Issuer = "https://slow.example"
	slow.Aliases = nil
	slow.JWKS = "https://slow.example/keys"
	e.Providers = append(e.Providers, slow)
	e.take(t, e.key, "") // the keys of the first provider are there

	e.block = make(chan struct{})
	e.began = make(chan struct{}, 2)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := e.Assertion(ctx, e.assertion(t, members{"iss": slow.Issuer}))
		done <- err
	}()
	<-e.began
	e.take(t, e.key, "")
	leave()
	err := <-done
	wantCode(t, err, fault.OAuthTemporarilyUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not tell why", err)
	}
	// The reading goes on for later callers.
	close(e.block)
	if _, err := e.Assertion(t.Context(), e.assertion(t, members{"iss": slow.Issuer})); err != nil {
		t.Error(err)
	}
	if n := e.reads[slow.JWKS]; n != 1 {
		t.Errorf("%d readings of the slow one", n)
	}
}

func TestKeysThatAreKnownServeWhileAnUnknownOneIsSearched(t *testing.T) {
	e := newEnv(t)
	e.take(t, e.key, "")
	next := newEC(t, "next")
	e.set(publish(t, e.key, next), nil)
	e.block = make(chan struct{})
	e.began = make(chan struct{}, 1)
	done := make(chan error)
	go func() {
		_, err := e.Assertion(t.Context(), next.sign(t, contract.AssertionType, assertionClaims(), nil))
		done <- err
	}()
	<-e.began
	e.take(t, e.key, "")
	close(e.block)
	wantCode(t, <-done, "")
}

func TestKeysThatAreOfNoUseAreSkipped(t *testing.T) {
	good := signingKeys()["ES256"]
	jwk := func(change members) string {
		var set struct{ Keys []members }
		if err := json.Unmarshal(publish(t, good), &set); err != nil {
			t.Fatal(err)
		}
		return set.Keys[0].with(change).json(t)
	}
	other := func(k signingKey) string {
		set := string(publish(t, k))
		return strings.TrimSuffix(strings.TrimPrefix(set, `{"keys":[`), "]}")
	}
	weak := signingKeys()["weak"]
	weak.kid = good.kid
	wrong := newEC(t, good.kid)
	none := fault.OAuthInvalidSignature
	for name, row := range map[string]struct {
		keys string
		code fault.OAuthCode
	}{
		"for signatures":             {jwk(members{"use": "sig", "alg": "ES256", "key_ops": []string{"verify"}}), ""},
		"for encryption":             {jwk(members{"use": "enc"}), none},
		"for another operation":      {jwk(members{"key_ops": []string{"encrypt"}}), none},
		"for another algorithm":      {jwk(members{"alg": "ES384"}), none},
		"without id":                 {jwk(members{"kid": absent{}}), none},
		"off the curve":              {jwk(members{"x": "AAAA"}), none},
		"private":                    {jwk(members{"d": encode(make([]byte, 32))}), none},
		"symmetric":                  {`{"kty":"oct","k":"AAAA","kid":"ec"}`, none},
		"of another type":            {other(weak), none},
		"a member twice":             {strings.Replace(jwk(nil), "{", `{"kty":"EC",`, 1), fault.OAuthTemporarilyUnavailable},
		"not an object":              {"1,null,[]," + jwk(nil), ""},
		"a symmetric one before it":  {`{"kty":"oct","k":"AAAA","kid":"ec"},` + jwk(nil), ""},
		"another one under its name": {other(wrong) + "," + jwk(nil), none},
		"for another before it":      {jwk(members{"alg": "ES512"}) + "," + jwk(members{"alg": "ES256"}), ""},
		"the same twice":             {jwk(nil) + "," + jwk(nil), ""},
		"beside 100 others":          {strings.Repeat("1,", 100) + jwk(nil), fault.OAuthTemporarilyUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.set([]byte(`{"keys":[`+row.keys+"]}"), nil)
			e.take(t, good, row.code)
			e.wantReads(t, 1)
		})
	}
	e := newEnv(t)
	weakSigns := signingKeys()["weak"]
	e.set(publish(t, weakSigns), nil)
	e.take(t, weakSigns, none)
	for bytes, want := range map[int]int{255: 0, 256: 1, 512: 1, 513: 0} {
		k := members{"kty": "RSA", "kid": "a", "e": "AQAB", "n": encode([]byte(strings.Repeat("\xff", bytes)))}
		if set, err := parseKeys([]byte(`{"keys":[` + k.json(t) + "]}")); err != nil || len(set) != want {
			t.Errorf("of a modulus of %d bytes %d keys are taken, %v", bytes, len(set), err)
		}
	}
	for _, body := range []string{
		"", "null", "{}", "[]", `{"keys":null}`, `{"keys":{}}`, `{"Keys":[]}`, `{"keys":[],"keys":[]}`,
	} {
		e := newEnv(t)
		e.set([]byte(body), nil)
		e.take(t, good, fault.OAuthTemporarilyUnavailable)
	}
}
