package identity

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// withOtherSecret is a credential of the same public id and workspace with another secret.
func withOtherSecret(t testing.TB, kind credential.Kind, text string) string {
	t.Helper()
	real := harness.Must(credential.Parse(text, kind, credential.Preview))(t)
	return credential.MintAs(kind, credential.Preview, real.Workspace, real.Public).Reveal()
}

// statusAtMCP returns the status of the route by which the MCP host identifies the user of an app.
func statusAtMCP(t testing.TB, p *harness.BackendEnv, bearer string) int {
	t.Helper()
	return harness.Do(t, p.WithBearer(bearer), "GET", p.Origins.API+"/v1/mcp/whoami", nil).Status
}

// statusOf tells what the command's token is answered.
func statusOf(t testing.TB, p *harness.BackendEnv, bearer string) int {
	t.Helper()
	return harness.Do(t, p.WithBearer(bearer), "GET", p.Origins.API+"/v1/web/workspace", nil).Status
}

var toldByLink = regexp.MustCompile(`rel="noreferrer" href="([^"]+)">Tell the app</a>`)

func TestT33AnAuthorizationWithoutProofIsRefused(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	c, other := registerClient(t, p, "An app"), registerClient(t, p, "Another app")
	w := p.SignedIn(t, "ada@example.org")
	before := p.CountItems(t, p.Tables.Core, "OAR#")
	wrong := map[string]func(url.Values){
		"no PKCE":       func(q url.Values) { q.Del("code_challenge"); q.Del("code_challenge_method") },
		"plain":         func(q url.Values) { q.Set("code_challenge_method", "plain") },
		"no method":     func(q url.Values) { q.Del("code_challenge_method") },
		"another state": func(q url.Values) { q.Del("code_challenge"); q.Set("state", "s&code=forged") },
	}
	// answered is where the app is told of its error: by the link of a page, or at once.
	answered := func(name string, w *harness.FakeBrowser, q url.Values, atOnce bool) {
		t.Helper()
		a := w.Get(t, strings.TrimPrefix(c.authorize(t, q).String(), p.Origins.App))
		back, found := a.Header.Get("Location"), toldByLink.FindSubmatch(a.Body)
		if (back != "") != atOnce || (found != nil) == atOnce {
			t.Errorf("%s: the browser is answered %d %s", name, a.Status, a.Body)
			return
		}
		if !atOnce {
			back = html.UnescapeString(string(found[1]))
		}
		got := harness.Must(url.Parse(back))(t).Query()
		if !strings.HasPrefix(back, c.redirect+"?") || got.Get("error") != "invalid_request" ||
			got.Get("state") != q.Get("state") ||
			got.Get("iss") != p.Origins.API || got.Has("code") {
			t.Errorf("%s: the app is told %s", name, back)
		}
	}
	for name, change := range wrong {
		q := c.request("read")
		change(q)
		answered(name, w, q, false)
		answered(name, p.NewFakeBrowser(), q, false)
	}
	if n := p.CountItems(t, p.Tables.Core, "OAR#"); n != before {
		t.Errorf("%d consent pages are open", n-before)
	}
	code := c.allowed(t, w, "read").Get("code")
	for name, change := range map[string]func(url.Values){
		"another verifier": func(q url.Values) { q.Set("code_verifier", other.verifier) },
		"the challenge":    func(q url.Values) { q.Set("code_verifier", c.request("").Get("code_challenge")) },
		"another client":   func(q url.Values) { q.Set("client_id", other.id) },
		"another redirect": func(q url.Values) { q.Set("redirect_uri", c.redirect+"/") },
		"another secret":   func(q url.Values) { q.Set("code", withOtherSecret(t, credential.AuthorizationCode, code)) },
	} {
		q := c.exchange(code)
		change(q)
		if got := p.OAuthError(t, q); got != "invalid_grant" {
			t.Errorf("%s: %s", name, got)
		}
	}
	token := p.Token(t, c.exchange(code))
	if status := statusAtMCP(t, p, token.AccessToken); status != http.StatusOK {
		t.Errorf("the token answers %d", status)
	}
	for name, change := range wrong {
		q := c.request("read")
		change(q)
		answered(name, w, q, true)
		answered(name, p.NewFakeBrowser(), q, false)
	}
	if got := p.OAuthError(t, c.exchange(code)); got != "invalid_grant" {
		t.Errorf("the code a second time: %s", got)
	}
	if status := statusAtMCP(t, p, token.AccessToken); status != http.StatusUnauthorized {
		t.Errorf("after that the token answers %d", status)
	}
	if got := p.OAuthError(t, refreshGrant(c.id, token.RefreshToken)); got != "invalid_grant" {
		t.Errorf("and its refresh token %s", got)
	}
	late := c.allowed(t, w, "read").Get("code")
	p.Clock.Advance(limits.CodeLife)
	if got := p.OAuthError(t, c.exchange(late)); got != "invalid_grant" {
		t.Errorf("a code after a minute: %s", got)
	}
}

func TestT35ARefreshTokenThatComesBackEndsItsFamily(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	c, other := registerClient(t, p, "An app"), registerClient(t, p, "Another app")
	w := p.SignedIn(t, "ada@example.org")
	first := p.Token(t, c.exchange(c.allowed(t, w, "read publish").Get("code")))
	if got := p.OAuthError(t, refreshGrant(other.id, first.RefreshToken)); got != "invalid_grant" {
		t.Errorf("another client: %s", got)
	}
	second := p.Token(t, refreshGrant(c.id, first.RefreshToken))
	again := p.Token(t, refreshGrant(c.id, first.RefreshToken))
	if again.RefreshToken != second.RefreshToken || again.AccessToken != second.AccessToken {
		t.Error("who lost an answer gets another one")
	}
	third := p.Token(t, refreshGrant(c.id, second.RefreshToken))
	p.Clock.Advance(limits.RefreshGrace + time.Second)
	if got := p.OAuthError(t, refreshGrant(c.id, first.RefreshToken)); got != "invalid_grant" {
		t.Errorf("the used one: %s", got)
	}
	for name, token := range map[string]string{
		"first":  first.AccessToken,
		"second": second.AccessToken,
		"third":  third.AccessToken,
	} {
		if status := statusAtMCP(t, p, token); status != http.StatusUnauthorized {
			t.Errorf("the %s access token answers %d", name, status)
		}
	}
	if got := p.OAuthError(t, refreshGrant(c.id, third.RefreshToken)); got != "invalid_grant" {
		t.Errorf("the newest one: %s", got)
	}
	first = p.Token(t, c.exchange(c.allowed(t, w, "read").Get("code")))
	second = p.Token(t, refreshGrant(c.id, first.RefreshToken))
	p.Clock.Advance(limits.RefreshGrace + time.Second) // later than a client repeats a request with a lost answer
	got := p.OAuthError(t, refreshGrant(c.id, first.RefreshToken))
	if got != "invalid_grant" || statusAtMCP(t, p, second.AccessToken) != http.StatusUnauthorized {
		t.Errorf("one that was used a while ago: %s", got)
	}
}

func TestT36NoAppGetsMoreThanItWasGiven(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	c := registerClient(t, p, "An app")
	w := p.SignedIn(t, "ada@example.org")
	token := p.Token(t, c.exchange(c.allowed(t, w, "read admin everything").Get("code")))
	if token.Scope != "read" {
		t.Errorf("granted is %q", token.Scope)
	}
	for _, scope := range []string{"read publish", "admin", "everything"} {
		q := refreshGrant(c.id, token.RefreshToken)
		q.Set("scope", scope)
		if got := p.OAuthError(t, q); got != "invalid_scope" {
			t.Errorf("refreshing for %q: %s", scope, got)
		}
	}
	// T03: it opens the MCP host alone
	for _, path := range []string{
		"/v1/web/workspace", "/v1/web/keys", "/v1/web/artifacts", "/v1/whoami", "/v1/artifacts",
	} {
		a := harness.Do(t, p.WithBearer(token.AccessToken), "GET", p.Origins.API+path, nil)
		if harness.WantRefused(t, a, 401, fault.NotAuthenticated); a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no challenge", path)
		}
	}
	session := harness.TryCreate(t, p.WithBearer(token.AccessToken), wire.NewKey(), map[string]any{})
	harness.WantRefused(t, session, 401, fault.NotAuthenticated)
}

// TestT06SecretsThatAreNoCredentialsOpenNothing sends credentials of every other kind as an access token, and a session
// cookie.
func TestT06SecretsThatAreNoCredentialsOpenNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	r := p.RegisterAgent(t)
	s := p.StartClaim(t, r)
	cli := w.CLIToken(t)
	for name, bearer := range map[string]string{
		"a claim token":    r.ClaimToken,
		"an attempt token": s.AttemptToken,
		"an assertion":     r.IdentityAssertion,
		"a refresh token":  cli.RefreshToken,
		"a device code":    p.StartDevice(t, "d").DeviceCode, "a session": w.Cookies[harness.SessionCookie],
		"an access token with another secret": withOtherSecret(t, credential.AccessToken, cli.AccessToken),
	} {
		for _, path := range []string{"/v1/whoami", "/v1/web/workspace", "/v1/mcp/whoami"} {
			a := harness.Do(t, p.WithBearer(bearer), "GET", p.Origins.API+path, nil)
			if a.Status != 401 {
				t.Errorf("%s at %s answers %d", name, path, a.Status)
			}
		}
	}
	a := harness.Do(
		t,
		p.Anyone,
		"GET",
		p.Origins.API+"/v1/web/workspace",
		nil,
		"Cookie",
		harness.SessionCookie+"="+w.Cookies[harness.SessionCookie],
	)
	harness.WantRefused(t, a, 401, fault.NotAuthenticated)
	// T05: the command's token is for this host alone
	if statusOf(t, p, cli.AccessToken) != 200 || statusAtMCP(t, p, cli.AccessToken) != 401 {
		t.Error("the command's token opens something else than this host")
	}
}

func TestT71ADeviceIsLetInByWhoeverIsAskedAndOnce(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	d := p.StartDevice(t, "a laptop")
	before := p.Snapshot(t)
	// T72: a person who is sent the whole link sees the code filled in, and a question about its origin
	complete := strings.TrimPrefix(d.VerificationURIComplete, p.Origins.App)
	a := w.Get(t, complete)
	harness.WantPage(t, "the link", a, 200, "Connect a device")
	if strings.Contains(string(a.Body), "/device/approve") || strings.Contains(string(a.Body), "a laptop") {
		t.Error("the link alone shows a form that approves")
	}
	for _, method := range []string{"GET", "HEAD"} { // T44: so does a prefetch
		w.Send(t, method, complete, nil, "Sec-Purpose", "prefetch")
		for _, path := range []string{"/device/approve", "/device/deny"} {
			if a := w.Send(t, method, path+"?code="+d.UserCode, nil); a.Status != 405 || a.Header.Get("Allow") != "POST" {
				t.Errorf("%s %s answers %d, Allow %q", method, path, a.Status, a.Header.Get("Allow"))
			}
		}
	}
	harness.WantPage(t, "asking", w.Post(t, "/device", url.Values{"code": {strings.ToLower(d.UserCode)}}), 200, "a laptop")
	stranger := p.NewFakeBrowser()
	harness.WantPage(
		t,
		"somebody who is not signed in",
		stranger.Post(t, "/device/approve", url.Values{"code": {d.UserCode}}),
		401,
		"Nothing was changed",
	)
	p.WantUnchanged(t, before)
	if code := p.OAuthError(t, harness.DeviceGrant("cli", d.DeviceCode)); code != "authorization_pending" {
		t.Errorf("the device is told %s", code)
	}
	for name, q := range map[string]url.Values{
		"another client's": harness.DeviceGrant("dashboard", d.DeviceCode),
		"another secret":   harness.DeviceGrant("cli", withOtherSecret(t, credential.DeviceCode, d.DeviceCode)),
	} {
		if code := p.OAuthError(t, q); code != "invalid_grant" {
			t.Errorf("%s: %s", name, code)
		}
	}
	harness.WantPage(
		t, "approving", w.Post(t, "/device/approve", url.Values{"code": {d.UserCode}}), 200, "The device is in",
	)
	other := p.SignedIn(t, "bob@example.org")
	harness.WantPage(
		t,
		"another session",
		other.Post(t, "/device/approve", url.Values{"code": {d.UserCode}}),
		404,
		"No device is waiting with this code",
	)
	harness.WantPage(
		t,
		"a second time",
		w.Post(t, "/device/deny", url.Values{"code": {d.UserCode}}),
		404,
		"No device is waiting with this code",
	)
	token := p.Token(t, harness.DeviceGrant("cli", d.DeviceCode))
	var at contract.WebWorkspace
	harness.Decode(t, harness.Do(t, p.WithBearer(token.AccessToken), "GET", p.Origins.API+"/v1/web/workspace", nil), &at)
	if at.WorkspaceMember.Email != "ada@example.org" {
		t.Errorf("the device acts for %s", at.WorkspaceMember.Email)
	}
	if code := p.OAuthError(t, harness.DeviceGrant("cli", d.DeviceCode)); code != "invalid_grant" {
		t.Errorf("asking again: %s", code)
	}
}

func TestT71ADeviceThatWasDeniedOrGuessedGetsNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	d := p.StartDevice(t, "a laptop")
	harness.WantPage(t, "denying", w.Post(t, "/device/deny", url.Values{"code": {d.UserCode}}), 200, "Denied")
	if code := p.OAuthError(t, harness.DeviceGrant("cli", d.DeviceCode)); code != "access_denied" {
		t.Errorf("the device is told %s", code)
	}
	late := p.StartDevice(t, "slow")
	p.Clock.Advance(limits.DeviceLife)
	if code := p.OAuthError(t, harness.DeviceGrant("cli", late.DeviceCode)); code != "expired_token" {
		t.Errorf("after a quarter of an hour it is told %s", code)
	}
	harness.WantPage(
		t, "its code", w.Post(t, "/device", url.Values{"code": {late.UserCode}}), 404, "No device is waiting with this code",
	)
	d = p.StartDevice(t, "guessed")
	for n := range p.Options.Limits.WrongDevice.Limit - 1 { // one was typed above
		if a := w.Post(t, "/device/approve", url.Values{"code": {strings.Repeat("BCDF-", n%4) + "x"}}); a.Status != 404 {
			t.Fatalf("guess %d answers %d", n+1, a.Status)
		}
	}
	harness.WantPage(
		t, "then the right code", w.Post(t, "/device/approve", url.Values{"code": {d.UserCode}}), 429, "Too many requests",
	)
	if code := p.OAuthError(t, harness.DeviceGrant("cli", d.DeviceCode)); code != "authorization_pending" {
		t.Errorf("the device is told %s", code)
	}
}

func TestT74ATokenIsRevokedByItsWholeSecretOnly(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	r := p.RegisterAgent(t)
	agent := p.Token(t, harness.JWTBearer(r.IdentityAssertion))
	c := registerClient(t, p, "An app")
	app, cli := p.Token(t, c.exchange(c.allowed(t, w, "read").Get("code"))), w.CLIToken(t)
	revoke := func(token string) {
		t.Helper()
		a := p.PostForm(t, "/oauth2/revoke", url.Values{"token": {token}}, nil)
		if a.Status != http.StatusOK || len(a.Body) > 0 {
			t.Errorf("revoking answers %d %s", a.Status, a.Body)
		}
	}
	live := func() (status [3]int) {
		return [3]int{
			harness.Do(t, p.WithBearer(agent.AccessToken), "GET", p.Origins.API+"/v1/whoami", nil).Status,
			statusAtMCP(t, p, app.AccessToken), statusOf(t, p, cli.AccessToken),
		}
	}
	before := p.Snapshot(t)
	for kind, texts := range map[credential.Kind][]string{
		credential.APIKey:       {agent.AccessToken},
		credential.AccessToken:  {app.AccessToken, cli.AccessToken},
		credential.RefreshToken: {app.RefreshToken, cli.RefreshToken},
	} {
		for _, text := range texts {
			revoke(withOtherSecret(t, kind, text))
			revoke(text[:len(text)-1])
		}
	}
	revoke("nonsense")
	p.WantUnchanged(t, before)
	if got := live(); got != [3]int{200, 200, 200} {
		t.Errorf("after that they answer %v", got)
	}
	revoke(agent.AccessToken)
	revoke(app.RefreshToken)
	revoke(cli.AccessToken)
	if got := live(); got != [3]int{401, 401, 401} {
		t.Errorf("revoked, they answer %v", got)
	}
	if code := p.OAuthError(t, refreshGrant("cli", cli.RefreshToken)); code != "invalid_grant" {
		t.Errorf("the refresh token of a revoked access token: %s", code)
	}
}

// TestT83AnEpochEndsEverythingOfAWorkspace raises it in the table, because nothing of ours does so yet, after
// one of each credential was made.
func TestT83AnEpochEndsEverythingOfAWorkspace(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	r := p.RegisterAgent(t)
	s := p.StartClaim(t, r)
	openAttempt(t, w, s)
	harness.WantPage(t, "the agent", enterCode(t, w, s.UserCode), 200, "The agent is in")
	agent := p.Token(t, harness.ClaimGrant(r.ClaimToken))
	c := registerClient(t, p, "An app")
	app, cli := p.Token(t, c.exchange(c.allowed(t, w, "read").Get("code"))), w.CLIToken(t)
	pending := c.allowed(t, w, "read").Get("code")
	who := p.WithBearer(cli.AccessToken)
	var key contract.CreatedKey
	a := harness.Do(
		t, who, "POST", p.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "server"}, harness.KeyHeader()...,
	)
	if harness.Decode(t, a, &key); a.Status != http.StatusCreated {
		t.Fatalf("making a key answers %d %s", a.Status, a.Body)
	}
	var at contract.WebWorkspace
	harness.Decode(t, harness.Do(t, who, "GET", p.Origins.API+"/v1/web/workspace", nil), &at)
	p.Update(t, "W#"+string(at.Workspace.ID), "META", map[string]any{"epoch": 1})
	if got := statusOf(t, p, cli.AccessToken); got != 401 {
		t.Errorf("the command's token answers %d", got)
	}
	if got := statusAtMCP(t, p, app.AccessToken); got != 401 {
		t.Errorf("the app's token answers %d", got)
	}
	for name, bearer := range map[string]string{"the agent's token": agent.AccessToken, "the key": key.Secret} {
		if got := harness.Do(t, p.WithBearer(bearer), "GET", p.Origins.API+"/v1/whoami", nil).Status; got != 401 {
			t.Errorf("%s answers %d", name, got)
		}
	}
	for name, q := range map[string]url.Values{
		"the assertion":               harness.JWTBearer(agent.IdentityAssertion),
		"the app's refresh token":     refreshGrant(c.id, app.RefreshToken),
		"a code":                      c.exchange(pending),
		"the command's refresh token": refreshGrant("cli", cli.RefreshToken),
	} {
		if got := p.OAuthError(t, q); got != "invalid_grant" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if !signedOut(t, w) {
		t.Error("the session lives on")
	}
}
