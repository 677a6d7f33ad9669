package provider

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/port"
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

// TestWithoutAListNoProviderIsTrusted asks a deployment that has none.
func TestWithoutAListNoProviderIsTrusted(t *testing.T) {
	t.Parallel()
	p := newEnv(t, func(o *stack.Options) { o.Trust = func([]idp.Trusted) []idp.Trusted { return nil } })
	wantError(t, "an assertion", harness.Must(p.Present(harness.Assertion(t, p.Identity.First, "ada@example.org")))(t),
		http.StatusServiceUnavailable, "temporarily_unavailable")
	wantError(t, "an event", harness.Must(p.Notify(harness.Revocation(t, p.Identity.First, "ada@example.org")))(t),
		http.StatusServiceUnavailable, "temporarily_unavailable")
	var server contract.ServerMetadata
	harness.Decode(
		t, harness.Do(t, p.Anyone, "GET", p.Origins.API+"/.well-known/oauth-authorization-server", nil), &server,
	)
	if a := server.AgentAuth; !slices.Equal(a.IdentityTypes, []string{"anonymous"}) || a.Assertion != nil ||
		a.Events != "" || a.EventTypes != nil {
		t.Errorf("agents are told %+v", a)
	}
	p.RegisterAgent(t)
}

// TestAProviderThatIsTakenFromTheListLetsNoAgentIn starts the deployment anew with another list.
func TestAProviderThatIsTakenFromTheListLetsNoAgentIn(t *testing.T) {
	base := port.Base(t)
	before := newEnv(t, func(o *stack.Options) { o.BasePort = base })
	kept, gone := before.Vouched(t, before.Identity.First, "ada@example.org"),
		before.Vouched(t, before.Identity.Second, "bob@example.org")
	harness.NoError(t, before.Close(ctx))
	p := newEnv(t, func(o *stack.Options) {
		o.BasePort, o.Tables, o.Data = base, before.Options.Tables, before.Options.Data
		o.Trust = func(list []idp.Trusted) []idp.Trusted { return list[:1] }
	})
	exchanged(t, p.Env, kept)
	p.Vouched(t, p.Identity.First, "ada@example.org")
	wantError(t, "its assertion", harness.Must(p.Present(harness.Assertion(t, p.Identity.Second, "bob@example.org")))(t),
		http.StatusBadRequest, "invalid_issuer")
	wantError(t, "its event", harness.Must(p.Notify(harness.Revocation(t, p.Identity.Second, "bob@example.org")))(t),
		http.StatusBadRequest, "invalid_issuer")
	if code := p.OAuthError(t, harness.JWTBearer(gone.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("what was registered before answers %s", code)
	}
	// Another provider may speak for the member that the first one made, once the person agrees.
	p.Interaction(t, p.Identity.First, "bob@example.org")
}
