package provider

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

// TestT73AnEventEndsTokensByTheNextCall reads with tokens of three agents all the time: from the answer to the event on
// no token of its person is taken, and that of the other person always is.
func TestT73AnEventEndsTokensByTheNextCall(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	first, second := p.Vouched(t, p.Identity.First, "ada@example.org"), p.Vouched(t, p.Identity.First, "ada@example.org")
	other := p.Vouched(t, p.Identity.First, "bob@example.org")
	reading := func(token string) func() (wire.Answer, error) {
		agent := p.WithBearer(token)
		return func() (wire.Answer, error) { return agent.Do(ctx, "GET", p.Origins.API+"/v1/whoami", nil) }
	}
	tokens := []string{exchanged(t, p.Env, first), exchanged(t, p.Env, second)}
	kept := exchanged(t, p.Env, other)
	event := harness.Revocation(t, p.Identity.First, "ada@example.org")
	harness.RaceEnd(t,
		harness.Reads{"an agent": reading(tokens[0]), "another of the person": reading(tokens[1])},
		harness.Reads{"another person's": reading(kept)},
		func() {
			if a := harness.Must(p.Notify(event))(t); a.Status != http.StatusAccepted || len(a.Body) != 0 {
				t.Errorf("the event answers %d %s", a.Status, a.Body)
			}
		})
	for _, token := range tokens {
		wantDead(t, p.Env, token)
	}
	for _, assertion := range []string{first.IdentityAssertion, second.IdentityAssertion} {
		if code := p.OAuthError(t, harness.JWTBearer(assertion)); code != "invalid_grant" {
			t.Errorf("an assertion from before answers %s", code)
		}
	}
	p.Clock.Advance(time.Second) // an assertion of the same second may be from before the event
	wantError(t, "the provider's next assertion",
		harness.Must(p.Present(harness.Assertion(t, p.Identity.First, "ada@example.org")))(t),
		http.StatusUnauthorized, "interaction_required")
	exchanged(t, p.Env, other)
}
