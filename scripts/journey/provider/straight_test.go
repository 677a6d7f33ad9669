package provider

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// TestAnAgentOfATrustedProviderComesStraightIn reads the metadata as an agent does, and runs in both modes.
func TestAnAgentOfATrustedProviderComesStraightIn(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	var server contract.ServerMetadata
	harness.Decode(
		t, harness.Do(t, d.Anyone, "GET", d.Origins.API+"/.well-known/oauth-authorization-server", nil), &server,
	)
	offered := server.AgentAuth
	if !slices.Equal(offered.IdentityTypes, []string{"anonymous", "identity_assertion"}) || offered.Assertion == nil ||
		!slices.Equal(offered.Assertion.Types, []string{contract.TypeIDJAG}) ||
		offered.Events != d.Origins.API+"/agent/event/notify" || !slices.Contains(offered.EventTypes, idp.RevokedEvent) {
		t.Fatalf("agents are told %+v", offered)
	}
	now := time.Now()
	r := d.Vouched(t, d.Identity.First, "ada@example.org")
	if life := r.AssertionExpires.Sub(now); life < limits.ProviderAgentLife-time.Minute ||
		life > limits.ProviderAgentLife+time.Minute || !slices.Equal(r.Scopes, []string{"read", "publish"}) ||
		!strings.HasPrefix(string(r.RegistrationID), "reg_") {
		t.Errorf("the registration is %+v", r)
	}
	token := d.Token(t, harness.JWTBearer(r.IdentityAssertion))
	if token.ExpiresIn < 3540 || token.ExpiresIn > 3600 || token.Scope != "read publish" || token.IdentityAssertion != "" {
		t.Errorf("the token is %+v", token)
	}
	who := whoami(t, d, token.AccessToken)
	if who.Workspace.Name != "ada's Workspace" || who.Actor.Type != "api_key" {
		t.Errorf("the token is for %+v", who)
	}
	agent := d.WithBearer(token.AccessToken)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", harness.Page("tides")))(t)
	if made.PrivateURL == "" {
		t.Errorf("the agent of a member publishes %+v", made)
	}
	if again := exchanged(t, d, r); again == token.AccessToken || whoami(t, d, again).Workspace.ID != who.Workspace.ID {
		t.Error("the same assertion brings the same token, or another workspace")
	}
	next := d.Vouched(t, d.Identity.First, "ada@example.org")
	at := whoami(t, d, exchanged(t, d, next)).Workspace.ID
	if at != who.Workspace.ID || next.RegistrationID == r.RegistrationID {
		t.Errorf("the next time the agent works in %s", at)
	}
}

// TestWhoTheUserIsIsTheSubjectNotTheAddress lets one person change the address and two persons share one.
func TestWhoTheUserIsIsTheSubjectNotTheAddress(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	at := func(who idp.Person, i *idp.Issuer) string {
		t.Helper()
		a := p.Present(t, harness.Must(i.Assertion(idp.Assertion{Person: who}))(t))
		var r contract.RegisteredAgent
		if harness.Decode(t, a, &r); a.Status != http.StatusOK {
			t.Fatalf("%+v: %d %s", who, a.Status, a.Body)
		}
		return string(whoami(t, p.Env, exchanged(t, p.Env, r)).Workspace.ID)
	}
	first := at(person("ada@example.org", "s-1"), p.Identity.First)
	if moved := at(person("countess@example.org", "s-1"), p.Identity.First); moved != first {
		t.Error("another address makes another person of a subject")
	}
	if other := at(person("bob@example.org", "s-1"), p.Identity.Second); other == first {
		t.Error("the same subject at another issuer is the same person")
	}
	a := p.Present(t, harness.Must(p.Identity.First.Assertion(idp.Assertion{Person: person("bob@example.org", "s-2")}))(t))
	wantError(t, "another subject with the address of a member", a, http.StatusUnauthorized, "interaction_required")
}

// TestAnAssertionAsksForWhatTheAgentMay narrows the scopes.
func TestAnAssertionAsksForWhatTheAgentMay(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	asked := idp.Assertion{Person: person("ada@example.org", ""), Scope: "read admin"}
	a := p.Present(t, harness.Must(p.Identity.First.Assertion(asked))(t))
	var r contract.RegisteredAgent
	if harness.Decode(t, a, &r); !slices.Equal(r.Scopes, []string{"read"}) {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	token := p.Token(t, harness.JWTBearer(r.IdentityAssertion))
	if token.Scope != "read" {
		t.Errorf("the token may %q", token.Scope)
	}
}
