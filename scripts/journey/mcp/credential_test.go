package mcp

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/fault"
)

// TestT04OtherCredentialsAreRefusedByThisHost sends everything that opens another host.
func TestT04OtherCredentialsAreRefusedByThisHost(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	browser := p.SignedIn(t, "ada@example.org")
	cli := browser.CLIToken(t)
	who := p.NewMember(t)
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "key", "a-key-of-mine"))
	session := browser.Cookies[harness.SessionCookie]
	metadata := p.Origins.MCP + "/.well-known/oauth-protected-resource"
	for name, tt := range map[string]struct {
		headers []string
		says    string
	}{
		"nothing":                {[]string{"Authorization", ""}, "OAuth"},
		"an API key":             {[]string{"Authorization", "Bearer " + made.Secret}, "API keys"},
		"an ephemeral key":       {[]string{"Authorization", "Bearer " + p.NewAgent(t).Key}, "API keys"},
		"the command's token":    {[]string{"Authorization", "Bearer " + cli.AccessToken}, "unknown, expired or ended"},
		"a member's web token":   {[]string{"Authorization", "Bearer " + who.Key}, "unknown, expired or ended"},
		"a session in a cookie":  {[]string{"Authorization", "", "Cookie", harness.SessionCookie + "=" + session}, "OAuth"},
		"a session as a token":   {[]string{"Authorization", "Bearer " + session}, ""},
		"a foreign session":      {[]string{"Authorization", "Bearer wos_session"}, "browser sessions"},
		"a basic credential":     {[]string{"Authorization", "Basic YTpi"}, "Bearer"},
		"two in one header":      {[]string{"Authorization", "Bearer a, Bearer b"}, "exactly one"},
		"a token and a space":    {[]string{"Authorization", "Bearer a b"}, "Bearer"},
		"a token with no scheme": {[]string{"Authorization", cli.AccessToken}, "Bearer"},
	} {
		c := &rawClient{Env: p.Env}
		for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{`, `[]`} {
			a := c.send(t, body, tt.headers...)
			challenge := a.Header.Get("WWW-Authenticate")
			if a.Status != http.StatusUnauthorized || a.Error == nil || a.Error.Code != -32000 || a.ID != nil ||
				a.Error.Data.Code != "invalid_token" || !strings.Contains(a.Error.Message, tt.says) {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
			sent := tt.headers[1] != ""
			if !strings.HasPrefix(challenge, `Bearer realm="`) || strings.Contains(challenge, `error="invalid_token"`) != sent ||
				!strings.Contains(challenge, `resource_metadata="`+metadata+`"`) ||
				!strings.Contains(challenge, `scope="read publish"`) {
				t.Errorf("%s is challenged by %s", name, challenge)
			}
		}
	}
	// T81: a token in the query is none
	a := harness.Do(t, p.Anyone, "POST", p.Origins.MCP+"/?access_token="+cli.AccessToken, `{}`)
	if a.Status != http.StatusUnauthorized {
		t.Errorf("a token in the query answers %d", a.Status)
	}
}

// TestT03ATokenOfThisHostOpensNoOther is the other way round.
func TestT03ATokenOfThisHostOpensNoOther(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	c, _ := connected(t, p)
	g := p.WithBearer(c.token)
	for _, path := range []string{"/v1/whoami", "/v1/artifacts", "/v1/web/workspace"} {
		harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+path, nil), 401, fault.NotAuthenticated)
	}
	harness.WantRefused(t, harness.TryCreate(t, g, wire.NewKey(), map[string]any{}), 401, fault.NotAuthenticated)
	if got := p.StatusFor(t, c.token, "/v1/mcp/whoami"); got != http.StatusOK {
		t.Errorf("the route for MCP answers %d", got)
	}
}
