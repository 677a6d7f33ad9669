package harness

import (
	"encoding/json"
	"net/http"
	"testing"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// Assertion lets an issuer assert that a person with an address is the user of an agent.
func Assertion(t testing.TB, i *provider.Issuer, email string) string {
	t.Helper()
	return Must(i.Assertion(provider.Assertion{Person: provider.Person{Email: email}}))(t)
}

// Present sends an assertion to the registration endpoint. It may run in a goroutine.
func (env *Env) Present(assertion string) (wire.Answer, error) {
	return env.Anyone.Do(ctx, "POST", env.Origins.API+"/agent/identity", contract.RegisterAgent{
		Type:          contract.AssertionIdentity,
		AssertionType: contract.TypeIDJAG,
		Assertion:     assertion,
	})
}

// Vouched registers an agent for which an issuer vouches; it has to be let in at once.
func (env *Env) Vouched(t testing.TB, i *provider.Issuer, email string) (r contract.RegisteredAgent) {
	t.Helper()
	a := Must(env.Present(Assertion(t, i, email)))(t)
	if Decode(t, a, &r); a.Status != http.StatusOK || r.RegistrationType != contract.AssertionIdentity ||
		r.ClaimToken != "" {
		t.Fatalf("the assertion answers %d %s", a.Status, a.Body)
	}
	return r
}

// Interaction registers an agent of a person who has to agree first.
func (env *Env) Interaction(t testing.TB, i *provider.Issuer, email string) (r contract.InteractionRequired) {
	t.Helper()
	a := Must(env.Present(Assertion(t, i, email)))(t)
	if Decode(t, a, &r); a.Status != http.StatusUnauthorized || r.Error != "interaction_required" {
		t.Fatalf("the assertion answers %d %s", a.Status, a.Body)
	}
	return r
}

// Notify sends a security event. It may run in a goroutine.
func (env *Env) Notify(event string) (wire.Answer, error) {
	return env.Anyone.Do(ctx, "POST", env.Origins.API+"/agent/event/notify", event, "Content-Type", "application/secevent+jwt")
}

// Revocation is the event by which an issuer takes back what it said of a person.
func Revocation(t testing.TB, i *provider.Issuer, email string) string {
	t.Helper()
	return Must(i.Event(provider.Event{Person: provider.Person{Email: email}}))(t)
}

// ErrorOf returns the code of a refusal of the registration, token or event endpoint.
func ErrorOf(a wire.Answer) string {
	var e struct{ Error, Err string }
	json.Unmarshal(a.Body, &e)
	return e.Error + e.Err
}
