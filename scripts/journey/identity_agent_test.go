package journey

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// agents is a deployment with a clock where as many agents may register as like.
func agents(t testing.TB, change ...func(*stack.Options)) *probe {
	t.Helper()
	now := &clock{now: time.Now()}
	plenty := func(o *stack.Options) { o.Limits.Pow, o.Limits.ProvisionAddress.Limit = limits.PowOff, 100 }
	p := pry(t, append([]func(*stack.Options){now.rule, plenty}, change...)...)
	p.clock = now
	return p
}

func TestT22TheFifthWrongCodeEndsAnAttempt(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	s := p.startClaim(t, r)
	w := p.signedIn(t, "ada@example.org")
	says(t, "the page", w.opensAttempt(t, s), 200, "Let this agent in?")
	for n := range limits.AttemptTries - 1 {
		if a := w.types(t, anotherCode(s.UserCode)); a.Status != 400 || !strings.Contains(string(a.Body), "Let this agent in?") {
			t.Fatalf("wrong code %d answers %d %s", n+1, a.Status, a.Body)
		}
	}
	says(t, "the fifth wrong code", w.types(t, anotherCode(s.UserCode)), 400, "No agent is waiting here")
	says(t, "the right one", w.types(t, s.UserCode), 400, "No agent is waiting here")
	who := p.with(w.cliToken(t).AccessToken)
	a := do(t, who, "POST", p.Origins.API+"/v1/web/agent-auth/claim/complete", contract.CompleteClaim{AttemptToken: s.AttemptToken, UserCode: s.UserCode})
	refused(t, a, 400, fault.InvalidRequest)
	if code := p.oauthError(t, claimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("the agent is told %s", code)
	}
	next := p.startClaim(t, r)
	w.opensAttempt(t, next)
	says(t, "the next attempt", w.types(t, next.UserCode), 200, "The agent is in")
}

func TestT23FifteenWrongCodesLockARegistration(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	var last contract.StartedClaim
	var w *window
	for _, email := range []string{"one@example.org", "two@example.org", "three@example.org"} { // nobody may guess more often than ten times
		last, w = p.startClaim(t, r), p.signedIn(t, email)
		w.opensAttempt(t, last)
		for range limits.AttemptTries {
			if a := w.types(t, anotherCode(last.UserCode)); a.Status != 400 {
				t.Fatalf("a wrong code answers %d", a.Status)
			}
		}
	}
	says(t, "the right code", w.types(t, last.UserCode), 400, "No agent is waiting here")
	var e contract.OAuthError
	a := do(t, p.anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
	if succeed(t, json.Unmarshal(a.Body, &e)); a.Status != 400 || e.Error != "access_denied" {
		t.Errorf("another attempt answers %d %s", a.Status, a.Body)
	}
	if code := p.oauthError(t, claimGrant(r.ClaimToken)); code != "access_denied" {
		t.Errorf("the agent is told %s", code)
	}
	p.token(t, jwtBearer(r.IdentityAssertion)) // where it works already it may go on
}

func TestT22APersonMayGuessTenCodesInTenMinutes(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	for range p.options.Limits.WrongCode.Limit / limits.AttemptTries {
		s := p.startClaim(t, p.register(t))
		w.opensAttempt(t, s)
		for range limits.AttemptTries {
			w.types(t, anotherCode(s.UserCode))
		}
	}
	s := p.startClaim(t, p.register(t))
	w.opensAttempt(t, s)
	a := w.types(t, s.UserCode)
	if says(t, "the eleventh", a, 429, "Too much at once"); wait(t, a) > p.options.Limits.WrongCode.Window {
		t.Errorf("Retry-After is %s", wait(t, a))
	}
	p.clock.pass(p.options.Limits.WrongCode.Window)
	s = p.startClaim(t, p.register(t))
	w.opensAttempt(t, s)
	says(t, "later", w.types(t, s.UserCode), 200, "The agent is in")
}

func TestT24TheCodeOfAnEarlierAttemptOpensNothing(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	first := p.startClaim(t, r)
	early, late := p.signedIn(t, "ada@example.org"), p.signedIn(t, "ada@example.org")
	early.opensAttempt(t, first)
	second := p.startClaim(t, r)
	late.opensAttempt(t, second)
	says(t, "the first page", early.types(t, first.UserCode), 400, "No agent is waiting here")
	if first.UserCode != second.UserCode {
		says(t, "the first code at the second page", late.types(t, first.UserCode), 400, "Let this agent in?")
	}
	says(t, "the second code", late.types(t, second.UserCode), 200, "The agent is in")
}

// TestT25TwoBrowsersLetOneAgentIn has two people with the right code, and a third with the claim token, act at once.
func TestT25TwoBrowsersLetOneAgentIn(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	agent := p.with(p.token(t, jwtBearer(r.IdentityAssertion)).AccessToken)
	made := published(t, agent, "wanted by three")
	s := p.startClaim(t, r)
	windows := []*window{p.signedIn(t, "ada@example.org"), p.signedIn(t, "bob@example.org"), p.signedIn(t, "cy@example.org")}
	for _, w := range windows[:2] {
		says(t, "the page", w.opensAttempt(t, s), 200, "Let this agent in?")
	}
	owners := make([]*wire.Agent, len(windows))
	for n, w := range windows {
		owners[n] = p.with(w.cliToken(t).AccessToken)
	}
	answers := make([]wire.Answer, len(windows))
	ask := []func() (wire.Answer, error){
		func() (wire.Answer, error) {
			return windows[0].try("POST", "/agent-auth/claim", windows[0].answers(s.UserCode).Encode(), windows[0].ownForm()...)
		},
		func() (wire.Answer, error) {
			return windows[1].try("POST", "/agent-auth/claim", windows[1].answers(s.UserCode).Encode(), windows[1].ownForm()...)
		},
		func() (wire.Answer, error) {
			return owners[2].Do(ctx, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: r.ClaimToken}, keyed()...)
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
		a := do(t, owner, "GET", p.Origins.API+"/v1/web/artifacts/"+string(made.ArtifactID), nil)
		if (a.Status == http.StatusOK) != (n == won) {
			t.Errorf("%d won, and to number %d the artifact answers %d", won, n, a.Status)
		}
	}
	refused(t, do(t, agent, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	if a := p.form(t, "/oauth2/token", claimGrant(r.ClaimToken), nil); (a.Status == http.StatusOK) != (won < 2) {
		t.Errorf("%d won, and the agent is answered %d %s", won, a.Status, a.Body)
	}
}

// TestAStrangersClaimLinkOpensNoWorkspace has somebody register an agent and send its claim token to a person as a plain
// claim link. The person gets what was published; the stranger polls, and gets nothing.
func TestAStrangersClaimLinkOpensNoWorkspace(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	made := published(t, p.with(p.token(t, jwtBearer(r.IdentityAssertion)).AccessToken), "a gift")
	w := p.signedIn(t, "ada@example.org")
	says(t, "the claim link", w.post(t, "/claim", url.Values{"claim_token": {r.ClaimToken}}), 200, "gets no access to your workspace")
	owner := p.with(w.cliToken(t).AccessToken)
	if a := do(t, owner, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: r.ClaimToken}, keyed()...); a.Status != http.StatusOK {
		t.Fatalf("the claim answers %d %s", a.Status, a.Body)
	}
	if a := do(t, owner, "GET", p.Origins.API+"/v1/web/artifacts/"+string(made.ArtifactID), nil); a.Status != http.StatusOK {
		t.Errorf("the artifact answers its new owner %d", a.Status)
	}
	says(t, "the list of agents", w.get(t, "/connections"), 200, "No agents")
	for _, after := range []time.Duration{0, limits.PollInterval, limits.Day} {
		p.clock.pass(after)
		for what, try := range map[string]url.Values{"the claim grant": claimGrant(r.ClaimToken), "the assertion": jwtBearer(r.IdentityAssertion)} {
			if code := p.oauthError(t, try); code != "invalid_grant" {
				t.Errorf("%s later %s answers %s", after, what, code)
			}
		}
	}
}

// TestT27WhatWasGivenBeforeAClaimEndsWithIt redeems the claim token at the plain route; the other way is shown in a browser.
func TestT27WhatWasGivenBeforeAClaimEndsWithIt(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	agent := p.with(p.token(t, jwtBearer(r.IdentityAssertion)).AccessToken)
	published(t, agent, "before")
	s := p.startClaim(t, r)
	w := p.signedIn(t, "ada@example.org")
	owner := p.with(w.cliToken(t).AccessToken)
	if a := do(t, owner, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: r.ClaimToken}, keyed()...); a.Status != http.StatusOK {
		t.Fatalf("the claim answers %d %s", a.Status, a.Body)
	}
	refused(t, do(t, agent, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	refused(t, tryCreate(t, agent, wire.NewKey(), wire.Declare("T", page("p"))), 401, fault.NotAuthenticated) // T70
	if code := p.oauthError(t, jwtBearer(r.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("the assertion from before answers %s", code)
	}
	if code := p.oauthError(t, claimGrant(r.ClaimToken)); code != "invalid_grant" {
		t.Errorf("the claim token answers %s", code)
	}
	if a := w.opensAttempt(t, s); a.Status != 400 {
		t.Errorf("the open attempt answers %d", a.Status)
	}
	says(t, "its code", w.types(t, s.UserCode), 400, "No agent is waiting here")
	refused(t, do(t, owner, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: r.ClaimToken}, keyed()...), 404, fault.NotFound)
}

// TestT28WhoPollsTooOftenIsToldToSlowDown polls on until the address is refused as a whole.
func TestT28WhoPollsTooOftenIsToldToSlowDown(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	p.startClaim(t, r)
	told := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			a, err := p.anyone.Do(ctx, "POST", p.Origins.API+"/oauth2/token", claimGrant(r.ClaimToken).Encode(), "Content-Type", "application/x-www-form-urlencoded")
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
	if told["authorization_pending"] == 0 || told["authorization_pending"] > limits.PollBurst || told["authorization_pending"]+told["slow_down"] != 50 {
		t.Errorf("50 polls in a second are told %v", told)
	}
	var last wire.Answer
	for range p.options.Limits.TokenFailure.Limit {
		if last = p.form(t, "/oauth2/token", claimGrant(r.ClaimToken), nil); last.Status == http.StatusTooManyRequests {
			break
		}
	}
	if last.Status != http.StatusTooManyRequests || !strings.Contains(string(last.Body), `"slow_down"`) || wait(t, last) > time.Minute {
		t.Errorf("in the end it is %d %s", last.Status, last.Body)
	}
	if a := p.form(t, "/oauth2/token", jwtBearer(r.IdentityAssertion), nil); a.Status != http.StatusTooManyRequests {
		t.Errorf("another grant answers the address %d", a.Status)
	}
	p.clock.pass(p.options.Limits.TokenFailure.Window)
	if code := p.oauthError(t, claimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("a minute later it is %s", code)
	}
}

func TestT28AnAddressMayBeRefusedSixtyTimesAMinute(t *testing.T) {
	t.Parallel()
	p := agents(t)
	r := p.register(t)
	wrong := credential.Mint(credential.ClaimToken, credential.Preview, parsedWorkspace(t, r.ClaimToken), "").Reveal()
	for n := range p.options.Limits.TokenFailure.Limit {
		if code := p.oauthError(t, claimGrant(wrong)); code != "expired_token" {
			t.Fatalf("refusal %d is %s", n+1, code)
		}
	}
	var e contract.OAuthError
	a := p.form(t, "/oauth2/token", claimGrant(wrong), &e)
	if a.Status != 429 || e.Error != "slow_down" || wait(t, a) < time.Second || wait(t, a) > time.Minute {
		t.Errorf("one more answers %d %s, Retry-After %q", a.Status, e.Error, a.Header.Get("Retry-After"))
	}
	a = p.form(t, "/oauth2/token", jwtBearer(r.IdentityAssertion), nil)
	if a.Status != 429 {
		t.Errorf("what is right answers the address %d", a.Status)
	}
	if a = do(t, p.anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken}); a.Status != 429 {
		t.Errorf("the claim endpoint answers the address %d", a.Status)
	}
	p.clock.pass(p.options.Limits.TokenFailure.Window)
	p.token(t, jwtBearer(r.IdentityAssertion))
}

func TestT29AClaimHandsOutItsTokenThreeTimesAndForTenMinutes(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	claimed := func() contract.RegisteredAgent {
		r := p.register(t)
		s := p.startClaim(t, r)
		w.opensAttempt(t, s)
		says(t, "the code", w.types(t, s.UserCode), 200, "The agent is in")
		return r
	}
	r := claimed()
	says(t, "the list of agents", w.get(t, "/connections"), 200, `<dt>Ends</dt><dd><time datetime="`+r.AssertionExpires.UTC().Format(time.RFC3339)[:16])
	var last string
	for n := range limits.ClaimRedemptions {
		got := p.token(t, claimGrant(r.ClaimToken))
		if last != "" {
			refused(t, do(t, p.with(last), "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
		}
		if a := do(t, p.with(got.AccessToken), "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
			t.Errorf("token %d answers %d", n+1, a.Status)
		}
		last = got.AccessToken
	}
	if code := p.oauthError(t, claimGrant(r.ClaimToken)); code != "invalid_grant" {
		t.Errorf("the fourth time answers %s", code)
	}
	r = claimed()
	p.clock.pass(limits.ClaimRedeemLife)
	if code := p.oauthError(t, claimGrant(r.ClaimToken)); code != "invalid_grant" {
		t.Errorf("after ten minutes it answers %s", code)
	}
}

// parsedWorkspace is the workspace that a claim token names.
func parsedWorkspace(t testing.TB, claimToken string) id.Workspace {
	t.Helper()
	return must(parsedClaim(claimToken))(t).Workspace
}
