package provider

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

// TestAPersonLetsAnAgentOfAProviderInThroughTheBrowser opens the link in a browser, signs in, types the code, and the
// agent's poll brings a token.
func TestAPersonLetsAnAgentOfAProviderInThroughTheBrowser(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	p := browser.Open(t)
	p.Go(d.Origins.App + "/dashboard")
	p.SignIn("ada@example.org")
	p.WaitText("ada's Workspace")
	r := d.Interaction(t, d.Identity.First, "ada@example.org")
	if code := d.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("before the person came the poll says %s", code)
	}
	p.Go(r.Claim.VerificationURI)
	p.WaitText("Let this agent in?")
	p.WaitText("Development agents")
	if at := browser.Eval[string](&p.Document, `location.href`); strings.Contains(at, "ap_ca_") {
		t.Error("the attempt token stays in the address bar")
	}
	p.Screenshot("journey-provider-claim")
	p.Fill("#user_code", r.Claim.UserCode)
	p.Click(`form[action="/agent-auth/claim"] button:not([formaction])`)
	p.WaitText("The agent is in")
	p.Clean()
	token := d.Token(t, harness.ClaimGrant(r.ClaimToken))
	if who := whoami(t, d, token.AccessToken); who.Workspace.Name != "ada's Workspace" || token.IdentityAssertion == "" {
		t.Errorf("the token is for %+v", who.Workspace)
	}
	next := d.Vouched(t, d.Identity.First, "ada@example.org")
	whoami(t, d, exchanged(t, d, next))
	p.Go(d.Origins.App + "/connections")
	p.WaitText("Development agents")
	p.Screenshot("journey-provider-connections")
	p.Clean()
	wantNoViolations(t, p)
}

// TestT82APersonIsAskedInTheBrowserWhichAgentsToKeep signs in as a person that only a provider knows.
func TestT82APersonIsAskedInTheBrowserWhichAgentsToKeep(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	token := exchanged(t, d, d.Vouched(t, d.Identity.First, "ada@example.org"))
	made := harness.PublishPage(t, d.WithBearer(token), "Moon phases")
	p := browser.Open(t)
	p.Go(d.Origins.App + "/dashboard")
	p.SignIn("ada@example.org")
	p.WaitText("Keep these agents?")
	p.WaitText("Development agents")
	p.Screenshot("journey-provider-keep")
	wantNoViolations(t, p)
	p.Click(`form[action="/agent-auth/keep"] input[type=checkbox]`)
	p.Click(`form[action="/agent-auth/keep"] button`)
	p.WaitText("ada's Workspace")
	wantDead(t, d, token)
	whoami(t, d, exchanged(t, d, d.Vouched(t, d.Identity.First, "ada@example.org")))
	p.Go(d.Origins.App + "/artifacts/" + string(made.ArtifactID))
	p.WaitText("Moon phases")
	p.Clean()
}

// wantNoViolations checks the page for what people with impairments stumble over.
func wantNoViolations(t testing.TB, p *browser.Page) {
	t.Helper()
	for _, v := range p.Axe() {
		t.Error(v)
	}
}
