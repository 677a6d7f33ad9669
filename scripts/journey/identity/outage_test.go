package identity

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/crash"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// answerMost bounds the answer of a route of identity while its store hangs, with room for a busy machine.
const answerMost = 3500 * time.Millisecond

// outage is a deployment with a signed-in person and one of each record that routes of identity read.
type outage struct {
	*harness.BackendEnv
	window *harness.FakeBrowser
	ask    map[string]func() (wire.Answer, error)
}

func newOutage(t testing.TB) *outage {
	t.Helper()
	o := &outage{BackendEnv: harness.NewAgentAuthEnv(t, func(o *stack.Options) {
		o.Limits.Actor.Limit = 1000
		o.Limits.Workspace.Limit = 1000
		o.Limits.SignIn.Limit = 1000
		o.Limits.TokenFailure.Limit = 1000
	}), ask: map[string]func() (wire.Answer, error){}}
	o.window = o.SignedIn(t, "ada@example.org")
	o.pages(t)
	o.endpoints(t)
	who := o.NewMember(t)
	for _, r := range memberRoutes {
		o.ask["member "+r.name] = func() (wire.Answer, error) { return r.try(who) }
	}
	return o
}

// pages are those of the app host that need the store, and its forms with all that they need.
func (o *outage) pages(t testing.TB) {
	t.Helper()
	w, once := o.window, "page-"+strings.Repeat("x", 26)
	_, made, err := w.Anyone.Provision(ctx)
	harness.NoError(t, err)
	s := w.StartClaim(t, w.RegisterAgent(t))
	attempt := harness.HiddenFields(w.OpenAgentLink(t, s.Claim.VerificationURI))
	attempt.Set("user_code", s.UserCode)
	app := registerClient(t, o.BackendEnv, "An app")
	code := url.Values{"code": {w.StartDevice(t, "a laptop").UserCode}}
	request := url.Values{"req": {app.authorize(t, app.request("read")).Query().Get("req")}}
	for path, fields := range map[string]url.Values{
		"/api/auth/sign-out":            {},
		"/api/auth/sign-out-everywhere": {},
		"/keys":                         {"name": {"K"}, "once": {once}},
		"/settings":                     {"name": {"W"}, "days": {"2"}, "once": {once}},
		"/claim":                        {"claim_token": {made.ClaimToken}},
		"/claim/confirm":                {"claim_token": {made.ClaimToken}, "once": {once}},
		"/agent-auth/claim":             attempt,
		"/agent-auth/claim/deny":        attempt,
		"/device":                       code,
		"/device/approve":               code,
		"/device/deny":                  code,
		"/oauth/consent/allow":          request,
		"/oauth/consent/deny":           request,
	} {
		o.ask["app POST "+path] = func() (wire.Answer, error) {
			return w.Try("POST", path, fields.Encode(), w.FormHeaders()...)
		}
	}
	artifact := string(id.NewArtifact())
	for _, path := range []string{
		"/", "/dashboard", "/artifacts", "/artifacts/" + artifact, "/v/" + artifact, "/access-links", "/keys", "/keys/ended",
		"/feedback", "/artifacts/" + artifact + "/feedback",
		"/connections", "/audit", "/settings", "/claim", "/device", "/agent-auth/claim", "/oauth/consent?" + request.Encode(),
		"/api/auth/sign-in",
	} {
		o.ask["app GET "+path] = func() (wire.Answer, error) { return w.Try("GET", path, nil) }
	}
	back := o.BackendEnv.NewFakeBrowser()
	callback := back.Authenticate(t, back.BeginSignIn(t, "/"), "bob@example.org")
	o.ask["app GET callback"] = func() (wire.Answer, error) { return back.Try("GET", callback, nil) }
}

// endpoints are those of agents and OAuth clients.
func (o *outage) endpoints(t testing.TB) {
	t.Helper()
	r := o.RegisterAgent(t)
	agent := o.Token(t, harness.JWTBearer(r.IdentityAssertion))
	cli := o.window.CLIToken(t)
	c := registerClient(t, o.BackendEnv, "An app")
	code := c.allowed(t, o.window, "read").Get("code")
	idToken := harness.Must(o.Identity.Mint(provider.Person{Email: "ada@example.org"}, "", "", provider.Honest))(t)
	for name, fields := range map[string]url.Values{
		"token assertion":              harness.JWTBearer(r.IdentityAssertion),
		"token claim":                  harness.ClaimGrant(r.ClaimToken),
		"token code":                   c.exchange(code),
		"token refresh":                refreshGrant("cli", cli.RefreshToken),
		"token exchange":               harness.ExchangeGrant("cli", idToken),
		"token device":                 harness.DeviceGrant("cli", o.StartDevice(t, "d").DeviceCode),
		"device_authorization":         {"client_id": {"cli"}},
		"revoke a refresh token":       {"token": {cli.RefreshToken}},
		"revoke the token of an agent": {"token": {agent.AccessToken}},
	} {
		endpoint, _, _ := strings.Cut(name, " ")
		o.ask["oauth "+name] = func() (wire.Answer, error) {
			return o.Anyone.Do(ctx, "POST", o.Origins.API+"/oauth2/"+endpoint, fields.Encode(),
				"Content-Type", "application/x-www-form-urlencoded")
		}
	}
	for path, body := range map[string]any{
		"/oauth2/register":      contract.RegisterClient{RedirectURIs: []string{c.redirect}},
		"/agent/identity":       contract.RegisterAgent{Type: "anonymous"},
		"/agent/identity/claim": contract.StartClaim{ClaimToken: r.ClaimToken},
	} {
		o.ask["oauth "+path] = func() (wire.Answer, error) { return o.Anyone.Do(ctx, "POST", o.Origins.API+path, body) }
	}
	vouched := harness.Assertion(t, o.Identity.First, "cy@example.org")
	o.ask["oauth a provider's assertion"] = func() (wire.Answer, error) { return o.Present(vouched) }
	revoked := harness.Revocation(t, o.Identity.First, "cy@example.org")
	o.ask["oauth a provider's event"] = func() (wire.Answer, error) { return o.Notify(revoked) }
	o.ask["page authorize"] = func() (wire.Answer, error) {
		return o.Anyone.Do(ctx, "GET", o.Origins.API+"/oauth2/authorize?"+c.request("read").Encode(), nil)
	}
}

// timedAnswer is an answer and how long it took.
type timedAnswer struct {
	wire.Answer
	took time.Duration
}

// askEvery is the time between two questions: so many at the same moment would wait for this machine, and not for the
// store.
const askEvery = 40 * time.Millisecond

// all sends every request at once and returns the answers by name.
func (o *outage) all(t testing.TB) map[string]timedAnswer {
	t.Helper()
	var mu sync.Mutex
	answers := map[string]timedAnswer{}
	var asking sync.WaitGroup
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for name, ask := range o.ask {
		<-tick.C
		asking.Go(func() {
			start := time.Now()
			a, err := ask()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[name] = timedAnswer{a, time.Since(start)}
		})
	}
	asking.Wait()
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if a := answers[name]; a.took > answerMost {
			t.Errorf("%s answered %d after %s", name, a.Status, a.took)
		}
	}
	return answers
}

// unavailable tells what is wrong with the answer of a route that cannot reach its store; "" if it is the documented
// one.
func unavailable(name string, a wire.Answer) string {
	var e contract.OAuthError
	json.Unmarshal(a.Body, &e)
	kind, _, _ := strings.Cut(name, " ")
	fine := a.Status == http.StatusServiceUnavailable
	switch kind {
	case "oauth":
		fine = fine && e.Error == "server_error" && e.Description != "" && a.Header.Get("Cache-Control") == "no-store"
		if name == "oauth /agent/identity" && a.Status == http.StatusTooManyRequests { // its counters, as the contract has it
			fine = e.Error == "ephemeral_provision_unavailable" && a.Header.Get("Retry-After") != ""
		}
	case "member":
		fine = fine && a.Code() == fault.DatabaseUnavailable && a.Header.Get("Cache-Control") == "no-store"
	case "app", "page":
		number := a.Header.Get("X-Request-Id")
		fine = fine && strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") &&
			strings.Contains(string(a.Body), number)
	}
	if fine {
		return ""
	}
	return fmt.Sprintf("%s: %d %.300s", name, a.Status, a.Body)
}

// TestF45IdentityRefusesInTimeWhileTheStoreIsAway has no call come through, in several ways.
func TestF45IdentityRefusesInTimeWhileTheStoreIsAway(t *testing.T) { // alone: it looks at the clock
	for name, fails := range map[string]chaos.Action{
		"it hangs":                  chaos.Hold(nil),
		"it cannot be connected to": chaos.Unreachable,
		"it throttles":              chaos.Throttle,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			before := o.Snapshot(t)
			o.Faults.On("").Always().Before(fails)
			for name, a := range o.all(t) {
				if wrong := unavailable(name, a.Answer); wrong != "" {
					t.Error(wrong)
				}
				if a.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s sets a cookie", name)
				}
			}
			o.Faults.Clear()
			o.WantUnchanged(t, before)
			if signedOut(t, o.window) {
				t.Error("whoever was signed in is signed out afterwards")
			}
		})
	}
}

// counter tells that a call counts something.
func counter(input any) bool {
	in, is := input.(*dynamodb.UpdateItemInput)
	return is && in.Key["sk"] == nil
}

// TestF45IdentityRefusesInTimeWhileOnlySomeCallsHang lets what was asked first through.
func TestF45IdentityRefusesInTimeWhileOnlySomeCallsHang(t *testing.T) { // alone: it looks at the clock
	for name, c := range map[string]struct {
		hangs func(input any) bool
		must  []string // be refused
	}{
		"writes": {func(input any) bool { return crash.IsWrite(input) && !counter(input) }, []string{
			"oauth token assertion", "oauth token claim", "oauth token code", "oauth token refresh", "oauth token exchange",
			"oauth token device", "oauth device_authorization", "oauth /oauth2/register",
			"oauth /agent/identity", "oauth /agent/identity/claim", "oauth revoke the token of an agent", "page authorize",
			"oauth a provider's assertion", "oauth a provider's event",
			"app GET callback", "app GET /api/auth/sign-in",
			"app POST /keys", "app POST /claim/confirm", "app POST /device/approve", "app POST /oauth/consent/allow",
			"app POST /agent-auth/claim", "app POST /api/auth/sign-out",
			"member POST /v1/web/keys", "member PATCH /v1/web/settings",
		}},
		"counters": {counter, []string{
			"oauth /agent/identity", "oauth device_authorization", "oauth /oauth2/register", "app GET /api/auth/sign-in",
			"page authorize", "oauth revoke the token of an agent", "oauth a provider's assertion", "oauth a provider's event",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			o.Faults.On("").If(c.hangs).Always().Before(chaos.Hold(nil))
			for name, a := range o.all(t) {
				wrong := unavailable(name, a.Answer)
				if a.Status >= http.StatusInternalServerError && wrong != "" {
					t.Error(wrong)
				}
				if slices.Contains(c.must, name) && wrong != "" {
					t.Errorf("%s was not refused", wrong)
				}
			}
			o.Faults.Clear()
		})
	}
}

// TestTheProviderMayDoWhatItLikes has people sign in, and ID tokens exchanged, while the identity provider stalls at
// one of its endpoints.
func TestTheProviderMayDoWhatItLikes(t *testing.T) { // alone: it looks at the clock
	for endpoint, breaks := range map[string]struct{ exchange, signIn, callback int }{
		"/.well-known/openid-configuration": {exchange: 503, signIn: 503},
		"/jwks":                             {exchange: 503, signIn: 303, callback: 503},
		"/token":                            {exchange: 200, signIn: 303, callback: 503},
	} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			p := harness.NewAgentAuthEnv(t)
			w := p.NewFakeBrowser()
			exchange := func() wire.Answer {
				who := provider.Person{Email: "ada@example.org"}
				idToken := harness.Must(p.Identity.Mint(who, "", "", provider.Honest))(t)
				return p.PostForm(t, "/oauth2/token", harness.ExchangeGrant("cli", idToken), nil)
			}
			inTime := func(what string, ask func() wire.Answer, want int) {
				t.Helper()
				start := time.Now()
				a := ask()
				if took := time.Since(start); took > answerMost || a.Status != want {
					t.Errorf("%s answers %d after %s, want %d: %.200s", what, a.Status, took, want, a.Body)
				}
			}
			p.Identity.Break(endpoint, provider.Stalls)
			inTime("exchange", exchange, breaks.exchange)
			inTime("sign-in", func() wire.Answer { return w.Get(t, "/api/auth/sign-in") }, breaks.signIn)
			p.Identity.Heal()
			if breaks.callback != 0 {
				callback := w.Authenticate(t, w.BeginSignIn(t, "/"), "ada@example.org")
				p.Identity.Break(endpoint, provider.Stalls)
				inTime("callback", func() wire.Answer { return w.Get(t, callback) }, breaks.callback)
				p.Identity.Heal()
			}
			if w.Cookies[harness.SessionCookie] != "" {
				t.Error("a session was given")
			}
			p.Clock.Advance(time.Minute)
			inTime("exchange, when it is back", exchange, 200)
			if signedOut(t, p.SignedIn(t, "ada@example.org")) {
				t.Error("when it is back nobody gets in")
			}
		})
	}
}
