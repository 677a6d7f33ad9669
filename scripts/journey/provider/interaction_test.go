package provider

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// TestAMemberAgreesAndTheAgentIsIn is the whole way of an agent of a member.
func TestAMemberAgreesAndTheAgentIsIn(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "Ada@example.org")
	assertion := harness.Assertion(t, p.Identity.First, "ada@example.org")
	a := p.Present(t, assertion)
	var r contract.InteractionRequired
	harness.Decode(t, a, &r)
	challenge := a.Header.Get("WWW-Authenticate")
	if a.Status != http.StatusUnauthorized || r.Error != "interaction_required" ||
		!strings.HasPrefix(challenge, `AgentAuth error="interaction_required", error_description="`) ||
		len(r.Claim.UserCode) != 6 || r.Claim.Interval != 5 || r.Claim.ExpiresIn < 540 || r.Claim.ExpiresIn > 600 ||
		r.ClaimURL != p.Origins.API+"/agent/identity/claim" || r.RegistrationType != contract.AssertionIdentity {
		t.Fatalf("%d %s, challenge %q", a.Status, a.Body, challenge)
	}
	if link := r.Claim.VerificationURI; strings.Contains(link, r.ClaimToken) || strings.Contains(link, r.Claim.UserCode) {
		t.Error("the link holds the agent's claim token or the code")
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("the poll says %s", code)
	}
	var again contract.StartedClaim
	b := harness.Do(t, p.Anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
	if harness.Decode(t, b, &again); b.Status != http.StatusOK || again.Claim.UserCode != "" || again.UserCode != "" ||
		again.Claim.VerificationURI == "" {
		t.Errorf("the claim endpoint answers %d %s", b.Status, b.Body)
	}
	if again.Claim.VerificationURI != "" {
		r.Claim.VerificationURI = again.Claim.VerificationURI
	}
	page := openLink(t, w, r.Claim.VerificationURI)
	harness.WantPage(t, "the page", page, http.StatusOK, "Development agents")
	harness.WantPage(t, "a wrong code", enterCode(t, w, page, another(r.Claim.UserCode)), http.StatusBadRequest, "code")
	harness.WantPage(t, "the code", enterCode(t, w, page, r.Claim.UserCode), http.StatusOK, "The agent is in")
	token := p.Token(t, harness.ClaimGrant(r.ClaimToken))
	who := whoami(t, p.Env, token.AccessToken)
	if token.IdentityAssertion == "" || who.Workspace.Name != "Ada's Workspace" {
		t.Errorf("the token is for %+v", who.Workspace)
	}
	whoami(t, p.Env, p.Token(t, harness.JWTBearer(token.IdentityAssertion)).AccessToken)
	wantError(t, "the assertion again", p.Present(t, assertion), http.StatusBadRequest, "replay_detected")
	next := p.Vouched(t, p.Identity.First, "ada@example.org")
	last := exchanged(t, p.Env, next)
	if whoami(t, p.Env, last).Workspace.ID != whoami(t, p.Env, token.AccessToken).Workspace.ID {
		t.Error("the next time the agent works elsewhere")
	}
	harness.WantPage(t, "the connections", w.Get(t, "/connections"), http.StatusOK, "Development agents")
}

// TestT26OnlyTheMatchedMemberCanAgree lets another member type the code.
func TestT26OnlyTheMatchedMemberCanAgree(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w, other := p.SignedIn(t, "ada@example.org"), p.SignedIn(t, "eve@example.org")
	r := p.Interaction(t, p.Identity.First, "ada@example.org")
	page := openLink(t, other, r.Claim.VerificationURI)
	if a := enterCode(t, other, page, r.Claim.UserCode); a.Status != http.StatusBadRequest {
		t.Errorf("another member's code answers %d %s", a.Status, a.Body)
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("the poll says %s", code)
	}
	agree(t, w, r)
	who := whoami(t, p.Env, p.Token(t, harness.ClaimGrant(r.ClaimToken)).AccessToken)
	if who.Workspace.Name != "ada's Workspace" {
		t.Errorf("the agent is in %s", who.Workspace.Name)
	}
}

func TestAMemberRefusesAndNothingIsLinked(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	r := p.Interaction(t, p.Identity.First, "ada@example.org")
	page := openLink(t, w, r.Claim.VerificationURI)
	fields := url.Values{}
	for _, found := range hiddenField.FindAllSubmatch(page.Body, -1) {
		fields.Set(string(found[1]), string(found[2]))
	}
	if a := w.Post(t, "/agent-auth/claim/deny", fields); a.Status != http.StatusOK {
		t.Fatalf("refusing answers %d %s", a.Status, a.Body)
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "access_denied" {
		t.Errorf("the poll says %s", code)
	}
	wantError(t, "the next assertion", p.Present(t, harness.Assertion(t, p.Identity.First, "ada@example.org")),
		http.StatusUnauthorized, "interaction_required")
}

// TestAnUnansweredQuestionEndsAfterTenMinutes needs a new assertion, because the first one was used.
func TestAnUnansweredQuestionEndsAfterTenMinutes(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	r := p.Interaction(t, p.Identity.First, "ada@example.org")
	page := openLink(t, w, r.Claim.VerificationURI)
	p.Clock.Advance(limits.AttemptLife + time.Second)
	if a := enterCode(t, w, page, r.Claim.UserCode); a.Status != http.StatusBadRequest {
		t.Errorf("the code answers %d %s", a.Status, a.Body)
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "expired_token" {
		t.Errorf("the poll says %s", code)
	}
	agree(t, w, p.Interaction(t, p.Identity.First, "ada@example.org"))
}

// TestAConnectionToAProviderIsSeenAndEnded ends it on the page of connections.
func TestAConnectionToAProviderIsSeenAndEnded(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	r := p.Interaction(t, p.Identity.First, "ada@example.org")
	agree(t, w, r)
	token := p.Token(t, harness.ClaimGrant(r.ClaimToken)).AccessToken
	later := exchanged(t, p.Env, p.Vouched(t, p.Identity.First, "ada@example.org"))
	page := w.Get(t, "/connections")
	harness.WantPage(t, "the connections", page, http.StatusOK, "Development agents")
	_, rest, _ := strings.Cut(string(page.Body), "Development agents")
	_, rest, found := strings.Cut(rest, `href="/connections/`)
	path, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("the connection cannot be ended: %s", page.Body)
	}
	harness.WantPage(t, "the question", w.Get(t, "/connections/"+path), http.StatusOK, "Development agents")
	if a := w.Post(t, "/connections/"+path, url.Values{}); a.Status != http.StatusSeeOther && a.Status != http.StatusOK {
		t.Fatalf("ending it answers %d %s", a.Status, a.Body)
	}
	for _, dead := range []string{token, later} {
		wantDead(t, p.Env, dead)
	}
	wantError(t, "the next assertion", p.Present(t, harness.Assertion(t, p.Identity.First, "ada@example.org")),
		http.StatusUnauthorized, "interaction_required")
}
