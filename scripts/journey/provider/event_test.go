package provider

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
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
			if a := p.Notify(t, event); a.Status != http.StatusAccepted || len(a.Body) != 0 {
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
		p.Present(t, harness.Assertion(t, p.Identity.First, "ada@example.org")),
		http.StatusUnauthorized, "interaction_required")
	exchanged(t, p.Env, other)
}

var refusedEvents = []refusedAs{
	{"T73, type", "invalid_request", []idp.Hostile{idp.WrongType, idp.NoType, idp.AssertionType}},
	{"T73, issuer", "invalid_issuer", []idp.Hostile{
		idp.WrongIssuer, idp.OwnIssuer, idp.IssuerUserInfo, idp.IssuerUpperCase, idp.IssuerSlash,
	}},
	{"T73, key", "invalid_key", []idp.Hostile{
		idp.AlgNone, idp.PublicSigned, idp.WrongAlgorithm, idp.UnknownKey, idp.PathKey, idp.LongKey, idp.KeyURL,
	}},
	{"T73, signature", "authentication_failed", []idp.Hostile{idp.OtherKey, idp.OwnKey}},
	{"T73, audience", "invalid_audience", []idp.Hostile{idp.WrongAudience, idp.TwoAudiences, idp.NoAudience}},
	{"T73, time", "invalid_request", []idp.Hostile{idp.FromFuture, idp.Old, idp.Expired}},
	{"T73, form", "invalid_request", []idp.Hostile{
		idp.NoSubject, idp.OtherFormat, idp.ForeignSubject, idp.NoEvents, idp.TextEvents, idp.NoID, idp.TooLong, idp.Critical,
		idp.RepeatedHeader, idp.RepeatedClaim,
	}},
}

// ignoredEvents are odd and change nothing, but are no fault of the provider.
var ignoredEvents = []idp.Hostile{idp.UnknownEvent}

func TestT73EachHostileEventIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	token := exchanged(t, p.Env, p.Vouched(t, p.Identity.First, "ada@example.org"))
	before := p.Snapshot(t)
	tried := append(slices.Clone(ignoredEvents), idp.PlainSubject)
	send := func(h idp.Hostile) wire.Answer {
		return p.Notify(t, harness.Must(p.Identity.First.Event(idp.Event{
			Person:  person("ada@example.org", ""),
			Hostile: h,
		}))(t))
	}
	for _, c := range refusedEvents {
		for _, h := range c.defects {
			wantError(t, c.row+" "+string(h), send(h), http.StatusBadRequest, c.code)
			tried = append(tried, h)
		}
	}
	p.WantUnchanged(t, before)
	for _, h := range ignoredEvents {
		if a := send(h); a.Status != http.StatusAccepted {
			t.Errorf("%s answers %d %s", h, a.Status, a.Body)
		}
	}
	for _, h := range idp.EventDefects() {
		if !slices.Contains(tried, h) {
			t.Errorf("%s is in no row", h)
		}
	}
	whoami(t, p.Env, token)
	if a := send(idp.PlainSubject); a.Status != http.StatusAccepted {
		t.Errorf("a subject beside the events answers %d %s", a.Status, a.Body)
	}
	wantDead(t, p.Env, token)
}
