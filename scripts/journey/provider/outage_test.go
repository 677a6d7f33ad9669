package provider

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/local/idp/provider"
	"vitrine/shared/platform/limits"
)

// keysPath is where the second issuer publishes its keys.
const keysPath = "/second/.well-known/jwks.json"

// TestT21AProviderThatMisbehavesIsDownAndHoldsUpNoOther breaks one issuer's keys. Once the keys of before are too old,
// its assertions and events are answered 503; the other issuer's agents come in meanwhile.
func TestT21AProviderThatMisbehavesIsDownAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, how := range []idp.Break{idp.Stalls, idp.Endless} {
		p.Vouched(t, p.Identity.Second, "bob@example.org")
		p.Identity.Break(keysPath, how)
		p.Clock.Advance(limits.MaxKeySetLife)
		p.Vouched(t, p.Identity.Second, "bob@example.org") // by the keys of before
		p.Clock.Advance(2*limits.MaxKeySetLife + time.Second)
		token := harness.Assertion(t, p.Identity.Second, "bob@example.org")
		waits := make(chan struct{})
		go func() {
			defer close(waits)
			if _, err := p.Present(token); err != nil {
				t.Error(err)
			}
		}()
		p.Vouched(t, p.Identity.First, "ada@example.org")
		<-waits
		a := harness.Must(p.Present(token))(t)
		wantError(t, string(how), a, http.StatusServiceUnavailable, "temporarily_unavailable")
		if harness.RetryAfter(t, a) != limits.KeySetRetry {
			t.Errorf("%s: Retry-After is %q", how, a.Header.Get("Retry-After"))
		}
		event := harness.Revocation(t, p.Identity.Second, "bob@example.org")
		wantError(t, string(how)+", an event", harness.Must(p.Notify(event))(t),
			http.StatusServiceUnavailable, "temporarily_unavailable")
		p.Identity.Heal()
		p.Clock.Advance(limits.KeySearchEvery)
		if a = harness.Must(p.Present(token))(t); a.Status != http.StatusOK {
			t.Errorf("%s: once it is over the assertion answers %d %s", how, a.Status, a.Body)
		}
	}
}

// TestT20KeysRollOverWhileTokensUnderInventedKeysCome changes an issuer's keys after a token under an invented key has
// used up the reading that an unknown key may cause.
func TestT20KeysRollOverWhileTokensUnderInventedKeysCome(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	issuer := p.Identity.Second
	const email = "ada@example.org"
	p.Vouched(t, issuer, email)
	harness.NoError(t, issuer.Announce())
	p.Clock.Advance(limits.MinKeySetLife)
	p.Vouched(t, issuer, email) // by then the announced keys are known
	invented := func() {
		t.Helper()
		token := harness.Must(issuer.Assertion(idp.Assertion{Person: person(email, ""), Hostile: idp.UnknownKey}))(t)
		wantError(t, "an invented key", harness.Must(p.Present(token))(t), http.StatusBadRequest, "invalid_signature")
	}
	invented()
	asked := p.Identity.Asked(keysPath)
	harness.NoError(t, issuer.RollOver())
	invented()
	p.Vouched(t, issuer, email)
	if n := p.Identity.Asked(keysPath) - asked; n != 0 {
		t.Errorf("within a minute the keys were read %d times more", n)
	}
	p.Clock.Advance(limits.KeySearchEvery)
	old := harness.Assertion(t, issuer, email)
	harness.NoError(t, issuer.Rotate())
	p.Vouched(t, issuer, email) // which has the keys read
	wantError(t, "a dropped key", harness.Must(p.Present(old))(t), http.StatusBadRequest, "invalid_signature")
}
