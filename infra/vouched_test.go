package main

import (
	"regexp"
	"testing"
	"time"

	idp "vitrine/scripts/local/idp/provider"
	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/contract"
)

// trusted is the entry of a trust list for an issuer that agents run at.
func trusted(i *idp.Issuer) provider.Provider {
	return provider.Provider{
		Issuer:     i.URL,
		Name:       i.Name,
		ClientIDs:  []string{i.ClientID},
		JWKS:       i.URL + "/.well-known/jwks.json",
		Algorithms: []string{"ES256"},
		Provision:  true,
		MaxAuthAge: time.Hour,
	}
}

// vouch registers an agent for a person who is no member.
func (h *harness) vouch(t *testing.T, email string) {
	t.Helper()
	assertion, err := h.provider.Second.Assertion(idp.Assertion{Person: idp.Person{Email: email}})
	if err != nil {
		t.Fatal(err)
	}
	a := ask[contract.RegisteredAgent](t, h.anyone, "POST", "/agent/identity", contract.RegisterAgent{
		Type:          contract.AssertionIdentity,
		AssertionType: contract.TypeIDJAG,
		Assertion:     assertion,
	})
	token(t, h.anyone, map[string]string{"grant_type": contract.GrantJWTBearer, "assertion": a.IdentityAssertion})
}

// vouched covers what a provider sends: for a new person, for a known one, and that it ends.
func (h *harness) vouched(t *testing.T) {
	t.Helper()
	h.vouch(t, "linus@example.org")
	h.vouch(t, "linus@example.org")
	event, err := h.provider.Second.Event(idp.Event{Person: idp.Person{Email: "linus@example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	ask[any](t, h.anyone, "POST", "/agent/event/notify", event, "Content-Type", "application/secevent+jwt")
	h.vouch(t, "alan@example.org")
	h.keepsAgents(t)
}

// keepsAgents signs in a person whose address agents have used; the person keeps them and ends them later.
func (h *harness) keepsAgents(t *testing.T) {
	t.Helper()
	b := h.browser(t, "alan@example.org")
	b.visit("/api/auth/sign-in")
	box := regexp.MustCompile(`keep-[A-Za-z0-9_-]{43}`).FindString(b.page)
	b.submit("/agent-auth/keep", map[string]string{box: "yes"})
	b.visit("/connections")
	unlink := regexp.MustCompile(`/connections/providers/[^"/]+/unlink`).FindString(b.page)
	b.visit(unlink)
	b.submit(unlink, nil)
}
