package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
)

// receiver is an app on the person's machine that waits for the code.
type receiver struct {
	address string // of its redirect
	came    chan auth.AuthorizationResult
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	listener := harness.Must(net.Listen("tcp4", "127.0.0.1:0"))(t)
	r := &receiver{
		address: "http://" + listener.Addr().String() + "/callback",
		came:    make(chan auth.AuthorizationResult, 1),
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if code := q.URL.Query().Get("code"); code != "" {
			r.came <- auth.AuthorizationResult{Code: code, State: q.URL.Query().Get("state"), Iss: q.URL.Query().Get("iss")}
		}
		fmt.Fprint(w, "<!doctype html><title>Connected</title><p>You can close this page.")
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return r
}

// TestAPersonConnectsAnAgentAndEndsIt goes through everything that a person sees: signing in, the question, the page
// that the agent published and changed, and the list of connections, where the agent is ended.
func TestAPersonConnectsAnAgentAndEndsIt(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	page, app := browser.Open(t), newReceiver(t)
	asked := 0
	handler := harness.Must(auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:   "A writing robot",
			RedirectURIs: []string{app.address},
		}},
		RedirectURL: app.address,
		Client:      d.Anyone.HTTP,
		AuthorizationCodeFetcher: func(_ context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if asked++; asked > 1 {
				return nil, fmt.Errorf("the person is asked again")
			}
			page.Go(a.URL)
			page.SignIn("ada@example.org")
			page.WaitText("A writing robot")
			page.Screenshot("journey-mcp-consent")
			page.Click(`form[action="/oauth/consent/allow"] button`)
			page.WaitText("You can close this page.")
			result := <-app.came
			return &result, nil
		},
	}))(t)
	s := opened(t, d, handler)
	var made contract.MCPPublished
	use(t, s, "publish_artifact", map[string]any{"title": "Tide tables", "body": tides, "render_mode": "html"}, &made)
	page.Go(made.PrivateURL)
	page.Frame(d.Origins.Content).WaitText("High water at six")
	page.Screenshot("journey-mcp-published")
	var edited contract.MCPPublished
	use(t, s, "multi_edit", map[string]any{"artifact_id": made.ArtifactID, "path": "index.html",
		"edits": []map[string]any{{"old_string": "six", "new_string": "seven"}}}, &edited)
	page.Go(made.PrivateURL)
	page.Frame(d.Origins.Content).WaitText("High water at seven")
	page.Clean()
	var shown contract.Visibility
	use(t, s, "set_visibility", map[string]any{"artifact_id": made.ArtifactID, "visibility": "unlisted"}, &shown)
	reader := browser.Open(t) // who has no account
	reader.Go(shown.UnlistedURL)
	reader.Frame(d.Origins.Content).WaitText("High water at seven")

	page.Go(d.Origins.App + "/connections")
	page.WaitText("A writing robot")
	page.Screenshot("journey-mcp-connections")
	page.Click(`a[href^="/connections/apps/"]`)
	page.Wait(`document.querySelector('form[action$="/unlink"] button') !== null`)
	page.Click(`form[action$="/unlink"] button`)
	page.Wait(`location.pathname === "/connections"`)
	_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "whoami"})
	if err == nil || !strings.Contains(err.Error(), "asked again") {
		t.Errorf("after the person ended the connection the next call answers %v", err)
	}
}
