package provider

import (
	"context"
	"net/http"
	"os"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// newEnv starts a deployment with a clock of its own that trusts both issuers of its identity provider. Limits let a
// test send what it has to.
func newEnv(t testing.TB, change ...func(*stack.Options)) *harness.BackendEnv {
	t.Helper()
	return harness.NewAgentAuthEnv(t, append([]func(*stack.Options){harness.Unlimited}, change...)...)
}

// whoami asks who a bearer token stands for.
func whoami(t testing.TB, d *harness.Env, bearer string) contract.Whoami {
	t.Helper()
	return harness.Call[contract.Whoami](t, d.WithBearer(bearer), http.StatusOK, "GET", "/v1/whoami", nil)
}

// wantDead checks that a bearer token is refused.
func wantDead(t testing.TB, d *harness.Env, bearer string) {
	t.Helper()
	a := harness.Do(t, d.WithBearer(bearer), "GET", d.Origins.API+"/v1/whoami", nil)
	harness.WantRefused(t, a, http.StatusUnauthorized, fault.NotAuthenticated)
}

// exchanged returns an access token for the assertion of a registration.
func exchanged(t testing.TB, d *harness.Env, r contract.RegisteredAgent) string {
	t.Helper()
	return d.Token(t, harness.JWTBearer(r.IdentityAssertion)).AccessToken
}

// wantError checks status and code of a refusal of the registration, token or event endpoint.
func wantError(t testing.TB, what string, a wire.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || harness.ErrorOf(a) != code {
		t.Errorf("%s answers %d %s, want %d %s", what, a.Status, a.Body, status, code)
	}
}

// agree lets the person of a window agree to an agent.
func agree(t testing.TB, w *harness.FakeBrowser, r contract.InteractionRequired) {
	t.Helper()
	page := w.OpenAgentLink(t, r.Claim.VerificationURI)
	harness.WantPage(t, "the code", w.EnterAgentCode(t, page, r.Claim.UserCode), http.StatusOK, "The agent is in")
}

// person is a person at an issuer.
func person(email, subject string) idp.Person { return idp.Person{Email: email, Subject: subject} }
