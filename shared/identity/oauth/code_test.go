package oauth_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestAClientGetsWhatThePersonAllows(t *testing.T) {
	s := newEnv(t)
	a := s.robot(t)
	req := s.consent(t, a)
	shown, err := s.Consent(ctx, req)
	if err != nil || shown.Client.Name != "Robot" || shown.RedirectHost != "robot.example.com" || shown.Loopback ||
		shown.Audience != mcpOrigin || len(shown.Scopes) != 2 {
		t.Errorf("the page shows %+v %v", shown, err)
	}
	out := s.signIn(t, a)
	if out.Scope != "publish read" || out.ExpiresIn != 3600 || out.RefreshToken == "" {
		t.Errorf("%+v, want an hour, the scope and a refresh token", out)
	}
	if !s.works(out.AccessToken, mcpOrigin) || s.works(out.AccessToken, apiOrigin) {
		t.Error("the token of a registered client works elsewhere than on the MCP host")
	}
	own := s.signIn(t, authorization())
	if !s.works(own.AccessToken, apiOrigin) || s.works(own.RefreshToken, apiOrigin) ||
		s.works(own.RefreshToken, mcpOrigin) {
		t.Error("T06: the CLI's tokens do not work as they should")
	}
	s.clock.Advance(limits.AccessTokenLife)
	if s.works(own.AccessToken, apiOrigin) {
		t.Error("an access token works after its end")
	}
	s.WantEvents(t, event.ConsentGranted, 2)
	s.checkSecrets(t)
}

func TestT32AStrangersRedirectIsAPageAndNeverARedirect(t *testing.T) {
	s := newEnv(t)
	robot := s.robot(t)
	for name, change := range map[string]func(*oauth.Authorization){
		"no client":        func(a *oauth.Authorization) { a.ClientID = "" },
		"unknown client":   func(a *oauth.Authorization) { a.ClientID = "oc_0123456789ABCDEFGHJKMNPQRS" },
		"malformed client": func(a *oauth.Authorization) { a.ClientID = "CLI" },
		"no redirect":      func(a *oauth.Authorization) { a.RedirectURI = "" },
		"longer path":      func(a *oauth.Authorization) { a.RedirectURI += "/x" },
		"user": func(a *oauth.Authorization) {
			a.RedirectURI = "https://robot.example.com@evil.example/callback"
		},
		"fragment":    func(a *oauth.Authorization) { a.RedirectURI += "#x" },
		"script":      func(a *oauth.Authorization) { a.RedirectURI = "javascript:alert(1)" },
		"other port":  func(a *oauth.Authorization) { a.RedirectURI = "https://robot.example.com:444/callback" },
		"two of them": func(a *oauth.Authorization) { a.Repeated = "redirect_uri" },
		// of another client
		"the CLI's": func(a *oauth.Authorization) { a.RedirectURI = loopback },
	} {
		a := robot
		change(&a)
		if to, err := s.Authorize(ctx, a); to != "" || fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: sent to %q, %v", name, to, err)
		}
	}
	a := authorization()
	a.RedirectURI = "http://[::1]:9/callback"
	s.consent(t, a)
	s.clock.Advance(limits.UnusedClientLife)
	if to, err := s.Authorize(ctx, robot); to != "" || err == nil {
		t.Errorf("a client that was unused for 90 days is sent to %q", to)
	}
}

// wrong holds invalid requests, and the error that the client gets.
var wrong = map[string]struct {
	change func(*oauth.Authorization)
	want   fault.OAuthCode
}{
	"no PKCE":       {func(a *oauth.Authorization) { a.Challenge, a.ChallengeMethod = "", "" }, fault.OAuthInvalidRequest},
	"plain PKCE":    {func(a *oauth.Authorization) { a.ChallengeMethod = "plain" }, fault.OAuthInvalidRequest},
	"no method":     {func(a *oauth.Authorization) { a.ChallengeMethod = "" }, fault.OAuthInvalidRequest},
	"bad challenge": {func(a *oauth.Authorization) { a.Challenge = verifier }, fault.OAuthInvalidRequest},
	"implicit":      {func(a *oauth.Authorization) { a.ResponseType = "token" }, fault.OAuthUnsupportedResponse},
	"no type":       {func(a *oauth.Authorization) { a.ResponseType = "" }, fault.OAuthInvalidRequest},
	"long state":    {func(a *oauth.Authorization) { a.State = strings.Repeat("x", 1025) }, fault.OAuthInvalidRequest},
	"T34: resource": {func(a *oauth.Authorization) { a.Resource = "https://evil.example" }, fault.OAuthInvalidTarget},
	"T34: two":      {func(a *oauth.Authorization) { a.Repeated = "resource" }, fault.OAuthInvalidTarget},
	"two scopes":    {func(a *oauth.Authorization) { a.Repeated = "scope" }, fault.OAuthInvalidRequest},
}

// wantError checks the redirect that reports an error to a client.
func wantError(t *testing.T, what, to string, a oauth.Authorization, want fault.OAuthCode) {
	t.Helper()
	u, _ := url.Parse(to)
	q := u.Query()
	if !strings.HasPrefix(to, a.RedirectURI+"?") || q.Get("error") != string(want) || q.Get("iss") != apiOrigin ||
		q.Has("code") {
		t.Errorf("%s: %q", what, to)
	}
	if len(a.State) <= 1024 && q.Get("state") != a.State {
		t.Errorf("%s: the state is lost: %s", what, to)
	}
}

// refusal returns what the refusal page shows after the authorization endpoint sent the browser there.
func (e *env) refusal(t *testing.T, what string, by credential.Actor, a oauth.Authorization) oauth.Refused {
	t.Helper()
	to, err := e.Authorize(ctx, a)
	query, ours := strings.CutPrefix(to, "https://app.example.com/oauth/error?")
	if err != nil || !ours {
		t.Fatalf("%s: sent to %s, %v", what, to, err)
	}
	r, err := e.Refused(ctx, by, oauth.ParseAuthorization(query), from)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return r
}

func TestT33T34WhatIsWrongWithARequestIsToldAtTheRedirectOnceTheMemberLetTheClientIn(t *testing.T) {
	s := newEnv(t)
	s.limits.Authorize.Limit = 1000
	robot := s.robot(t)
	stranger := s.join(t)
	none := credential.Actor{}
	for _, known := range []bool{false, true} {
		if known {
			s.signIn(t, robot)
		}
		for name, c := range wrong {
			a := robot
			c.change(&a)
			for who, by := range map[string]credential.Actor{"the member": s.by, "another member": stranger, "nobody": none} {
				r := s.refusal(t, name, by, a)
				wantError(t, name, r.RedirectTo, a, c.want)
				if r.Trusted != (known && who == "the member") || r.Code != c.want || r.RedirectHost != "robot.example.com" ||
					r.Client.Name != "Robot" || r.Description == "" {
					t.Errorf("%s, shown to %s: %+v", name, who, r)
				}
			}
		}
	}
	bad := robot
	bad.ResponseType = "token"
	other := bad
	other.ClientID = s.robot(t).ClientID
	if s.refusal(t, "another client", s.by, other).Trusted {
		t.Error("a client is trusted because another one is")
	}
	grants, _, err := s.Grants(ctx, s.by, cursor.Page{})
	if err != nil || len(grants) != 1 {
		t.Fatal(grants, err)
	}
	expect.OK(t, s.EndGrant(ctx, s.by, grants[0].Public))
	if s.refusal(t, "disconnected", s.by, bad).Trusted {
		t.Error("a client is trusted that the member disconnected")
	}
	s.signIn(t, robot)
	s.clock.Advance(limits.RefreshIdle)
	if s.refusal(t, "idle", s.by, bad).Trusted {
		t.Error("a client is trusted whose access has ended")
	}
	for _, fine := range []string{"", mcpOrigin + "/", "https://MCP.EXAMPLE.com"} {
		robot.Resource = fine
		s.consent(t, robot)
	}
}

func TestT33T34OurOwnClientsAreToldAtTheirRedirect(t *testing.T) {
	s := newEnv(t)
	for name, c := range wrong {
		a := authorization()
		c.change(&a)
		to, err := s.Authorize(ctx, a)
		if wantError(t, name, to, a, c.want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for client, resource := range map[string]string{"cli": mcpOrigin, s.robot(t).ClientID: apiOrigin} {
		a := authorization()
		if a.ClientID, a.Resource = client, resource; client != "cli" {
			a.RedirectURI = elsewhere
			wantError(t, "T34: our api", s.refusal(t, "T34: our api", s.by, a).RedirectTo, a, fault.OAuthInvalidTarget)
			continue
		}
		to, err := s.Authorize(ctx, a)
		if wantError(t, "T34: the MCP host", to, a, fault.OAuthInvalidTarget); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatWasNotRefusedHasNoPageOfItsOwn(t *testing.T) {
	s := newEnv(t)
	s.limits.Authorize.Limit = 4
	robot, own := s.robot(t), authorization()
	own.ResponseType = "token"
	unknown, elsewhere := robot, robot
	unknown.ClientID, unknown.ResponseType = "oc_0123456789ABCDEFGHJKMNPQRS", "token"
	elsewhere.RedirectURI, elsewhere.ResponseType = "https://evil.example/cb", "token"
	for what, a := range map[string]oauth.Authorization{
		"in order": robot, "an unknown client": unknown, "a redirect of nobody": elsewhere, "our own client": own,
	} {
		if r, err := s.Refused(ctx, s.by, a, from); err == nil || r.RedirectTo != "" {
			t.Errorf("%s leads to %q", what, r.RedirectTo)
		}
	}
	if _, err := s.Refused(ctx, s.by, robot, from); fault.CodeOf(err) != fault.RateLimitedActor ||
		fault.Of(err).RetryAfter <= 0 {
		t.Error("nobody counts who asks", err)
	}
}

// Older versions registered redirects that would not be registered today.
func TestARedirectThatIsRefusedTodayIsNotAnswered(t *testing.T) {
	s := newEnv(t)
	const old = "search-ms://evil.example"
	c := oauth.Client{
		ID:        id.NewClient(),
		Name:      "Robot",
		Redirects: []string{old, "https://robot.example.com/callback"},
		CreatedAt: s.clock.Now(),
	}
	expect.OK(t, s.Stores.Clients.Add(ctx, c, s.clock.Now().Add(limits.NewClientLife)))
	a := authorization()
	a.ClientID, a.RedirectURI = string(c.ID), old
	for _, kind := range []string{"code", "token"} {
		a.ResponseType = kind
		if to, err := s.Authorize(ctx, a); to != "" || fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: sent to %q, %v", kind, to, err)
		}
		if r, err := s.Refused(ctx, s.by, a, from); err == nil {
			t.Errorf("%s: the page leads to %q", kind, r.RedirectTo)
		}
	}
	r := oauth.Request{
		Secret:    rand.Text(),
		Client:    c,
		Redirect:  old,
		Challenge: challenge(),
		Scopes:    []credential.Scope{credential.Read},
		Audience:  mcpOrigin,
		CreatedAt: s.clock.Now(),
		ExpiresAt: s.clock.Now().Add(limits.ConsentLife),
	}
	expect.OK(t, s.Stores.Consents.Add(ctx, r))
	for name, answer := range map[string]func(context.Context, credential.Actor, string) (string, error){
		"allow": s.Allow,
		"deny":  s.Deny,
	} {
		if to, err := answer(ctx, s.by, r.Secret); to != "" || fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	a.RedirectURI, a.ResponseType = "https://robot.example.com/callback", "code"
	s.consent(t, a)
}

func TestT33ACodeIsRedeemedOnceByWhoAskedForIt(t *testing.T) {
	s := newEnv(t)
	good := s.code(t, authorization())
	for name, change := range map[string]func(*oauth.TokenRequest){
		"wrong verifier": func(r *oauth.TokenRequest) { r.Verifier = strings.Replace(verifier, "a", "b", 1) },
		"short verifier": func(r *oauth.TokenRequest) { r.Verifier = "x" },
		"the challenge":  func(r *oauth.TokenRequest) { r.Verifier = challenge() },
		"other client":   func(r *oauth.TokenRequest) { r.ClientID = "dashboard" },
		"other redirect": func(r *oauth.TokenRequest) { r.RedirectURI = "http://127.0.0.1:4712/callback" },
		"other secret":   func(r *oauth.TokenRequest) { r.Code = s.forge(t, r.Code, credential.AuthorizationCode) },
		"no code at all": func(r *oauth.TokenRequest) { r.Code = "x" },
	} {
		r := good
		change(&r)
		s.refuses(t, name, r, fault.OAuthInvalidGrant)
	}
	other := good
	other.Resource = mcpOrigin
	s.refuses(t, "T34: another resource", other, fault.OAuthInvalidTarget)
	bare := good
	bare.Verifier = ""
	s.refuses(t, "no verifier", bare, fault.OAuthInvalidRequest)

	out := s.token(t, good)
	next := s.token(t, refreshing("cli", out))
	s.clock.Advance(2 * limits.CodeLife)
	s.refuses(t, "replay", good, fault.OAuthInvalidGrant)
	for _, token := range []string{out.AccessToken, next.AccessToken} {
		if s.works(token, apiOrigin) {
			t.Error("a replayed code leaves tokens alive")
		}
	}
	s.refuses(t, "refresh after a replay", refreshing("cli", next), fault.OAuthInvalidGrant)
	s.WantEvents(t, event.GrantRevoked, 1)

	late := s.code(t, authorization())
	s.clock.Advance(limits.CodeLife)
	s.refuses(t, "expired", late, fault.OAuthInvalidGrant)
}

// forge returns a token with the same public id and another secret.
func (e *env) forge(t testing.TB, text string, kind credential.Kind) string {
	t.Helper()
	token, err := credential.Parse(text, kind, credential.Preview)
	expect.OK(t, err)
	return credential.MintAs(kind, credential.Preview, token.Workspace, token.Public).Reveal()
}

func TestT33OfParallelRedemptionsOneMakesAGrantAndTheOthersEndIt(t *testing.T) {
	s := newEnv(t)
	r := s.code(t, authorization())
	got := make([]contract.Token, 12)
	won := parallel.Successes(len(got), func(n int) (err error) {
		got[n], err = s.Token(ctx, r, from, request)
		return err
	})
	works := slices.ContainsFunc(got, func(out contract.Token) bool { return s.works(out.AccessToken, apiOrigin) })
	if won != 1 || works {
		t.Errorf("%d tokens came of one code, or they live on", won)
	}
}

func TestAConsentPageIsAnsweredOnceAndInTime(t *testing.T) {
	s := newEnv(t)
	req := s.consent(t, authorization())
	if _, err := s.Allow(ctx, credential.Actor{Workspace: s.by.Workspace}, req); fault.CodeOf(err) != fault.Forbidden {
		t.Error("nobody allows", err)
	}
	client := s.by
	client.Client = oauth.CLI
	if _, err := s.Allow(ctx, client, req); fault.CodeOf(err) != fault.Forbidden {
		t.Error("an access token allows", err)
	}
	to, err := s.Deny(ctx, s.by, req)
	if u, _ := url.Parse(to); err != nil || u.Query().Get("error") != "access_denied" ||
		u.Query().Get("state") != "st&te" || u.Query().Get("iss") != apiOrigin {
		t.Error(to, err)
	}
	if _, err := s.Allow(ctx, s.by, req); fault.CodeOf(err) != fault.NotFound {
		t.Error("allowed after it was denied", err)
	}
	req = s.consent(t, authorization())
	ends := parallel.Calls(8, func(n int) error {
		_, err := []func(context.Context, credential.Actor, string) (string, error){s.Allow, s.Deny}[n%2](ctx, s.by, req)
		return err
	})
	expect.One(t, "answers to one page", ends, fault.NotFound)
	req = s.consent(t, authorization())
	s.clock.Advance(limits.ConsentLife)
	for _, stale := range []string{req, "", "x", strings.Repeat("x", 5000)} {
		if _, err := s.Consent(ctx, stale); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%.20q: %v", stale, err)
		}
		if _, err := s.Allow(ctx, s.by, stale); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%.20q: %v", stale, err)
		}
	}
}

func TestT36ScopesNeverGrow(t *testing.T) {
	s := newEnv(t)
	robot := s.robot(t)
	for asked, want := range map[string]string{
		"admin":                           "publish read",
		"openid offline_access mcp:tools": "publish read",
		"read admin":                      "read",
		"publish publish":                 "publish",
		"":                                "publish read",
		"READ":                            "publish read",
	} {
		robot.Scope = asked
		if out := s.signIn(t, robot); out.Scope != want {
			t.Errorf("%q gives %q", asked, out.Scope)
		}
	}
	robot.Scope = "read"
	out := s.signIn(t, robot)
	for _, wider := range []string{"admin", "read publish", "publish", "read openid"} {
		r := refreshing(robot.ClientID, out)
		r.Scope = wider
		s.refuses(t, wider, r, fault.OAuthInvalidScope)
	}
	r := refreshing(robot.ClientID, out)
	r.Scope = "read"
	if again := s.token(t, r); again.Scope != "read" {
		t.Errorf("refreshed to %q", again.Scope)
	}
	a := authorization()
	a.Scope = "admin read"
	if own := s.signIn(t, a); own.Scope != "publish read admin" {
		t.Errorf("the CLI gets %q", own.Scope)
	}
}

func TestT83NoOldCredentialOutlivesItsEpoch(t *testing.T) {
	s := newEnv(t)
	out, code := s.signIn(t, authorization()), s.code(t, authorization())
	started := s.device(t)
	expect.OK(t, s.ApproveDevice(ctx, s.by, started.UserCode))
	s.SetWorkspace(t, s.by.Workspace.ID, "epoch", &types.AttributeValueMemberN{Value: "1"})
	if s.works(out.AccessToken, apiOrigin) {
		t.Error("an access token of another epoch works")
	}
	s.refuses(t, "refresh", refreshing("cli", out), fault.OAuthInvalidGrant)
	s.refuses(t, "code", code, fault.OAuthInvalidGrant)
	s.refuses(t, "device code", polling("cli", started), fault.OAuthInvalidGrant)
}

func TestSigningOutEverywhereEndsGrantsAndWhatWasAgreedBefore(t *testing.T) {
	s := newEnv(t)
	out, code := s.signIn(t, authorization()), s.code(t, authorization())
	s.clock.Advance(time.Second)
	e := event.Event{
		Workspace: s.by.Workspace.ID,
		At:        s.clock.Now(),
		Action:    event.SessionsEnded,
		Actor:     event.ByMember(s.by.Member),
	}
	expect.OK(t, s.Stores.Members.SignOut(ctx, s.by.Workspace.ID, s.by.Member, s.clock.Now(), e))
	if s.works(out.AccessToken, apiOrigin) {
		t.Error("the access token works")
	}
	s.refuses(t, "refresh", refreshing("cli", out), fault.OAuthInvalidGrant)
	s.refuses(t, "a code from before", code, fault.OAuthInvalidGrant)
	s.clock.Advance(time.Second)
	if after := s.signIn(t, authorization()); !s.works(after.AccessToken, apiOrigin) {
		t.Error("what is agreed after it does not work")
	}
}
