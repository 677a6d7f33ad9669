package identity

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestT22TheFifthWrongCodeEndsAnAttempt(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	s := p.StartClaim(t, r)
	w := p.SignedIn(t, "ada@example.org")
	harness.WantPage(t, "the page", openAttempt(t, w, s), 200, "Let this agent in?")
	for n := range limits.AttemptTries - 1 {
		a := enterCode(t, w, anotherCode(s.UserCode))
		if a.Status != 400 || !strings.Contains(string(a.Body), "Let this agent in?") {
			t.Fatalf("wrong code %d answers %d %s", n+1, a.Status, a.Body)
		}
	}
	harness.WantPage(t, "the fifth wrong code", enterCode(t, w, anotherCode(s.UserCode)), 400, "No agent is waiting here")
	harness.WantPage(t, "the right one", enterCode(t, w, s.UserCode), 400, "No agent is waiting here")
	who := p.WithBearer(w.CLIToken(t).AccessToken)
	a := harness.Do(t, who, "POST", p.Origins.API+"/v1/web/agent-auth/claim/complete", contract.CompleteClaim{
		AttemptToken: s.AttemptToken,
		UserCode:     s.UserCode,
	})
	harness.WantRefused(t, a, 400, fault.InvalidRequest)
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("the agent is told %s", code)
	}
	next := p.StartClaim(t, r)
	openAttempt(t, w, next)
	harness.WantPage(t, "the next attempt", enterCode(t, w, next.UserCode), 200, "The agent is in")
}

func TestT23FifteenWrongCodesLockARegistration(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	var last contract.StartedClaim
	var w *harness.FakeBrowser
	// no person may guess more often than ten times
	for _, email := range []string{"one@example.org", "two@example.org", "three@example.org"} {
		last, w = p.StartClaim(t, r), p.SignedIn(t, email)
		openAttempt(t, w, last)
		for range limits.AttemptTries {
			if a := enterCode(t, w, anotherCode(last.UserCode)); a.Status != 400 {
				t.Fatalf("a wrong code answers %d", a.Status)
			}
		}
	}
	harness.WantPage(t, "the right code", enterCode(t, w, last.UserCode), 400, "No agent is waiting here")
	var e contract.OAuthError
	a := harness.Do(t, p.Anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
	if harness.Decode(t, a, &e); a.Status != 400 || e.Error != "access_denied" {
		t.Errorf("another attempt answers %d %s", a.Status, a.Body)
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "access_denied" {
		t.Errorf("the agent is told %s", code)
	}
	p.Token(t, harness.JWTBearer(r.IdentityAssertion)) // where it works already it may go on
}

func TestT22APersonMayGuessTenCodesInTenMinutes(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	for range p.Options.Limits.WrongCode.Limit / limits.AttemptTries {
		s := p.StartClaim(t, p.RegisterAgent(t))
		openAttempt(t, w, s)
		for range limits.AttemptTries {
			enterCode(t, w, anotherCode(s.UserCode))
		}
	}
	s := p.StartClaim(t, p.RegisterAgent(t))
	openAttempt(t, w, s)
	a := enterCode(t, w, s.UserCode)
	harness.WantPage(t, "the eleventh", a, 429, "Too many requests")
	if harness.RetryAfter(t, a) > p.Options.Limits.WrongCode.Window {
		t.Errorf("Retry-After is %s", harness.RetryAfter(t, a))
	}
	p.Clock.Advance(p.Options.Limits.WrongCode.Window)
	s = p.StartClaim(t, p.RegisterAgent(t))
	openAttempt(t, w, s)
	harness.WantPage(t, "later", enterCode(t, w, s.UserCode), 200, "The agent is in")
}

func TestT24TheCodeOfAnEarlierAttemptOpensNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	first := p.StartClaim(t, r)
	early, late := p.SignedIn(t, "ada@example.org"), p.SignedIn(t, "ada@example.org")
	openAttempt(t, early, first)
	second := p.StartClaim(t, r)
	openAttempt(t, late, second)
	harness.WantPage(t, "the first page", enterCode(t, early, first.UserCode), 400, "No agent is waiting here")
	if first.UserCode != second.UserCode {
		harness.WantPage(
			t, "the first code at the second page", enterCode(t, late, first.UserCode), 400, "Let this agent in?",
		)
	}
	harness.WantPage(t, "the second code", enterCode(t, late, second.UserCode), 200, "The agent is in")
}

// TestT25TwoBrowsersLetOneAgentIn has two people with the right code, and a third with the claim token, act at once.
func TestT25TwoBrowsersLetOneAgentIn(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	agent := p.WithBearer(p.Token(t, harness.JWTBearer(r.IdentityAssertion)).AccessToken)
	made := harness.PublishPage(t, agent, "wanted by three")
	s := p.StartClaim(t, r)
	windows := []*harness.FakeBrowser{
		p.SignedIn(t, "ada@example.org"), p.SignedIn(t, "bob@example.org"), p.SignedIn(t, "cy@example.org"),
	}
	for _, w := range windows[:2] {
		harness.WantPage(t, "the page", openAttempt(t, w, s), 200, "Let this agent in?")
	}
	owners := make([]*wire.Agent, len(windows))
	for n, w := range windows {
		owners[n] = p.WithBearer(w.CLIToken(t).AccessToken)
	}
	answers := make([]wire.Answer, len(windows))
	ask := []func() (wire.Answer, error){
		func() (wire.Answer, error) {
			return windows[0].Try(
				"POST", "/agent-auth/claim", codeForm(windows[0], s.UserCode).Encode(), windows[0].FormHeaders()...,
			)
		},
		func() (wire.Answer, error) {
			return windows[1].Try(
				"POST", "/agent-auth/claim", codeForm(windows[1], s.UserCode).Encode(), windows[1].FormHeaders()...,
			)
		},
		func() (wire.Answer, error) {
			return owners[2].Do(
				ctx,
				"POST",
				p.Origins.API+harness.ClaimPath,
				contract.ClaimRequest{ClaimToken: r.ClaimToken},
				harness.KeyHeader()...,
			)
		},
	}
	var all sync.WaitGroup
	for n := range ask {
		all.Go(func() {
			var err error
			if answers[n], err = ask[n](); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	won := -1
	for n, a := range answers {
		switch want := []int{400, 400, 404}[n]; {
		case a.Status == http.StatusOK && won < 0:
			won = n
		case a.Status != want:
			t.Errorf("number %d is answered %d %s, want %d", n, a.Status, a.Body, want)
		}
	}
	if won < 0 {
		t.Fatal("nobody got it")
	}
	for n, owner := range owners {
		a := harness.Do(t, owner, "GET", p.Origins.API+"/v1/web/artifacts/"+string(made.ArtifactID), nil)
		if (a.Status == http.StatusOK) != (n == won) {
			t.Errorf("%d won, and to number %d the artifact answers %d", won, n, a.Status)
		}
	}
	harness.WantRefused(t, harness.Do(t, agent, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	a := p.PostForm(t, "/oauth2/token", harness.ClaimGrant(r.ClaimToken), nil)
	if (a.Status == http.StatusOK) != (won < 2) {
		t.Errorf("%d won, and the agent is answered %d %s", won, a.Status, a.Body)
	}
}

// TestAStrangersClaimLinkOpensNoWorkspace registers an agent and sends its claim token to a person as a plain
// claim link. The person gets what was published; the stranger polls, and gets nothing.
func TestAStrangersClaimLinkOpensNoWorkspace(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	made := harness.PublishPage(t, p.WithBearer(p.Token(t, harness.JWTBearer(r.IdentityAssertion)).AccessToken), "a gift")
	w := p.SignedIn(t, "ada@example.org")
	harness.WantPage(
		t,
		"the claim link",
		w.Post(t, "/claim", url.Values{"claim_token": {r.ClaimToken}}),
		200,
		"gets no access to your workspace",
	)
	owner := p.WithBearer(w.CLIToken(t).AccessToken)
	if a := harness.TryClaim(t, owner, r.ClaimToken); a.Status != http.StatusOK {
		t.Fatalf("the claim answers %d %s", a.Status, a.Body)
	}
	if a := harness.Do(
		t, owner, "GET", p.Origins.API+"/v1/web/artifacts/"+string(made.ArtifactID), nil,
	); a.Status != http.StatusOK {
		t.Errorf("the artifact answers its new owner %d", a.Status)
	}
	harness.WantPage(t, "the list of agents", w.Get(t, "/connections"), 200, "No agents")
	for _, after := range []time.Duration{0, limits.PollInterval, limits.Day} {
		p.Clock.Advance(after)
		for what, try := range map[string]url.Values{
			"the claim grant": harness.ClaimGrant(r.ClaimToken),
			"the assertion":   harness.JWTBearer(r.IdentityAssertion),
		} {
			if code := p.OAuthError(t, try); code != "invalid_grant" {
				t.Errorf("%s later %s answers %s", after, what, code)
			}
		}
	}
}

// TestT27WhatWasGivenBeforeAClaimEndsWithIt redeems the claim token at the plain route; the other way is shown in a
// browser.
func TestT27WhatWasGivenBeforeAClaimEndsWithIt(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	agent := p.WithBearer(p.Token(t, harness.JWTBearer(r.IdentityAssertion)).AccessToken)
	harness.PublishPage(t, agent, "before")
	s := p.StartClaim(t, r)
	w := p.SignedIn(t, "ada@example.org")
	owner := p.WithBearer(w.CLIToken(t).AccessToken)
	if a := harness.TryClaim(t, owner, r.ClaimToken); a.Status != http.StatusOK {
		t.Fatalf("the claim answers %d %s", a.Status, a.Body)
	}
	harness.WantRefused(t, harness.Do(t, agent, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	// T70
	harness.WantRefused(
		t, harness.TryCreate(t, agent, wire.NewKey(), wire.Declare("T", harness.Page("p"))), 401, fault.NotAuthenticated,
	)
	if code := p.OAuthError(t, harness.JWTBearer(r.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("the assertion from before answers %s", code)
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "invalid_grant" {
		t.Errorf("the claim token answers %s", code)
	}
	if a := openAttempt(t, w, s); a.Status != 400 {
		t.Errorf("the open attempt answers %d", a.Status)
	}
	harness.WantPage(t, "its code", enterCode(t, w, s.UserCode), 400, "No agent is waiting here")
	harness.WantRefused(t, harness.TryClaim(t, owner, r.ClaimToken), 404, fault.NotFound)
}

// TestT28WhoPollsTooOftenIsToldToSlowDown polls on until the address is refused as a whole.
func TestT28WhoPollsTooOftenIsToldToSlowDown(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	p.StartClaim(t, r)
	told := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			a, err := p.Anyone.Do(
				ctx,
				"POST",
				p.Origins.API+"/oauth2/token",
				harness.ClaimGrant(r.ClaimToken).Encode(),
				"Content-Type",
				"application/x-www-form-urlencoded",
			)
			var e contract.OAuthError
			json.Unmarshal(a.Body, &e)
			if err != nil || a.Status != 400 {
				t.Errorf("a poll answers %d %s %v", a.Status, a.Body, err)
			}
			mu.Lock()
			defer mu.Unlock()
			told[e.Error]++
		})
	}
	all.Wait()
	if told["authorization_pending"] == 0 || told["authorization_pending"] > limits.PollBurst ||
		told["authorization_pending"]+told["slow_down"] != 50 {
		t.Errorf("50 polls in a second are told %v", told)
	}
	var last wire.Answer
	for range p.Options.Limits.TokenFailure.Limit {
		last = p.PostForm(t, "/oauth2/token", harness.ClaimGrant(r.ClaimToken), nil)
		if last.Status == http.StatusTooManyRequests {
			break
		}
	}
	if last.Status != http.StatusTooManyRequests || !strings.Contains(string(last.Body), `"slow_down"`) ||
		harness.RetryAfter(t, last) > time.Minute {
		t.Errorf("in the end it is %d %s", last.Status, last.Body)
	}
	a := p.PostForm(t, "/oauth2/token", harness.JWTBearer(r.IdentityAssertion), nil)
	if a.Status != http.StatusTooManyRequests {
		t.Errorf("another grant answers the address %d", a.Status)
	}
	p.Clock.Advance(p.Options.Limits.TokenFailure.Window)
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("a minute later it is %s", code)
	}
}

func TestT28AnAddressMayBeRefusedSixtyTimesAMinute(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	r := p.RegisterAgent(t)
	wrong := credential.Mint(credential.ClaimToken, credential.Preview, parsedWorkspace(t, r.ClaimToken), "").Reveal()
	for n := range p.Options.Limits.TokenFailure.Limit {
		if code := p.OAuthError(t, harness.ClaimGrant(wrong)); code != "expired_token" {
			t.Fatalf("refusal %d is %s", n+1, code)
		}
	}
	var e contract.OAuthError
	a := p.PostForm(t, "/oauth2/token", harness.ClaimGrant(wrong), &e)
	if a.Status != 429 || e.Error != "slow_down" || harness.RetryAfter(t, a) < time.Second ||
		harness.RetryAfter(t, a) > time.Minute {
		t.Errorf("one more answers %d %s, Retry-After %q", a.Status, e.Error, a.Header.Get("Retry-After"))
	}
	a = p.PostForm(t, "/oauth2/token", harness.JWTBearer(r.IdentityAssertion), nil)
	if a.Status != 429 {
		t.Errorf("what is right answers the address %d", a.Status)
	}
	if a = harness.Do(t, p.Anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken}); a.Status != 429 {
		t.Errorf("the claim endpoint answers the address %d", a.Status)
	}
	p.Clock.Advance(p.Options.Limits.TokenFailure.Window)
	p.Token(t, harness.JWTBearer(r.IdentityAssertion))
}

func TestT29AClaimHandsOutItsTokenThreeTimesAndForTenMinutes(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	claimed := func() contract.RegisteredAgent {
		r := p.RegisterAgent(t)
		s := p.StartClaim(t, r)
		openAttempt(t, w, s)
		harness.WantPage(t, "the code", enterCode(t, w, s.UserCode), 200, "The agent is in")
		return r
	}
	r := claimed()
	harness.WantPage(
		t,
		"the list of agents",
		w.Get(t, "/connections"),
		200,
		`<dt>Ends</dt><dd><time datetime="`+r.AssertionExpires.UTC().Format(time.RFC3339)[:16],
	)
	var last string
	for n := range limits.ClaimRedemptions {
		got := p.Token(t, harness.ClaimGrant(r.ClaimToken))
		if last != "" {
			harness.WantRefused(
				t, harness.Do(t, p.WithBearer(last), "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated,
			)
		}
		a := harness.Do(t, p.WithBearer(got.AccessToken), "GET", p.Origins.API+"/v1/whoami", nil)
		if a.Status != http.StatusOK {
			t.Errorf("token %d answers %d", n+1, a.Status)
		}
		last = got.AccessToken
	}
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "invalid_grant" {
		t.Errorf("the fourth time answers %s", code)
	}
	r = claimed()
	p.Clock.Advance(limits.ClaimRedeemLife)
	if code := p.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "invalid_grant" {
		t.Errorf("after ten minutes it answers %s", code)
	}
}

// parsedWorkspace is the workspace that a claim token names.
func parsedWorkspace(t testing.TB, claimToken string) id.Workspace {
	t.Helper()
	return harness.Must(harness.ParseClaimToken(claimToken))(t).Workspace
}
