package identity

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// documentServer serves the metadata document of an app on this machine.
type documentServer struct {
	*httptest.Server
	name  string
	asked atomic.Int64
	gone  atomic.Bool
}

func newDocumentServer(t *testing.T, redirect, name string) *documentServer {
	s := &documentServer{name: name}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		if s.gone.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, `{"client_id":%q,"client_name":%q,"redirect_uris":[%q]}`, s.client(), s.name, redirect)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *documentServer) client() string { return s.URL + "/oauth/client.json" }

// host is how people are told where the document is.
func (s *documentServer) host() string { return strings.TrimPrefix(s.URL, "http://") }

// TestT30T31AnAppThatADocumentDescribesIsLetInAndRefreshes goes from the metadata of the server to a refresh as a
// client does that knows nothing else, and names itself by Basic authentication with an empty secret. No document of
// another origin of this machine is read.
func TestT30T31AnAppThatADocumentDescribesIsLetInAndRefreshes(t *testing.T) {
	t.Parallel()
	const redirect = "https://robot.example.com/callback"
	site := newDocumentServer(t, redirect, `Robot <script>alert("1")</script>`)
	inner := newDocumentServer(t, redirect, "Inner")
	p := harness.NewAgentAuthEnv(t, func(o *stack.Options) { o.FetchOrigins = []string{site.URL} })
	var server contract.ServerMetadata
	a := harness.Do(t, p.Anyone, "GET", p.Origins.API+"/.well-known/oauth-authorization-server", nil)
	if harness.Decode(t, a, &server); !server.ClientDocuments || !server.IssParameter ||
		server.AuthorizationEndpoint != p.Origins.API+"/oauth2/authorize" {
		t.Fatalf("%+v, want documents of clients, iss and the authorization endpoint", server)
	}
	refused := client{p, inner.client(), redirect, strings.Repeat("verifier", 8)}
	a = harness.Do(t, p.Anyone, "GET", p.Origins.API+"/oauth2/authorize?"+refused.request("read").Encode(), nil)
	harness.WantPage(t, "a document elsewhere on this machine", a, http.StatusBadRequest, "<html")
	if inner.asked.Load() != 0 || a.Header.Get("Location") != "" {
		t.Errorf("it was read, or the browser is sent to %q", a.Header.Get("Location"))
	}
	w := p.SignedIn(t, "ada@example.org")
	c := client{p, site.client(), redirect, strings.Repeat("verifier", 8)}
	consent := c.authorize(t, c.request("read publish admin"))
	page := w.Get(t, strings.TrimPrefix(consent.String(), p.Origins.App))
	for _, part := range []string{
		"Robot <script>alert(\"1\")</script>", "Described at", "<bdi>" + site.host() + "</bdi>", site.client(),
		"robot.example.com",
	} {
		harness.WantPage(t, "the consent page", page, http.StatusOK, part)
	}
	if strings.Contains(string(page.Body), "<script>alert") || strings.Contains(string(page.Body), "keys") {
		t.Errorf("the page runs what a document says, or lets the app do more than it may: %s", page.Body)
	}
	back := c.allowed(t, w, "read publish admin")
	if back.Get("iss") != p.Origins.API || back.Get("state") != "the state" {
		t.Errorf("the app is told %v", back)
	}
	site.gone.Store(true)
	token := c.basic(t, c.exchange(back.Get("code")))
	if token.Scope != "publish read" || p.StatusFor(t, token.AccessToken, atMCP) != http.StatusOK ||
		p.StatusFor(t, token.AccessToken, "/v1/web/workspace") != http.StatusUnauthorized {
		t.Errorf("granted is %q", token.Scope)
	}
	p.Clock.Advance(limits.MinDocumentLife)
	token = c.basic(t, refreshGrant("", token.RefreshToken))
	if status := p.StatusFor(t, token.AccessToken, atMCP); status != http.StatusOK {
		t.Errorf("after a refresh the token answers %d", status)
	}
	harness.WantPage(t, "the connections", w.Get(t, "/connections"), http.StatusOK, "<bdi>"+site.host()+"</bdi>")
	if site.asked.Load() != 1 {
		t.Errorf("the document was read %d times", site.asked.Load())
	}
	c.allowed(t, w, "read") // what the document said before counts for now
	if site.asked.Load() != 2 {
		t.Errorf("the document was read %d times", site.asked.Load())
	}
}

// basic asks the token endpoint as libraries do that try Basic first: without client_id in the form.
func (c client) basic(t testing.TB, form url.Values) (out contract.Token) {
	t.Helper()
	form.Del("client_id")
	secret := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(c.id) + ":"))
	a := harness.Do(t, c.Anyone, "POST", c.Origins.API+"/oauth2/token", form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", "Basic "+secret)
	if harness.Decode(t, a, &out); a.Status != http.StatusOK {
		t.Fatalf("the token endpoint answers %d %s", a.Status, a.Body)
	}
	return out
}
