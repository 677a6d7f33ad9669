package provider

import (
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/port"
	"vitrine/shared/platform/contract"
)

// TestWithoutAListNoProviderIsTrusted asks a deployment that has none.
func TestWithoutAListNoProviderIsTrusted(t *testing.T) {
	t.Parallel()
	p := newEnv(t, func(o *stack.Options) { o.Trust = func([]idp.Trusted) []idp.Trusted { return nil } })
	wantError(t, "an assertion", p.Present(t, harness.Assertion(t, p.Identity.First, "ada@example.org")),
		http.StatusServiceUnavailable, "temporarily_unavailable")
	wantError(t, "an event", p.Notify(t, harness.Revocation(t, p.Identity.First, "ada@example.org")),
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
	wantError(t, "its assertion", p.Present(t, harness.Assertion(t, p.Identity.Second, "bob@example.org")),
		http.StatusBadRequest, "invalid_issuer")
	wantError(t, "its event", p.Notify(t, harness.Revocation(t, p.Identity.Second, "bob@example.org")),
		http.StatusBadRequest, "invalid_issuer")
	if code := p.OAuthError(t, harness.JWTBearer(gone.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("what was registered before answers %s", code)
	}
	// Another provider may speak for the member that the first one made, once the person agrees.
	p.Interaction(t, p.Identity.First, "bob@example.org")
}
