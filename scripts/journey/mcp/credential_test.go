package mcp

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
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
	p := harness.NewAgentAuthEnv(t)
	c, _ := connected(t, p)
	for _, target := range []string{
		p.Origins.API + "/v1/whoami", p.Origins.API + "/v1/artifacts", p.Origins.API + "/v1/web/workspace",
	} {
		a := harness.Do(t, p.WithBearer(c.token), "GET", target, nil)
		if a.Status != http.StatusUnauthorized || a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s answers %d", target, a.Status)
		}
	}
	if a := harness.Do(t, p.WithBearer(c.token), "POST", p.Origins.Upload+"/v1/upload-sessions", map[string]any{},
		harness.KeyHeader()...); a.Status != http.StatusUnauthorized {
		t.Errorf("the upload host answers %d", a.Status)
	}
	if a := harness.Do(t, p.WithBearer(c.token), "GET", p.Origins.API+"/v1/mcp/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("the route for MCP answers %d", a.Status)
	}
}

// TestAnEndedTokenIsRefusedByTheNextCall ends a token in every way that there is.
func TestAnEndedTokenIsRefusedByTheNextCall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *harness.BackendEnv, *harness.Member, *rawClient){
		"it expires": func(_ *testing.T, p *harness.BackendEnv, _ *harness.Member, _ *rawClient) {
			p.Clock.Advance(limits.AccessTokenLife)
		},
		"it is revoked": func(t *testing.T, p *harness.BackendEnv, _ *harness.Member, c *rawClient) {
			p.PostForm(t, "/oauth2/revoke", map[string][]string{"token": {c.token}}, nil)
		},
		"its workspace is locked": func(t *testing.T, p *harness.BackendEnv, who *harness.Member, _ *rawClient) {
			f := &harness.FaultEnv{BackendEnv: p}
			harness.Lock(t, f.NewOperator(t), "workspace", string(who.Workspace))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := harness.NewAgentAuthEnv(t)
			c, who := connected(t, p)
			call[contract.MCPWhoami](t, c, "whoami", nil)
			end(t, p, who, c)
			if a := c.rpc(t, "tools/call", map[string]any{"name": "whoami"}); a.Status != http.StatusUnauthorized {
				t.Errorf("the next call answers %d %s", a.Status, a.Body)
			}
		})
	}
}
