package journey

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// swapped is a credential of the same public id and workspace with another secret.
func swapped(t testing.TB, kind credential.Kind, text string) string {
	t.Helper()
	real := must(credential.Parse(text, kind, credential.Preview))(t)
	return credential.MintAs(kind, credential.Preview, real.Workspace, real.Public).Reveal()
}

// delegated asks the api for whom an app acts.
func (p *probe) delegated(t testing.TB, bearer string) int {
	t.Helper()
	return do(t, p.with(bearer), "GET", p.Origins.API+"/v1/mcp/whoami", nil).Status
}

// works tells what the command's token is answered.
func (p *probe) works(t testing.TB, bearer string) int {
	t.Helper()
	return do(t, p.with(bearer), "GET", p.Origins.API+"/v1/web/workspace", nil).Status
}

var toldByLink = regexp.MustCompile(`rel="noreferrer" href="([^"]+)">Tell the app</a>`)

func TestT33AnAuthorizationWithoutProofIsRefused(t *testing.T) {
	t.Parallel()
	p := agents(t)
	c, other := p.registers(t, "An app"), p.registers(t, "Another app")
	w := p.signedIn(t, "ada@example.org")
	before := p.count(t, p.names.Core, "OAR#")
	wrong := map[string]func(url.Values){
		"no PKCE":       func(q url.Values) { q.Del("code_challenge"); q.Del("code_challenge_method") },
		"plain":         func(q url.Values) { q.Set("code_challenge_method", "plain") },
		"no method":     func(q url.Values) { q.Del("code_challenge_method") },
		"another state": func(q url.Values) { q.Del("code_challenge"); q.Set("state", "s&code=forged") },
	}
	// answered is where the app is told of its error: by the link of a page, or at once.
	answered := func(name string, w *window, q url.Values, atOnce bool) {
		t.Helper()
		a := w.get(t, strings.TrimPrefix(c.authorize(t, q).String(), p.Origins.App))
		back, found := a.Header.Get("Location"), toldByLink.FindSubmatch(a.Body)
		if (back != "") != atOnce || (found != nil) == atOnce {
			t.Errorf("%s: the browser is answered %d %s", name, a.Status, a.Body)
			return
		}
		if !atOnce {
			back = html.UnescapeString(string(found[1]))
		}
		got := must(url.Parse(back))(t).Query()
		if !strings.HasPrefix(back, c.redirect+"?") || got.Get("error") != "invalid_request" || got.Get("state") != q.Get("state") ||
			got.Get("iss") != p.Origins.API || got.Has("code") {
			t.Errorf("%s: the app is told %s", name, back)
		}
	}
	for name, change := range wrong {
		q := c.request("read")
		change(q)
		answered(name, w, q, false)
		answered(name, p.window(), q, false)
	}
	if n := p.count(t, p.names.Core, "OAR#"); n != before {
		t.Errorf("%d consent pages are open", n-before)
	}
	code := c.allowed(t, w, "read").Get("code")
	for name, change := range map[string]func(url.Values){
		"another verifier": func(q url.Values) { q.Set("code_verifier", other.verifier) },
		"the challenge":    func(q url.Values) { q.Set("code_verifier", c.request("").Get("code_challenge")) },
		"another client":   func(q url.Values) { q.Set("client_id", other.id) },
		"another redirect": func(q url.Values) { q.Set("redirect_uri", c.redirect+"/") },
		"another secret":   func(q url.Values) { q.Set("code", swapped(t, credential.AuthorizationCode, code)) },
	} {
		q := c.exchange(code)
		change(q)
		if got := p.oauthError(t, q); got != "invalid_grant" {
			t.Errorf("%s: %s", name, got)
		}
	}
	token := p.token(t, c.exchange(code))
	if status := p.delegated(t, token.AccessToken); status != http.StatusOK {
		t.Errorf("the token answers %d", status)
	}
	for name, change := range wrong {
		q := c.request("read")
		change(q)
		answered(name, w, q, true)
		answered(name, p.window(), q, false)
	}
	if got := p.oauthError(t, c.exchange(code)); got != "invalid_grant" {
		t.Errorf("the code a second time: %s", got)
	}
	if status := p.delegated(t, token.AccessToken); status != http.StatusUnauthorized {
		t.Errorf("after that the token answers %d", status)
	}
	if got := p.oauthError(t, refreshGrant(c.id, token.RefreshToken)); got != "invalid_grant" {
		t.Errorf("and its refresh token %s", got)
	}
	late := c.allowed(t, w, "read").Get("code")
	p.clock.pass(limits.CodeLife)
	if got := p.oauthError(t, c.exchange(late)); got != "invalid_grant" {
		t.Errorf("a code after a minute: %s", got)
	}
}

func TestT35ARefreshTokenThatComesBackEndsItsFamily(t *testing.T) {
	t.Parallel()
	p := agents(t)
	c, other := p.registers(t, "An app"), p.registers(t, "Another app")
	w := p.signedIn(t, "ada@example.org")
	first := p.token(t, c.exchange(c.allowed(t, w, "read publish").Get("code")))
	if got := p.oauthError(t, refreshGrant(other.id, first.RefreshToken)); got != "invalid_grant" {
		t.Errorf("another client: %s", got)
	}
	second := p.token(t, refreshGrant(c.id, first.RefreshToken))
	again := p.token(t, refreshGrant(c.id, first.RefreshToken))
	if again.RefreshToken != second.RefreshToken || again.AccessToken != second.AccessToken {
		t.Error("who lost an answer gets another one")
	}
	third := p.token(t, refreshGrant(c.id, second.RefreshToken))
	p.clock.pass(limits.RefreshGrace + time.Second)
	if got := p.oauthError(t, refreshGrant(c.id, first.RefreshToken)); got != "invalid_grant" {
		t.Errorf("the used one: %s", got)
	}
	for name, token := range map[string]string{"first": first.AccessToken, "second": second.AccessToken, "third": third.AccessToken} {
		if status := p.delegated(t, token); status != http.StatusUnauthorized {
			t.Errorf("the %s access token answers %d", name, status)
		}
	}
	if got := p.oauthError(t, refreshGrant(c.id, third.RefreshToken)); got != "invalid_grant" {
		t.Errorf("the newest one: %s", got)
	}
	first = p.token(t, c.exchange(c.allowed(t, w, "read").Get("code")))
	second = p.token(t, refreshGrant(c.id, first.RefreshToken))
	p.clock.pass(limits.RefreshGrace + time.Second) // nobody waits that long for a lost answer
	if got := p.oauthError(t, refreshGrant(c.id, first.RefreshToken)); got != "invalid_grant" || p.delegated(t, second.AccessToken) != http.StatusUnauthorized {
		t.Errorf("one that was used a while ago: %s", got)
	}
}

func TestT36NoAppGetsMoreThanItWasGiven(t *testing.T) {
	t.Parallel()
	p := agents(t)
	c := p.registers(t, "An app")
	w := p.signedIn(t, "ada@example.org")
	token := p.token(t, c.exchange(c.allowed(t, w, "read admin everything").Get("code")))
	if token.Scope != "read" {
		t.Errorf("granted is %q", token.Scope)
	}
	for _, scope := range []string{"read publish", "admin", "everything"} {
		q := refreshGrant(c.id, token.RefreshToken)
		q.Set("scope", scope)
		if got := p.oauthError(t, q); got != "invalid_scope" {
			t.Errorf("refreshing for %q: %s", scope, got)
		}
	}
	// T03: it opens the MCP host alone
	for _, path := range []string{"/v1/web/workspace", "/v1/web/keys", "/v1/web/artifacts", "/v1/whoami", "/v1/artifacts"} {
		a := do(t, p.with(token.AccessToken), "GET", p.Origins.API+path, nil)
		if refused(t, a, 401, fault.NotAuthenticated); a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no challenge", path)
		}
	}
	refused(t, do(t, p.with(token.AccessToken), "POST", p.Origins.Upload+"/v1/upload-sessions", map[string]any{}, keyed()...), 401, fault.NotAuthenticated)
}

// TestT06SecretsThatAreNoCredentialsOpenNothing sends everything that is no access token as one, and a session cookie.
func TestT06SecretsThatAreNoCredentialsOpenNothing(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	r := p.register(t)
	s := p.startClaim(t, r)
	cli := w.cliToken(t)
	for name, bearer := range map[string]string{
		"a claim token": r.ClaimToken, "an attempt token": s.AttemptToken, "an assertion": r.IdentityAssertion, "a refresh token": cli.RefreshToken,
		"a device code": p.device(t, "d").DeviceCode, "a session": w.cookies[sessionCookie],
		"an access token with another secret": swapped(t, credential.AccessToken, cli.AccessToken),
	} {
		for _, path := range []string{"/v1/whoami", "/v1/web/workspace", "/v1/mcp/whoami"} {
			a := do(t, p.with(bearer), "GET", p.Origins.API+path, nil)
			if a.Status != 401 {
				t.Errorf("%s at %s answers %d", name, path, a.Status)
			}
		}
	}
	a := do(t, p.anyone, "GET", p.Origins.API+"/v1/web/workspace", nil, "Cookie", sessionCookie+"="+w.cookies[sessionCookie])
	refused(t, a, 401, fault.NotAuthenticated)
	if p.works(t, cli.AccessToken) != 200 || p.delegated(t, cli.AccessToken) != 401 { // T05: the command's token is for this host alone
		t.Error("the command's token opens something else than this host")
	}
}

func TestT71ADeviceIsLetInByWhoeverIsAskedAndOnce(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	d := p.device(t, "a laptop")
	before := p.state(t)
	// T72: whoever is sent the whole link sees a code that is filled in, and has to ask who it is
	complete := strings.TrimPrefix(d.VerificationURIComplete, p.Origins.App)
	a := w.get(t, complete)
	if says(t, "the link", a, 200, "Connect a device"); strings.Contains(string(a.Body), "/device/approve") || strings.Contains(string(a.Body), "a laptop") {
		t.Error("the link alone shows a form that approves")
	}
	for _, method := range []string{"GET", "HEAD"} { // T44: so does a prefetch
		w.send(t, method, complete, nil, "Sec-Purpose", "prefetch")
		for _, path := range []string{"/device/approve", "/device/deny"} {
			if a := w.send(t, method, path+"?code="+d.UserCode, nil); a.Status != 405 || a.Header.Get("Allow") != "POST" {
				t.Errorf("%s %s answers %d, Allow %q", method, path, a.Status, a.Header.Get("Allow"))
			}
		}
	}
	says(t, "asking", w.post(t, "/device", url.Values{"code": {strings.ToLower(d.UserCode)}}), 200, "a laptop")
	stranger := p.window()
	says(t, "somebody who is not signed in", stranger.post(t, "/device/approve", url.Values{"code": {d.UserCode}}), 401, "Nothing was changed")
	p.unchanged(t, before)
	if code := p.oauthError(t, deviceGrant("cli", d.DeviceCode)); code != "authorization_pending" {
		t.Errorf("the device is told %s", code)
	}
	for name, q := range map[string]url.Values{
		"another client's": deviceGrant("dashboard", d.DeviceCode), "another secret": deviceGrant("cli", swapped(t, credential.DeviceCode, d.DeviceCode)),
	} {
		if code := p.oauthError(t, q); code != "invalid_grant" {
			t.Errorf("%s: %s", name, code)
		}
	}
	says(t, "approving", w.post(t, "/device/approve", url.Values{"code": {d.UserCode}}), 200, "The device is in")
	other := p.signedIn(t, "bob@example.org")
	says(t, "another session", other.post(t, "/device/approve", url.Values{"code": {d.UserCode}}), 404, "No device waits with this code")
	says(t, "a second time", w.post(t, "/device/deny", url.Values{"code": {d.UserCode}}), 404, "No device waits with this code")
	token := p.token(t, deviceGrant("cli", d.DeviceCode))
	var at contract.WebWorkspace
	succeed(t, json.Unmarshal(do(t, p.with(token.AccessToken), "GET", p.Origins.API+"/v1/web/workspace", nil).Body, &at))
	if at.WorkspaceMember.Email != "ada@example.org" {
		t.Errorf("the device acts for %s", at.WorkspaceMember.Email)
	}
	if code := p.oauthError(t, deviceGrant("cli", d.DeviceCode)); code != "invalid_grant" {
		t.Errorf("asking again: %s", code)
	}
}

func TestT71ADeviceThatWasDeniedOrGuessedGetsNothing(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	d := p.device(t, "a laptop")
	says(t, "denying", w.post(t, "/device/deny", url.Values{"code": {d.UserCode}}), 200, "Denied")
	if code := p.oauthError(t, deviceGrant("cli", d.DeviceCode)); code != "access_denied" {
		t.Errorf("the device is told %s", code)
	}
	late := p.device(t, "slow")
	p.clock.pass(limits.DeviceLife)
	if code := p.oauthError(t, deviceGrant("cli", late.DeviceCode)); code != "expired_token" {
		t.Errorf("after a quarter of an hour it is told %s", code)
	}
	says(t, "its code", w.post(t, "/device", url.Values{"code": {late.UserCode}}), 404, "No device waits with this code")
	d = p.device(t, "guessed")
	for n := range p.options.Limits.WrongCode.Limit - 1 { // one was typed above
		if a := w.post(t, "/device/approve", url.Values{"code": {strings.Repeat("BCDF-", n%4) + "x"}}); a.Status != 404 {
			t.Fatalf("guess %d answers %d", n+1, a.Status)
		}
	}
	says(t, "then the right code", w.post(t, "/device/approve", url.Values{"code": {d.UserCode}}), 429, "Too much at once")
	if code := p.oauthError(t, deviceGrant("cli", d.DeviceCode)); code != "authorization_pending" {
		t.Errorf("the device is told %s", code)
	}
}

func TestT74ATokenIsRevokedByItsWholeSecretOnly(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	r := p.register(t)
	agent := p.token(t, jwtBearer(r.IdentityAssertion))
	c := p.registers(t, "An app")
	app, cli := p.token(t, c.exchange(c.allowed(t, w, "read").Get("code"))), w.cliToken(t)
	revoke := func(token string) {
		t.Helper()
		if a := p.form(t, "/oauth2/revoke", url.Values{"token": {token}}, nil); a.Status != http.StatusOK || len(a.Body) > 0 {
			t.Errorf("revoking answers %d %s", a.Status, a.Body)
		}
	}
	live := func() (status [3]int) {
		return [3]int{
			do(t, p.with(agent.AccessToken), "GET", p.Origins.API+"/v1/whoami", nil).Status, p.delegated(t, app.AccessToken), p.works(t, cli.AccessToken),
		}
	}
	before := p.state(t)
	for kind, texts := range map[credential.Kind][]string{
		credential.APIKey: {agent.AccessToken}, credential.AccessToken: {app.AccessToken, cli.AccessToken}, credential.RefreshToken: {app.RefreshToken, cli.RefreshToken},
	} {
		for _, text := range texts {
			revoke(swapped(t, kind, text))
			revoke(text[:len(text)-1])
		}
	}
	revoke("nonsense")
	p.unchanged(t, before)
	if got := live(); got != [3]int{200, 200, 200} {
		t.Errorf("after that they answer %v", got)
	}
	revoke(agent.AccessToken)
	revoke(app.RefreshToken)
	revoke(cli.AccessToken)
	if got := live(); got != [3]int{401, 401, 401} {
		t.Errorf("revoked, they answer %v", got)
	}
	if code := p.oauthError(t, refreshGrant("cli", cli.RefreshToken)); code != "invalid_grant" {
		t.Errorf("the refresh token of a revoked access token: %s", code)
	}
}

// TestT83AnEpochEndsEverythingOfAWorkspace raises it in the table, because nothing of ours does so yet, after everything
// was made that a person can have.
func TestT83AnEpochEndsEverythingOfAWorkspace(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	r := p.register(t)
	s := p.startClaim(t, r)
	w.opensAttempt(t, s)
	says(t, "the agent", w.types(t, s.UserCode), 200, "The agent is in")
	agent := p.token(t, claimGrant(r.ClaimToken))
	c := p.registers(t, "An app")
	app, cli := p.token(t, c.exchange(c.allowed(t, w, "read").Get("code"))), w.cliToken(t)
	pending := c.allowed(t, w, "read").Get("code")
	who := p.with(cli.AccessToken)
	var key contract.CreatedKey
	a := do(t, who, "POST", p.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "server"}, keyed()...)
	if succeed(t, json.Unmarshal(a.Body, &key)); a.Status != http.StatusCreated {
		t.Fatalf("making a key answers %d %s", a.Status, a.Body)
	}
	var at contract.WebWorkspace
	succeed(t, json.Unmarshal(do(t, who, "GET", p.Origins.API+"/v1/web/workspace", nil).Body, &at))
	p.change(t, "W#"+string(at.Workspace.ID), "META", map[string]any{"epoch": 1})
	if got := p.works(t, cli.AccessToken); got != 401 {
		t.Errorf("the command's token answers %d", got)
	}
	if got := p.delegated(t, app.AccessToken); got != 401 {
		t.Errorf("the app's token answers %d", got)
	}
	for name, bearer := range map[string]string{"the agent's token": agent.AccessToken, "the key": key.Secret} {
		if got := do(t, p.with(bearer), "GET", p.Origins.API+"/v1/whoami", nil).Status; got != 401 {
			t.Errorf("%s answers %d", name, got)
		}
	}
	for name, q := range map[string]url.Values{
		"the assertion": jwtBearer(agent.IdentityAssertion), "the app's refresh token": refreshGrant(c.id, app.RefreshToken), "a code": c.exchange(pending),
		"the command's refresh token": refreshGrant("cli", cli.RefreshToken),
	} {
		if got := p.oauthError(t, q); got != "invalid_grant" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if !w.signedOut(t) {
		t.Error("the session lives on")
	}
}
