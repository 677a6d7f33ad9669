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
	"vitrine/scripts/testkit/idp/provider"
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
	o.members(t)
	return o
}

// pages are those of the app host that need the store, and its forms.
func (o *outage) pages(t testing.TB) {
	t.Helper()
	w := o.window
	forms, _ := formsOf(t, w) // leaves the cookie of an attempt
	for path, fields := range forms {
		o.ask["app POST "+path] = func() (wire.Answer, error) {
			return w.Try("POST", path, fields.Encode(), w.FormHeaders()...)
		}
	}
	for _, path := range appRoutes(t)["GET"] {
		path = unknownIDs.Replace(path)
		if path == "/oauth/consent" {
			path += "?" + forms["/oauth/consent/allow"].Encode()
		}
		name := "app GET " + path
		if strings.HasPrefix(path, "/api/live/") { // which answers no page
			path += "?revision_id=" + string(id.NewRevision())
			name = "member GET " + path
		}
		o.ask[name] = func() (wire.Answer, error) { return w.Try("GET", path, nil) }
	}
	back := o.BackendEnv.NewFakeBrowser()
	callback := back.Authenticate(t, back.BeginSignIn(t, "/"), harness.Identity{Email: "bob@example.org"})
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
	exchange := harness.ExchangeGrant("cli", idToken)
	alias := harness.ClaimGrant(r.ClaimToken)
	alias.Set("grant_type", contract.GrantClaimAlias)
	for name, f := range map[string]struct {
		path   string
		fields url.Values
	}{
		"assertion":              {"token", harness.JWTBearer(r.IdentityAssertion)},
		"claim":                  {"token", harness.ClaimGrant(r.ClaimToken)},
		"claim alias":            {"token", alias},
		"code":                   {"token", c.exchange(code)},
		"refresh":                {"token", refreshGrant("cli", cli.RefreshToken)},
		"exchange":               {"token", exchange},
		"device":                 {"token", harness.DeviceGrant("cli", o.StartDevice(t, "d").DeviceCode)},
		"device_authorization":   {"device_authorization", url.Values{"client_id": {"cli"}}},
		"revoke a refresh token": {"revoke", url.Values{"token": {cli.RefreshToken}}},
		"revoke an access token": {"revoke", url.Values{"token": {cli.AccessToken}}},
		"revoke an agent's":      {"revoke", url.Values{"token": {agent.AccessToken}}},
	} {
		o.ask["oauth "+name] = func() (wire.Answer, error) {
			return o.Anyone.Do(
				ctx,
				"POST",
				o.Origins.API+"/oauth2/"+f.path,
				f.fields.Encode(),
				"Content-Type",
				"application/x-www-form-urlencoded",
			)
		}
	}
	for name, body := range map[string]any{
		"/oauth2/register":      contract.RegisterClient{RedirectURIs: []string{c.redirect}},
		"/agent/identity":       contract.RegisterAgent{Type: "anonymous"},
		"/agent/identity/claim": contract.StartClaim{ClaimToken: r.ClaimToken},
	} {
		o.ask["oauth "+name] = func() (wire.Answer, error) { return o.Anyone.Do(ctx, "POST", o.Origins.API+name, body) }
	}
	vouched := harness.Assertion(t, o.Identity.First, "cy@example.org")
	o.ask["oauth a provider's assertion"] = func() (wire.Answer, error) { return o.TryPresent(vouched) }
	revoked := harness.Revocation(t, o.Identity.First, "cy@example.org")
	o.ask["oauth a provider's event"] = func() (wire.Answer, error) { return o.TryNotify(revoked) }
	o.ask["page authorize"] = func() (wire.Answer, error) {
		return o.Anyone.Do(ctx, "GET", o.Origins.API+"/oauth2/authorize?"+c.request("read").Encode(), nil)
	}
}

// members returns the routes of the api that take the credential of a member, from its document.
func (o *outage) members(t testing.TB) {
	t.Helper()
	cli := o.window.CLIToken(t)
	c := registerClient(t, o.BackendEnv, "An app")
	app := o.Token(t, c.exchange(c.allowed(t, o.window, "read").Get("code")))
	var document struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string
		}
	}
	a := harness.Do(t, o.Anyone, "GET", o.Origins.API+"/openapi.json", nil)
	harness.Decode(t, a, &document)
	bodies := map[string]any{
		harness.ClaimPath: contract.ClaimRequest{ClaimToken: "x"}, "/v1/web/keys": contract.CreateKey{Name: "K"},
		"/v1/web/settings":                  contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3},
		"/v1/web/workspace/deletion":        contract.RequestDeletion{Confirm: "x"},
		"/v1/web/agent-auth/claim/complete": contract.CompleteClaim{AttemptToken: "x", UserCode: "123456"},
	}
	parameters := strings.NewReplacer(
		"{artifact_id}", string(id.NewArtifact()), "{api_key_id}", string(id.NewKey(id.NewPublic())),
	)
	for path, operations := range document.Paths {
		for method, op := range operations {
			if len(op.Security) != 1 {
				continue
			}
			bearer := map[string]string{
				"WorkOsBearer":   cli.AccessToken,
				"McpOAuthBearer": app.AccessToken,
			}[slices.Collect(maps.Keys(op.Security[0]))[0]]
			if bearer == "" {
				continue
			}
			method, body := strings.ToUpper(method), bodies[path]
			if method == "GET" {
				body = nil
			}
			o.ask["member "+method+" "+path] = func() (wire.Answer, error) {
				return o.WithBearer(bearer).Do(ctx, method, o.Origins.API+parameters.Replace(path), body, harness.KeyHeader()...)
			}
		}
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
		"it fails":                  chaos.ServerError,
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

// TestF45IdentityRefusesInTimeWhileOnlySomeCallsHang lets what was asked first through.
func TestF45IdentityRefusesInTimeWhileOnlySomeCallsHang(t *testing.T) { // alone: it looks at the clock
	counter := func(input any) bool {
		in, is := input.(*dynamodb.UpdateItemInput)
		return is && in.Key["sk"] == nil
	}
	for name, hang := range map[string]struct {
		rule func(*chaos.Rule) *chaos.Rule
		must []string // be refused
	}{
		"writes": {
			func(r *chaos.Rule) *chaos.Rule {
				return r.If(func(input any) bool {
					switch input.(type) {
					case *dynamodb.TransactWriteItemsInput, *dynamodb.PutItemInput, *dynamodb.DeleteItemInput,
						*dynamodb.UpdateItemInput:
						return !counter(input)
					}
					return false
				}).Always().Before(chaos.Hold(nil))
			},
			[]string{
				"oauth assertion", "oauth claim", "oauth code", "oauth refresh", "oauth exchange", "oauth device",
				"oauth device_authorization", "oauth /oauth2/register",
				"oauth /agent/identity", "oauth /agent/identity/claim", "oauth revoke an agent's", "page authorize",
				"oauth a provider's assertion", "oauth a provider's event",
				"app GET callback", "app GET /api/auth/sign-in",
				"app POST /keys", "app POST /claim/confirm", "app POST /device/approve", "app POST /oauth/consent/allow",
				"app POST /agent-auth/claim", "app POST /api/auth/sign-out",
				"member POST /v1/web/keys", "member PATCH /v1/web/settings",
			},
		},
		"counters": {
			func(r *chaos.Rule) *chaos.Rule { return r.If(counter).Always().Before(chaos.Hold(nil)) },
			[]string{
				"oauth /agent/identity", "oauth device_authorization", "oauth /oauth2/register", "app GET /api/auth/sign-in",
				"page authorize", "oauth revoke an agent's", "oauth a provider's assertion", "oauth a provider's event",
			},
		},
		"every call, for a second": {
			func(r *chaos.Rule) *chaos.Rule { return r.Always().Before(chaos.Delay(time.Second)) }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			hang.rule(o.Faults.On(""))
			for name, a := range o.all(t) {
				wrong := unavailable(name, a.Answer)
				if a.Status >= http.StatusInternalServerError && wrong != "" {
					t.Error(wrong)
				}
				if slices.Contains(hang.must, name) && wrong != "" {
					t.Errorf("%s was not refused", wrong)
				}
			}
			o.Faults.Clear()
		})
	}
}

// TestTheProviderMayDoWhatItLikes breaks each of its endpoints in each way, for people and for the exchange of ID
// tokens.
func TestTheProviderMayDoWhatItLikes(t *testing.T) { // alone: it looks at the clock
	const discovery = "/.well-known/openid-configuration"
	for _, endpoint := range []string{discovery, "/jwks", "/token"} {
		for _, how := range []provider.Break{
			provider.Stalls, provider.Fails, provider.Long, provider.Redirects, provider.Babbles, provider.Slow,
		} {
			t.Run(endpoint+" "+string(how), func(t *testing.T) {
				t.Parallel()
				p := harness.NewAgentAuthEnv(t)
				w := p.NewFakeBrowser()
				idToken := harness.Must(p.Identity.Mint(provider.Person{Email: "ada@example.org"}, "", "", provider.Honest))(t)
				exchange := harness.ExchangeGrant("cli", idToken)
				p.Identity.Break(endpoint, how)
				inTime := func(what string, ask func() wire.Answer, want int) {
					t.Helper()
					start := time.Now()
					a := ask()
					if took := time.Since(start); took > answerMost || a.Status != want {
						t.Errorf("%s answers %d after %s, want %d: %.200s", what, a.Status, took, want, a.Body)
					}
				}
				status := func(concerned bool, fine int) int {
					if concerned && how != provider.Slow {
						return http.StatusServiceUnavailable
					}
					return fine
				}
				inTime("exchange", func() wire.Answer {
					return p.PostForm(t, "/oauth2/token", exchange, nil)
				}, status(endpoint != "/token", 200))
				inTime("sign-in", func() wire.Answer { return w.Get(t, "/api/auth/sign-in") }, status(endpoint == discovery, 303))
				p.Identity.Heal()
				if endpoint == discovery {
					p.Clock.Advance(time.Minute)
					if how == provider.Slow { // it was exchanged; where that failed, it still can be
						exchange.Set(
							"subject_token",
							harness.Must(p.Identity.Mint(provider.Person{Email: "ada@example.org"}, "", "", provider.Honest))(t),
						)
					}
					inTime("exchange, when it is back", func() wire.Answer {
						return p.PostForm(t, "/oauth2/token", exchange, nil)
					}, 200)
					return
				}
				callback := w.Authenticate(t, w.BeginSignIn(t, "/"), harness.Identity{Email: "ada@example.org"})
				p.Identity.Break(endpoint, how)
				inTime("callback", func() wire.Answer { return w.Get(t, callback) }, status(true, 303))
				if w.Cookies[harness.SessionCookie] != "" && how != provider.Slow {
					t.Error("a session was given")
				}
				p.Identity.Heal()
				p.Clock.Advance(time.Minute)
				if signedOut(t, p.SignedIn(t, "ada@example.org")) {
					t.Error("when it is back nobody gets in")
				}
			})
		}
	}
}
