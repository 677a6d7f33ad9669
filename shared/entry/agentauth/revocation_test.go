package agentauth_test

import (
	"testing"
	"time"

	"vitrine/shared/identity/provider"
)

func TestARevocationEndsEverythingOfThePersonAtOnce(t *testing.T) {
	w := newEnv(t)
	one, two := w.admitted("ada", "ada@example.org"), w.admitted("ada", "ada@example.org")
	eve := w.admitted("eve", "eve@example.org")
	tokens := map[string]string{one.IdentityAssertion: w.token(one.IdentityAssertion)}
	tokens[two.IdentityAssertion] = w.token(two.IdentityAssertion)
	kept := w.token(eve.IdentityAssertion)
	w.ok(w.notify(w.revocation("ada")))
	for text, access := range tokens {
		w.wantDead("after the event", access, text)
	}
	if w.works(kept) == "" {
		t.Error("another person's agent ended")
	}
	w.wait(time.Second)
	w.asked("ada", "ada@example.org") // what the provider withdrew, only the person can give again
}

func TestARevocationEndsWhatWaitsForThePerson(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	asked := w.asked("agent-ada", "ada@example.org")
	w.ok(w.notify(w.revocation("agent-ada")))
	w.wantCode(w.agree(ada, asked), "invalid_request")
	w.wait(time.Second)
	again := w.asked("agent-ada", "ada@example.org")
	w.ok(w.agree(ada, again))
	if d := w.delegation("agent-ada"); !d.EndedAt.IsZero() || d.Generation != 2 {
		t.Errorf("%+v, want it open, in its second generation", d)
	}
}

func TestT73AnAssertionFromBeforeARevocationLetsNobodyIn(t *testing.T) {
	w := newEnv(t)
	early, late := w.sign("ada", "ada@example.org"), w.sign("ada", "ada@example.org")
	w.ok(w.notify(w.revocation("ada"))) // the first that is heard of this person
	_, err := w.vouch(early)
	w.wantCode(err, "invalid_grant")
	w.wait(time.Second)
	w.ok(w.notify(w.revocation("ada", func(e *provider.Event) { e.IssuedAt = w.now().Add(-time.Hour) }))) // overtaken
	w.admitted("ada", "ada@example.org")
	_, err = w.vouch(late) // the delegation is new, the assertion is not
	w.wantCode(err, "invalid_grant")
}
