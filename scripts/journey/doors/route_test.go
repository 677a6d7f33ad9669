package doors

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

// open are the routes that take no credential of a workspace, and why the policy does not judge them.
var open = map[string]string{
	"api GET /.well-known/jwks.json":                  metadata,
	"api GET /.well-known/oauth-authorization-server": metadata,
	"api GET /.well-known/oauth-protected-resource":   metadata,
	"api GET /.well-known/vitrine":                    metadata,
	"api GET /.well-known/{document}/{path}":          metadata,
	"api GET /auth.md":                                metadata,
	"api GET /.well-known/agent-skills/index.json":    metadata,
	"api GET /agents.md":                              metadata,
	"api GET /llms-full.txt":                          metadata,
	"api GET /llms.txt":                               metadata,
	"api GET /skill.md":                               metadata,
	"api GET /skills/vitrine.zip":                     metadata,
	"api GET /v1/public/cli-version":                  metadata,
	"mcp GET /":                                       metadata,
	"mcp GET /.well-known/oauth-authorization-server": metadata,
	"mcp GET /.well-known/oauth-protected-resource":   metadata,
	"mcp GET /.well-known/openid-configuration":       metadata,
	"mcp GET /healthz":                                metadata,
	"mcp GET /openapi.json":                           metadata,

	"api POST /agent/event/notify":          "a provider of agents takes back what it said",
	"api POST /agent/identity":              "the table judges assertions; without one no person comes in",
	"api POST /agent/identity/claim":        "the person who completes the claim is judged",
	"api GET /oauth2/authorize":             "the person who consents is judged",
	"api POST /oauth2/device_authorization": "the person who approves is judged",
	"api POST /oauth2/register":             "an app is no person",
	"api OPTIONS /oauth2/register":          "a preflight",
	"api OPTIONS /oauth2/token":             "a preflight",
	"api POST /oauth2/revoke":               "it only ends tokens",
	"api POST /oauth2/token":                "the table judges each grant",
	"api POST /v1/ephemeral/provision":      "nobody has claimed the workspace",

	"api POST /v1/access-links/resolve":     reader,
	"api GET /v1/public/agent-view/{token}": reader,
	"api POST /v1/billing/webhook":          "the payment provider signs it",
	"content GET /b/{token}":                reader,
	"content HEAD /b/{token}":               reader,
	"content GET /r/{token}":                reader,
	"content HEAD /r/{token}":               reader,
	"content GET /r/{token}/{path}":         reader,
	"content HEAD /r/{token}/{path}":        reader,
	"content GET /v/{token}/{path}":         reader,
	"content HEAD /v/{token}/{path}":        reader,
	"content GET /x/{token}":                reader,
	"content HEAD /x/{token}":               reader,
}

const (
	metadata = "it tells everybody the same"
	reader   = "it shows what was shared"
)

// judged are the credentials of a workspace, by the name that the documents of the hosts have for them.
var judged = map[string]func(*caller) string{
	"ApiKeyBearer":   key,
	"WorkOsBearer":   memberToken,
	"McpOAuthBearer": appToken,
}

// TestEveryRouteIsADoor asks all routes in the documents of the hosts as a person who is not let in. A test of the app
// host does that for its pages.
func TestEveryRouteIsADoor(t *testing.T) {
	d := newDeployment(t)
	c, stranger := d.join(t, "hedy@ops.example", true), nobody()
	harness.Decode(t, exchange(t, d, c), &c.cli) // unlike a device, which never operates
	if got := d.StatusFor(t, c.cli.AccessToken, harness.RecordPath); got != http.StatusOK {
		t.Fatalf("an operator reads the record: %d", got)
	}
	d.restart(t, signIn{domains: []string{"other.example"}})
	rows := map[string]bool{}
	for host, origin := range map[string]string{
		"api": d.Origins.API, "upload": d.Origins.Upload, "content": d.Origins.Content, "mcp": d.Origins.MCP,
	} {
		var document struct {
			Paths map[string]map[string]struct{ Security []map[string]any }
		}
		harness.ReadGolden(t, host, &document)
		for path, methods := range document.Paths {
			for method, operation := range methods {
				route := host + " " + strings.ToUpper(method) + " " + path
				var of func(*caller) string
				for _, scheme := range operation.Security {
					for name := range scheme {
						of = judged[name]
					}
				}
				if rows[route] = true; (of == nil) != (open[route] != "") {
					t.Errorf("%s takes a credential that is judged: %t; reason to be open: %q", route, of != nil, open[route])
				}
				if of == nil {
					continue
				}
				target := origin + strings.NewReplacer("{", "", "}", "").Replace(path)
				got := harness.Do(t, d.WithBearer(of(c)), strings.ToUpper(method), target, nil)
				want := http.StatusUnauthorized
				if strings.Contains(path, "/admin/") {
					want = http.StatusNotFound
				}
				if got.Status != want {
					t.Errorf("%s answers %d %s, want %d", route, got.Status, got.Body, want)
				}
				wantSame(t, got, harness.Do(t, d.WithBearer(of(stranger)), strings.ToUpper(method), target, nil))
			}
		}
	}
	for route := range open {
		if !rows[route] {
			t.Errorf("no host has the route %s", route)
		}
	}
}
