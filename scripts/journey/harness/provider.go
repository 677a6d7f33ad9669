package harness

import (
	"encoding/json"
	"net/http"
	"testing"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// Assertion lets an issuer assert that a person with an address is the user of an agent.
func Assertion(t testing.TB, i *provider.Issuer, email string) string {
	t.Helper()
	return Must(i.Assertion(provider.Assertion{Person: provider.Person{Email: email}}))(t)
}

// TryPresent sends an assertion to the registration endpoint. It may run in a goroutine.
func (d *Env) TryPresent(assertion string) (wire.Answer, error) {
	return d.Anyone.Do(ctx, "POST", d.Origins.API+"/agent/identity", contract.RegisterAgent{
		Type:          contract.AssertionIdentity,
		AssertionType: contract.TypeIDJAG,
		Assertion:     assertion,
	})
}

// Present sends an assertion to the registration endpoint.
func (d *Env) Present(t testing.TB, assertion string) wire.Answer {
	t.Helper()
	return Must(d.TryPresent(assertion))(t)
}

// Vouched registers an agent for which an issuer vouches; it has to be let in at once.
func (d *Env) Vouched(t testing.TB, i *provider.Issuer, email string) (r contract.RegisteredAgent) {
	t.Helper()
	a := d.Present(t, Assertion(t, i, email))
	if Decode(t, a, &r); a.Status != http.StatusOK || r.RegistrationType != contract.AssertionIdentity ||
		r.ClaimToken != "" {
		t.Fatalf("the assertion answers %d %s", a.Status, a.Body)
	}
	return r
}

// Interaction registers an agent of a person who has to agree first.
func (d *Env) Interaction(t testing.TB, i *provider.Issuer, email string) (r contract.InteractionRequired) {
	t.Helper()
	a := d.Present(t, Assertion(t, i, email))
	if Decode(t, a, &r); a.Status != http.StatusUnauthorized || r.Error != "interaction_required" {
		t.Fatalf("the assertion answers %d %s", a.Status, a.Body)
	}
	return r
}

// TryNotify sends a security event. It may run in a goroutine.
func (d *Env) TryNotify(event string) (wire.Answer, error) {
	return d.Anyone.Do(ctx, "POST", d.Origins.API+"/agent/event/notify", event, "Content-Type", "application/secevent+jwt")
}

// Notify sends a security event.
func (d *Env) Notify(t testing.TB, event string) wire.Answer {
	t.Helper()
	return Must(d.TryNotify(event))(t)
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
