package identity

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestT22T27T29AnAgentIsLetInByItsCodeAndWhatItHadBeforeEnds follows an agent from its registration to its work in the
// workspace of the person who typed the code.
func TestT22T27T29AnAgentIsLetInByItsCodeAndWhatItHadBeforeEnds(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	before := p.Token(t, harness.JWTBearer(r.IdentityAssertion)).AccessToken
	made := harness.PublishPage(t, p.WithBearer(before), "before")
	w := p.SignedIn(t, "ada@example.org")
	owner := p.WithBearer(w.CLIToken(t).AccessToken)

	guessed := p.StartClaim(t, r)
	page := w.OpenAgentLink(t, guessed.Claim.VerificationURI)
	for range limits.AttemptTries - 1 {
		wrong := w.EnterAgentCode(t, page, harness.OtherCode(guessed.UserCode))
		harness.WantPage(t, "a wrong code", wrong, 400, "Let this agent in?")
	}
	for _, code := range []string{harness.OtherCode(guessed.UserCode), guessed.UserCode} { // the fifth, then the right one
		harness.WantPage(t, "a code too many", w.EnterAgentCode(t, page, code), 400, "No agent is waiting here")
	}
	const complete = "/v1/web/agent-auth/claim/complete"
	late := contract.CompleteClaim{AttemptToken: guessed.AttemptToken, UserCode: guessed.UserCode}
	harness.WantRefused(t, harness.Do(t, owner, "POST", p.Origins.API+complete, late), 400, fault.InvalidRequest)
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("the agent is told %s", code)
	}
	s := p.StartClaim(t, r)
	page = w.OpenAgentLink(t, s.Claim.VerificationURI)
	harness.WantPage(t, "the code", w.EnterAgentCode(t, page, s.UserCode), 200, "The agent is in")

	last := before
	for range limits.ClaimRedemptions {
		next := p.Token(t, harness.ClaimGrant(r.ClaimToken)).AccessToken
		if was, is := p.StatusFor(t, last, "/v1/whoami"), p.StatusFor(t, next, "/v1/whoami"); was != 401 || is != 200 {
			t.Errorf("the token before answers %d, the new one %d", was, is)
		}
		last = next
	}
	for what, grant := range map[string]url.Values{
		"a fourth redemption":     harness.ClaimGrant(r.ClaimToken),
		"the assertion of before": harness.JWTBearer(r.IdentityAssertion),
	} {
		if code := p.OAuthError(t, grant); code != "invalid_grant" {
			t.Errorf("%s answers %s", what, code)
		}
	}
	harness.WantRefused(t, harness.TryClaim(t, owner, r.ClaimToken), 404, fault.NotFound)
	if got := p.StatusFor(t, owner.Key, "/v1/web/artifacts/"+string(made.ArtifactID)); got != http.StatusOK {
		t.Errorf("what the agent published answers its new owner %d", got)
	}
	ends := `<dt>Ends</dt><dd><time datetime="` + r.AssertionExpires.UTC().Format(time.RFC3339)[:16]
	harness.WantPage(t, "the list of agents", w.Get(t, "/connections"), 200, ends)

	other := p.RegisterAgent(t) // let in without a page
	next := p.StartClaim(t, other)
	harness.Call[any](t, owner, 200, "POST", complete, contract.CompleteClaim{
		AttemptToken: next.AttemptToken,
		UserCode:     next.UserCode,
	})
	p.Token(t, harness.ClaimGrant(other.ClaimToken))
}
