package provider

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// newEnv starts a deployment with a clock of its own that trusts both issuers of its identity provider. Limits let a
// test send what it has to.
func newEnv(t testing.TB, change ...func(*stack.Options)) *harness.BackendEnv {
	t.Helper()
	return harness.NewAgentAuthEnv(t, append([]func(*stack.Options){harness.Unlimited}, change...)...)
}

// whoami asks who a bearer token stands for.
func whoami(t testing.TB, d *harness.Env, bearer string) (who contract.Whoami) {
	t.Helper()
	a := harness.Do(t, d.WithBearer(bearer), "GET", d.Origins.API+"/v1/whoami", nil)
	if harness.Decode(t, a, &who); a.Status != http.StatusOK {
		t.Fatalf("whoami answers %d %s", a.Status, a.Body)
	}
	return who
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

// openLink opens the link that an agent shows, and returns the page.
func openLink(t testing.TB, w *harness.FakeBrowser, link string) wire.Answer {
	t.Helper()
	path, ours := strings.CutPrefix(link, w.Origins.App)
	if !ours {
		t.Fatal("the agent's link leads elsewhere")
	}
	if a := w.Get(t, path); a.Status != http.StatusSeeOther || w.Cookies[harness.AttemptCookie] == "" {
		t.Fatalf("the agent's link answers %d %s", a.Status, a.Body)
	}
	return w.Get(t, "/agent-auth/claim")
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)"`)

// enterCode types a code into the page of a link.
func enterCode(t testing.TB, w *harness.FakeBrowser, page wire.Answer, code string) wire.Answer {
	t.Helper()
	fields := url.Values{"user_code": {code}}
	for _, found := range hiddenField.FindAllSubmatch(page.Body, -1) {
		fields.Set(string(found[1]), string(found[2]))
	}
	return w.Post(t, "/agent-auth/claim", fields)
}

// agree lets the person of a window agree to an agent.
func agree(t testing.TB, w *harness.FakeBrowser, r contract.InteractionRequired) {
	t.Helper()
	page := openLink(t, w, r.Claim.VerificationURI)
	harness.WantPage(t, "the code", enterCode(t, w, page, r.Claim.UserCode), http.StatusOK, "The agent is in")
}

// another returns six digits that are not these.
func another(code string) string {
	return string('0'+(code[0]-'0'+1)%10) + code[1:]
}

// person is a person at an issuer.
func person(email, subject string) idp.Person { return idp.Person{Email: email, Subject: subject} }
