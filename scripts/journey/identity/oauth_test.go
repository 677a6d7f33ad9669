package identity

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// atMCP is the route by which the MCP host identifies the user of an app.
const atMCP = "/v1/mcp/whoami"

// connect returns the token of an app that a person allows, and its code.
func (c client) connect(t testing.TB, w *harness.FakeBrowser, scope string) (token contract.Token, code string) {
	t.Helper()
	code = c.allowed(t, w, scope).Get("code")
	return c.Token(t, c.exchange(code)), code
}

func TestT03T36NoAppGetsMoreThanItWasGiven(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	c, w := registerClient(t, p, "An app"), p.SignedIn(t, "ada@example.org")
	token, _ := c.connect(t, w, "read admin everything")
	if token.Scope != "read" {
		t.Errorf("granted is %q", token.Scope)
	}
	wider := refreshGrant(c.id, token.RefreshToken)
	wider.Set("scope", "read publish")
	if code := p.OAuthError(t, wider); code != "invalid_scope" {
		t.Errorf("refreshing for more: %s", code)
	}
	for _, path := range []string{"/v1/web/workspace", "/v1/web/keys", "/v1/whoami", "/v1/artifacts"} {
		if got := p.StatusFor(t, token.AccessToken, path); got != http.StatusUnauthorized {
			t.Errorf("%s answers %d", path, got)
		}
	}
}

// TestT33T35T74TheAccessOfAnAppEndsWithItsGrant ends grants by a code and a refresh token that come back, and by
// revoking.
func TestT33T35T74TheAccessOfAnAppEndsWithItsGrant(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	c, w := registerClient(t, p, "An app"), p.SignedIn(t, "ada@example.org")
	revoke := func(token string) {
		t.Helper()
		if a := p.PostForm(t, "/oauth2/revoke", url.Values{"token": {token}}, nil); a.Status != 200 || len(a.Body) > 0 {
			t.Errorf("revoking answers %d %s", a.Status, a.Body)
		}
	}
	for name, end := range map[string]func(token contract.Token, code string){
		"T33: the code comes back": func(_ contract.Token, code string) {
			if got := p.OAuthError(t, c.exchange(code)); got != "invalid_grant" {
				t.Errorf("the code a second time: %s", got)
			}
		},
		"T35: a used refresh token comes back": func(first contract.Token, _ string) {
			second := p.Token(t, refreshGrant(c.id, first.RefreshToken))
			if again := p.Token(t, refreshGrant(c.id, first.RefreshToken)); again.AccessToken != second.AccessToken {
				t.Error("who lost an answer gets another one")
			}
			p.Clock.Advance(limits.RefreshGrace + time.Second)
			if got := p.OAuthError(t, refreshGrant(c.id, first.RefreshToken)); got != "invalid_grant" {
				t.Errorf("the used one: %s", got)
			}
			if got := p.StatusFor(t, second.AccessToken, atMCP); got != http.StatusUnauthorized {
				t.Errorf("the token that replaced it answers %d", got)
			}
		},
		"T74: it is revoked": func(token contract.Token, _ string) {
			public := harness.Must(credential.Parse(token.RefreshToken, credential.RefreshToken, credential.Preview))(t)
			revoke(credential.MintAs(public.Kind, credential.Preview, public.Workspace, public.Public).Reveal())
			if got := p.StatusFor(t, token.AccessToken, atMCP); got != http.StatusOK {
				t.Errorf("after another secret was revoked the token answers %d", got)
			}
			revoke(token.RefreshToken)
		},
	} {
		token, code := c.connect(t, w, "read")
		if got := p.StatusFor(t, token.AccessToken, atMCP); got != http.StatusOK {
			t.Errorf("%s: before that the token answers %d", name, got)
		}
		end(token, code)
		if got := p.StatusFor(t, token.AccessToken, atMCP); got != http.StatusUnauthorized {
			t.Errorf("%s: after that the token answers %d", name, got)
		}
		if got := p.OAuthError(t, refreshGrant(c.id, token.RefreshToken)); got != "invalid_grant" {
			t.Errorf("%s: after that its refresh token answers %s", name, got)
		}
	}
}

func TestT42TheAPIReadsOneKindOfBody(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	for path, body := range map[string]string{
		"/oauth2/token":                refreshGrant("cli", "x").Encode(),
		"/oauth2/revoke":               "token=x",
		"/oauth2/device_authorization": "client_id=cli",
	} {
		for _, media := range []string{"text/plain", "application/json", "multipart/form-data"} {
			a := harness.Do(t, p.Anyone, "POST", p.Origins.API+path, body, "Content-Type", media)
			if a.Status != http.StatusBadRequest || harness.ErrorOf(a) != "invalid_request" {
				t.Errorf("%s as %s: %d %s", path, media, a.Status, a.Body)
			}
		}
	}
}
