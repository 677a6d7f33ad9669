package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// appRedirect is where an app on the person's machine waits for its code.
const appRedirect = "http://127.0.0.1:33418/callback"

// consenting answers the authorization requests of an app in a browser in which a person is signed in.
type consenting struct {
	*harness.FakeBrowser
	asked []string // the scopes of each request
}

// fetch goes to the consent page, allows the app and returns what comes back.
func (c *consenting) fetch(t testing.TB) auth.AuthorizationCodeFetcher {
	return func(_ context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		c.asked = append(c.asked, harness.Must(url.Parse(a.URL))(t).Query().Get("scope"))
		sent := harness.Do(t, c.Anyone, "GET", a.URL, nil)
		at := harness.Must(url.Parse(sent.Header.Get("Location")))(t)
		page := c.Get(t, strings.TrimPrefix(at.String(), c.Origins.App))
		harness.WantPage(t, "the consent page", page, http.StatusOK, "127.0.0.1")
		q := c.AllowApp(t, at.Query().Get("req")).Query()
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
}

// refreshing makes every token of an app old, so that each request refreshes it, and counts that.
type refreshing struct {
	config *oauth2.Config
	ctx    context.Context
	token  *oauth2.Token
	times  int
}

// Token implements oauth2.TokenSource.
func (r *refreshing) Token() (*oauth2.Token, error) {
	old := *r.token
	old.Expiry = time.Now().Add(-time.Minute)
	next, err := r.config.TokenSource(r.ctx, &old).Token()
	if err == nil {
		r.token = next
		r.times++
	}
	return next, err
}

// TestAClientThatKnowsTheAddressAloneConnects goes from a 401 to a tool by discovery, registration, PKCE, step-up and
// refresh, with the client of the SDK.
func TestAClientThatKnowsTheAddressAloneConnects(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	person := &consenting{FakeBrowser: p.SignedIn(t, "ada@example.org")}
	var source *refreshing
	narrow := true
	handler := harness.Must(auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:   "A robot",
			RedirectURIs: []string{appRedirect},
			GrantTypes:   []string{"authorization_code", "refresh_token"},
		}},
		RedirectURL:              appRedirect,
		AuthorizationCodeFetcher: person.fetch(t),
		ScopeFilter: func(scopes []string) []string {
			if narrow {
				narrow = false
				return []string{"read"}
			}
			return scopes
		},
		Client: p.Anyone.HTTP,
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			source = &refreshing{config: c, ctx: ctx, token: token}
			return source, nil
		},
	}))(t)
	s := opened(t, p.Env, handler)
	if r := harness.Must(s.CallTool(ctx, &mcp.CallToolParams{Name: "list_artifacts"}))(t); r.IsError {
		t.Fatalf("listing: %v", r.Content)
	}
	if len(person.asked) != 1 || person.asked[0] != "read" {
		t.Fatalf("the person was asked for %q", person.asked)
	}
	r := harness.Must(s.CallTool(ctx, &mcp.CallToolParams{
		Name:      "publish_artifact",
		Arguments: map[string]any{"title": "Tides", "body": "High water at six", "render_mode": "text"},
	}))(t)
	if r.IsError || len(person.asked) != 2 || !strings.Contains(person.asked[1], "publish") {
		t.Fatalf("after being asked for %q it publishes %v", person.asked, r.Content)
	}
	if source.times < 2 {
		t.Errorf("tokens were refreshed %d times", source.times)
	}
	var made contract.MCPPublished
	harness.NoError(t, json.Unmarshal(harness.Must(json.Marshal(r.StructuredContent))(t), &made))
	harness.WantPage(t, "the private page", person.Get(t, "/v/"+string(made.ArtifactID)), http.StatusOK, "Tides")
}

// TestEveryDocumentIsFoundUnderEveryPath asks for the documents as clients do that append the path of the resource.
func TestEveryDocumentIsFoundUnderEveryPath(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	o := p.Origins
	for _, below := range []string{"", "/mcp", "/a/b"} {
		var resource contract.ResourceMetadata
		a := harness.Do(t, p.Anyone, "GET", o.MCP+"/.well-known/oauth-protected-resource"+below, nil)
		harness.Decode(t, a, &resource)
		if resource.Resource != o.MCP || strings.Join(resource.AuthorizationServers, " ") != o.API ||
			strings.Join(resource.ScopesSupported, " ") != "read publish" {
			t.Errorf("%s describes %+v", below, resource)
		}
		if a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%s comes with %v", below, a.Header)
		}
		for _, name := range []string{"oauth-authorization-server", "openid-configuration"} {
			var here, there map[string]any
			harness.Decode(t, harness.Do(t, p.Anyone, "GET", o.MCP+"/.well-known/"+name+below, nil), &here)
			harness.Decode(t, harness.Do(t, p.Anyone, "GET", o.API+"/.well-known/oauth-authorization-server", nil), &there)
			for member, want := range there {
				if strings.HasPrefix(member, "resource") || strings.HasPrefix(member, "protected") {
					continue
				}
				if got, _ := json.Marshal(here[member]); string(got) != string(harness.Must(json.Marshal(want))(t)) {
					t.Errorf("%s%s: %s is %s", name, below, member, got)
				}
			}
			if here["resource"] != o.MCP || here["issuer"] != o.API {
				t.Errorf("%s%s is of %v by %v", name, below, here["resource"], here["issuer"])
			}
		}
	}
	var root contract.MCPDescription
	harness.Decode(t, harness.Do(t, p.Anyone, "GET", o.MCP+"/", nil), &root)
	if root.Endpoint != o.MCP || root.ResourceMetadata != o.MCP+"/.well-known/oauth-protected-resource" {
		t.Errorf("the host describes itself as %+v", root)
	}
	var found contract.Discovery
	harness.Decode(t, harness.Do(t, p.Anyone, "GET", o.API+"/.well-known/vitrine", nil), &found)
	if found.MCPURL != o.MCP {
		t.Errorf("discovery names %q", found.MCPURL)
	}
	for method, accept := range map[string]string{
		"PUT": "*/*", "DELETE": "*/*", "PATCH": "*/*", "OPTIONS": "*/*",
		"GET": "text/event-stream", // as older clients ask for messages of the server
	} {
		undocumented := &wire.Agent{HTTP: http.DefaultClient}
		a := harness.Do(t, undocumented, method, o.MCP+"/", nil, "Accept", accept)
		if a.Status != http.StatusMethodNotAllowed || len(a.Body) > 0 || !strings.Contains(a.Header.Get("Allow"), "POST") {
			t.Errorf("%s answers %d %s, Allow %q", method, a.Status, a.Body, a.Header.Get("Allow"))
		}
	}
}
