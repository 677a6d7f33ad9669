package budget

import (
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

// TestEveryRouteOfProvidersStaysWithinItsBudget holds the agents of a provider: what their assertions, the exchange for
// tokens and the provider's events ask for.
func TestEveryRouteOfProvidersStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	first := l.Identity.First
	l.backend().SignedIn(t, "member@example.org")
	asserting := func(email string, status int) func() {
		assertion := harness.Assertion(t, first, email)
		return func() {
			if a := l.Present(t, assertion); a.Status != status {
				t.Fatalf("%s is answered %d %s", email, a.Status, a.Body)
			}
		}
	}
	// Counters of the address, of the provider and of all come one after the other, so that a refused assertion counts in
	// no later one; then the delegation, and what it leads to. The transaction writes workspace, member, address,
	// delegation, registration, the used id and the events.
	l.wantWithin(t, "assertion, a new person", budget{6, 6, 2, 27}, asserting("ada@example.org", http.StatusOK))
	l.wantWithin(t, "assertion, a known person", budget{6, 6, 3, 13}, asserting("ada@example.org", http.StatusOK))
	l.wantWithin(t, "assertion, a member to ask", budget{7, 7, 4, 12},
		asserting("member@example.org", http.StatusUnauthorized))
	r := l.Vouched(t, first, "ada@example.org")
	l.wantWithin(t, "exchange", budget{4, 2, 3, 8}, func() { l.Token(t, harness.JWTBearer(r.IdentityAssertion)) })
	event := harness.Revocation(t, first, "ada@example.org")
	notify := func() {
		var a wire.Answer
		if a = l.Notify(t, event); a.Status != http.StatusAccepted {
			t.Fatalf("the event is answered %d %s", a.Status, a.Body)
		}
	}
	// The failures of the address, then the counter of the provider; the delegation, its workspace, and the transaction.
	l.wantWithin(t, "event", budget{5, 5, 3, 11}, notify)
	l.wantWithin(t, "event repeated", budget{4, 4, 2, 1}, notify)
}
