package provider

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// Spans of the cache of keys.
const (
	searchAgain = limits.KeySearchEvery
	tooOld      = 2*limits.MaxKeySetLife + time.Second // when keys that could not be read again serve no more
)

// TestT21AProviderThatMisbehavesIsDownAndHoldsUpNoOther breaks one issuer's keys in each way. Once the keys of before
// are too old, its assertions are answered 503; the other issuer's agents come in meanwhile.
func TestT21AProviderThatMisbehavesIsDownAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	const path = "/second/.well-known/jwks.json"
	for _, how := range []idp.Break{idp.Stalls, idp.Endless, idp.Long, idp.Redirects, idp.Fails, idp.Babbles} {
		p.Vouched(t, p.Identity.Second, "bob@example.org")
		p.Identity.Break(path, how)
		p.Clock.Advance(limits.MaxKeySetLife)
		p.Vouched(t, p.Identity.Second, "bob@example.org") // by the keys of before
		p.Clock.Advance(tooOld)
		asked := p.Identity.Asked(path)
		token := harness.Assertion(t, p.Identity.Second, "bob@example.org")
		other := make(chan wire.Answer, 1)
		go func() {
			a, err := p.TryPresent(harness.Assertion(t, p.Identity.First, "ada@example.org"))
			if err != nil {
				t.Error(err)
			}
			other <- a
		}()
		got := atOnce(t, func() (wire.Answer, error) { return p.TryPresent(token) })
		if got["Service Unavailable temporarily_unavailable"] != askers {
			t.Errorf("%s: %v", how, got)
		}
		if n := p.Identity.Asked(path) - asked; n != 1 {
			t.Errorf("%s: the keys were asked for %d times", how, n)
		}
		if a := <-other; a.Status != http.StatusOK {
			t.Errorf("%s: the other issuer's agent is answered %d %s", how, a.Status, a.Body)
		}
		a := p.Present(t, token)
		wantError(t, string(how), a, http.StatusServiceUnavailable, "temporarily_unavailable")
		if harness.RetryAfter(t, a) != limits.KeySetRetry {
			t.Errorf("%s: Retry-After is %q", how, a.Header.Get("Retry-After"))
		}
		wantError(t, string(how), p.Notify(t, harness.Revocation(t, p.Identity.Second, "bob@example.org")),
			http.StatusServiceUnavailable, "temporarily_unavailable")
		p.Identity.Heal()
		p.Clock.Advance(searchAgain)
		a = p.Present(t, token)
		if a.Status != http.StatusOK {
			t.Errorf("%s: once it is over the assertion answers %d %s", how, a.Status, a.Body)
		}
	}
}

// TestSlowKeysAreWaitedFor has keys that come late but in time.
func TestSlowKeysAreWaitedFor(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.Identity.Break("/second/.well-known/jwks.json", idp.Slow)
	p.Vouched(t, p.Identity.Second, "ada@example.org")
}
