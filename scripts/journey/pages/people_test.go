package pages

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// signIn types an address into the identity provider's form, which the page shows or is about to show.
func signIn(p *browser.Page, email string) {
	p.Wait(`document.querySelector("input[name=email]") !== null`)
	browser.Eval[bool](&p.Document, `(document.querySelector("input[name=email]").value = "`+email+`", true)`)
	p.Click("button[type=submit]:not([name])")
}

// watch reads public URLs again and again until stop is called, which reports every failure.
func watch(t testing.TB, d *harness.Env, reads ...func() error) (stop func()) {
	t.Helper()
	end, ended := make(chan struct{}), make(chan []error)
	go func() {
		var failed []error
		for {
			for _, read := range reads {
				if err := read(); err != nil {
					failed = append(failed, err)
				}
			}
			select {
			case <-end:
				ended <- failed
				return
			default:
			}
		}
	}()
	return func() {
		t.Helper()
		close(end)
		for _, err := range <-ended {
			t.Error("while it was claimed:", err)
		}
	}
}

func TestAnAgentRegistersPublishesAndIsClaimedByAPerson(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	r := d.RegisterAgent(t)
	before := d.Token(t, harness.JWTBearer(r.IdentityAssertion))
	agent := d.WithBearer(before.AccessToken)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", harness.Page("tides")))(t)
	if made.URL == "" || made.URL != made.UnlistedURL {
		t.Errorf("the agent is told the URL %q and the unlisted URL %q", made.URL, made.UnlistedURL)
	}
	started := d.StartClaim(t, r)
	if started.UserCode != started.Claim.UserCode || !strings.HasPrefix(started.Claim.VerificationURI, d.Origins.App+"/") {
		t.Errorf("the claim is %+v", started.Claim)
	}
	if code := d.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("before the person came the poll says %s", code)
	}

	stop := watch(t, d,
		func() error { return read(d, made.RevisionContentURL) },
		func() error { return read(d, made.AgentViewURL) },
		func() error { _, err := d.Anyone.Resolve(ctx, made.URL); return err })
	p := browser.Open(t)
	p.Go(started.Claim.VerificationURI)
	signIn(p, "ada@example.org")
	p.WaitText("Let this agent in?")
	p.WaitText("Tide tables")
	if at := browser.Eval[string](&p.Document, `location.href`); strings.Contains(at, "ap_ca_") {
		t.Error("the attempt token stays in the address bar")
	}
	p.Screenshot("journey-agent-claim")
	browser.Eval[bool](&p.Document, `(document.querySelector("#user_code").value = "`+started.UserCode+`", true)`)
	p.Click(`form[action="/agent-auth/claim"] button:not([formaction])`)
	p.Wait(`document.querySelector("h1") !== null && document.querySelector("#user_code") === null`)
	p.Clean()
	stop()

	after := d.Token(t, harness.ClaimGrant(r.ClaimToken))
	if after.IdentityAssertion == "" || after.AssertionExpires == nil {
		t.Error("the claim grant brings no new assertion")
	}
	harness.WantRefused(t, harness.Do(t, agent, "GET", agent.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	if code := d.OAuthError(t, harness.JWTBearer(r.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("T27: the assertion from before the claim answers %s", code)
	}
	owner := d.WithBearer(after.AccessToken)
	var who contract.Whoami
	harness.Decode(t, harness.Do(t, owner, "GET", owner.At.APIURL+"/v1/whoami", nil), &who)
	if who.Workspace.Name != "ada's Workspace" || who.Actor.Type != "api_key" {
		t.Errorf("the new token is for %+v", who.Workspace)
	}
	if view := harness.Must(owner.AgentView(ctx, made.ArtifactID))(t); view.Title != "Tide tables" {
		t.Errorf("the claimed artifact is %q", view.Title)
	}
	second := harness.Must(owner.PublishFiles(ctx, "Tide tables", made.ArtifactID, harness.Page("tomorrow")))(t)
	if second.PrivateURL == "" || second.URL != "" {
		t.Errorf("after the claim publishing answers %+v", second)
	}
	if again := d.Token(t, harness.JWTBearer(after.IdentityAssertion)); again.AccessToken == after.AccessToken {
		t.Error("the new assertion brings the same token")
	}
	p.Go(d.Origins.App + "/dashboard")
	p.WaitText("Tide tables")
	p.Screenshot("journey-dashboard")
}

// read reads a URL without credential.
func read(d *harness.Env, target string) error {
	a, err := d.Anyone.Do(ctx, "GET", target, nil)
	if err == nil && a.Status != http.StatusOK {
		err = &wire.Refused{Answer: a, Asked: "GET"}
	}
	return err
}

var deviceURL = regexp.MustCompile(`http://localhost:\d+/device\?code=\S+`)

func TestAPersonApprovesTheCommandOnAnotherDevice(t *testing.T) {
	c := newTerminal(t, harness.NewEnv(t, harness.Unlimited))
	c.signIn(t, "ada@example.org").Clean()
	type who struct {
		Authenticated bool
		Workspace     contract.WorkspaceSummary
	}
	if w := decode[who](t, c, "", "whoami"); !w.Authenticated || w.Workspace.Name != "ada's Workspace" {
		t.Errorf("whoami says %+v", w)
	}
	folder := folderOf(t, map[string]string{"index.html": "<!doctype html><title>T</title><p>hello"})
	made := decode[contract.Published](t, c, "", "publish", folder, "--title", "From the command")
	if made.PrivateURL == "" {
		t.Errorf("publish prints %+v", made)
	}
	if out, _ := c.run(t, 0, "", "logout", "--json"); !strings.Contains(out, `"remote_revoked":true`) {
		t.Errorf("logout prints %s", out)
	}
	if decode[who](t, c, "", "whoami").Authenticated {
		t.Error("somebody is signed in after logout")
	}
}

// callback is a client's own listener; it hands on what comes back.
func callback(t testing.TB) (redirect string, answers chan url.Values) {
	t.Helper()
	l := harness.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	answers = make(chan url.Values, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "back at the client")
		if r.URL.Path == "/callback" {
			answers <- r.URL.Query()
		}
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "http://" + l.Addr().String() + "/callback", answers
}

// registerClient registers a client with a hostile name.
func registerClient(t *testing.T, d *harness.Env, endpoint, redirect string) (client contract.RegisteredClient) {
	t.Helper()
	a := harness.Do(t, d.Anyone, "POST", endpoint, contract.RegisterClient{
		ClientName:   "A <b>client</b>",
		RedirectURIs: []string{redirect},
	})
	if harness.Decode(t, a, &client); a.Status != http.StatusCreated {
		t.Fatalf("registration answers %d %s", a.Status, a.Body)
	}
	return client
}

func TestAClientThatKnowsOnlyTheBaseURLIsAllowedByAPerson(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	var server contract.ServerMetadata
	harness.Decode(
		t, harness.Do(t, d.Anyone, "GET", d.Origins.API+"/.well-known/oauth-authorization-server", nil), &server,
	)
	if server.Issuer != d.Origins.API || !slices.Contains(server.CodeChallengeMethods, "S256") ||
		server.RegistrationEndpoint == "" {
		t.Fatalf("the metadata is %+v", server)
	}
	redirect, answers := callback(t)
	client := registerClient(t, d, server.RegistrationEndpoint, redirect)
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type":         {"code"},
		"client_id":             {string(client.ClientID)},
		"redirect_uri":          {redirect},
		"state":                 {"some state"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
		"scope":                 {"read openid"},
	}
	p := browser.Open(t)
	p.Go(server.AuthorizationEndpoint + "?" + q.Encode())
	signIn(p, "ada@example.org")
	p.WaitText("Allow this app?")
	p.WaitText("A <b>client</b>")
	p.Screenshot("journey-consent")
	p.Click(`form[action="/oauth/consent/allow"] button:not([formaction])`)
	var back url.Values
	select {
	case back = <-answers:
	case <-time.After(time.Minute):
		t.Fatal("nothing came back to the client")
	}
	if back.Get("state") != "some state" || back.Get("iss") != server.Issuer || back.Get("code") == "" {
		t.Fatalf("what came back is %v", back)
	}
	exchange := url.Values{
		"grant_type":    {"authorization_code"},
		"client_id":     {string(client.ClientID)},
		"code":          {back.Get("code")},
		"redirect_uri":  {redirect},
		"code_verifier": {verifier},
	}
	token := d.Token(t, exchange)
	if token.RefreshToken == "" || token.Scope != "read" {
		t.Errorf("the token is for %q", token.Scope)
	}
	who := d.WithBearer(token.AccessToken)
	var self contract.MCPWhoami
	answer := harness.Do(t, who, "GET", who.At.APIURL+"/v1/mcp/whoami", nil)
	harness.Decode(t, answer, &self)
	if answer.Status != http.StatusOK || self.WorkspaceMember.Email != "ada@example.org" {
		t.Errorf("whoami answers %d %s", answer.Status, answer.Body)
	}
	harness.WantRefused(t, harness.Do(t, who, "GET", who.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated) // T03
	harness.WantRefused(t, harness.Do(t, who, "GET", who.At.APIURL+"/v1/web/workspace", nil), 401, fault.NotAuthenticated)

	newer := d.Token(t, url.Values{
		"grant_type":    {"refresh_token"},
		"client_id":     {string(client.ClientID)},
		"refresh_token": {token.RefreshToken},
	})
	if newer.RefreshToken == token.RefreshToken || newer.AccessToken == token.AccessToken {
		t.Error("refreshing rotates nothing")
	}
	if code := d.OAuthError(t, exchange); code != "invalid_grant" { // T33
		t.Errorf("the code a second time answers %s", code)
	}
	who = d.WithBearer(newer.AccessToken)
	harness.WantRefused(t, harness.Do(t, who, "GET", who.At.APIURL+"/v1/mcp/whoami", nil), 401, fault.NotAuthenticated)
}
