package provider

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/local/idp/provider"
	"vitrine/shared/platform/contract"
)

// TestAMemberAgreesAndTheAgentIsIn is the whole way of an agent of a member.
func TestAMemberAgreesAndTheAgentIsIn(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "Ada@example.org")
	assertion := harness.Assertion(t, p.Identity.First, "ada@example.org")
	a := harness.Must(p.Present(assertion))(t)
	var r contract.InteractionRequired
	harness.Decode(t, a, &r)
	challenge := a.Header.Get("WWW-Authenticate")
	if a.Status != http.StatusUnauthorized || r.Error != "interaction_required" ||
		!strings.HasPrefix(challenge, `AgentAuth error="interaction_required", error_description="`) ||
		len(r.Claim.UserCode) != 6 || r.Claim.Interval != 5 || r.Claim.ExpiresIn < 540 || r.Claim.ExpiresIn > 600 ||
		r.ClaimURL != p.Origins.API+"/agent/identity/claim" || r.RegistrationType != contract.AssertionIdentity {
		t.Fatalf("%d %s, challenge %q", a.Status, a.Body, challenge)
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("the poll says %s", code)
	}
	var again contract.StartedClaim
	b := harness.Do(t, p.Anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
	if harness.Decode(t, b, &again); b.Status != http.StatusOK || again.Claim.UserCode != "" || again.UserCode != "" {
		t.Fatalf("the claim endpoint answers %d %s", b.Status, b.Body)
	}
	page := w.OpenAgentLink(t, again.Claim.VerificationURI)
	harness.WantPage(t, "the page", page, http.StatusOK, "Development agents")
	wrong := w.EnterAgentCode(t, page, harness.OtherCode(r.Claim.UserCode))
	harness.WantPage(t, "a wrong code", wrong, http.StatusBadRequest, "code")
	harness.WantPage(t, "the code", w.EnterAgentCode(t, page, r.Claim.UserCode), http.StatusOK, "The agent is in")
	token := p.Token(t, harness.ClaimGrant(r.ClaimToken))
	who := whoami(t, p.Env, token.AccessToken)
	if who.Workspace.Name != "Ada's Workspace" {
		t.Errorf("the token is for %+v", who.Workspace)
	}
	whoami(t, p.Env, p.Token(t, harness.JWTBearer(token.IdentityAssertion)).AccessToken)
	wantError(t, "the assertion again", harness.Must(p.Present(assertion))(t), http.StatusBadRequest, "replay_detected")
	next := exchanged(t, p.Env, p.Vouched(t, p.Identity.First, "ada@example.org"))
	if whoami(t, p.Env, next).Workspace.ID != who.Workspace.ID {
		t.Error("the next time the agent works elsewhere")
	}
}

// TestProvidersOfAMemberLeadToOneWorkspaceAndEndApart ends one by an event of its own, and one on the page of
// connections.
func TestProvidersOfAMemberLeadToOneWorkspaceAndEndApart(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	own := w.CLIToken(t).AccessToken
	issuers := []*idp.Issuer{p.Identity.First, p.Identity.Second}
	var tokens []string
	for _, i := range issuers {
		r := p.Interaction(t, i, "ada@example.org")
		agree(t, w, r)
		tokens = append(tokens, p.Token(t, harness.ClaimGrant(r.ClaimToken)).AccessToken)
		harness.WantPage(t, "the connections", w.Get(t, "/connections"), http.StatusOK, i.Name)
	}
	if whoami(t, p.Env, tokens[0]).Workspace.ID != whoami(t, p.Env, tokens[1]).Workspace.ID {
		t.Error("the agents work in two workspaces")
	}
	ended := func(i *idp.Issuer, token string) {
		t.Helper()
		wantDead(t, p.Env, token)
		wantError(t, "the next assertion", harness.Must(p.Present(harness.Assertion(t, i, "ada@example.org")))(t),
			http.StatusUnauthorized, "interaction_required")
	}
	a := harness.Must(p.Notify(harness.Revocation(t, issuers[1], "ada@example.org")))(t)
	if a.Status != http.StatusAccepted {
		t.Fatalf("the event answers %d %s", a.Status, a.Body)
	}
	p.Clock.Advance(time.Second) // an assertion of the same second may be from before the event
	ended(issuers[1], tokens[1])
	whoami(t, p.Env, tokens[0])

	body := string(w.Get(t, "/connections").Body)
	_, rest, found := strings.Cut(body, `href="/connections/providers/`)
	path, _, _ := strings.Cut(rest, `"`)
	if path = "/connections/providers/" + path; !found {
		t.Fatalf("the connection cannot be ended: %s", body)
	}
	harness.WantPage(t, "the question", w.Get(t, path), http.StatusOK, issuers[0].Name)
	if a := w.Post(t, path, url.Values{}); a.Status != http.StatusSeeOther && a.Status != http.StatusOK {
		t.Fatalf("ending it answers %d %s", a.Status, a.Body)
	}
	ended(issuers[0], tokens[0])
	if got := p.StatusFor(t, own, "/v1/web/artifacts"); got != http.StatusOK {
		t.Errorf("the person is answered %d", got)
	}
}
