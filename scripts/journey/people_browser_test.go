package journey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// form sends a form to the api host and unpacks the JSON that it answers.
func (d *deployment) form(t testing.TB, path string, values url.Values, out any) wire.Answer {
	t.Helper()
	a := do(t, d.anyone, "POST", d.Origins.API+path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	if out != nil {
		succeed(t, json.Unmarshal(a.Body, out))
	}
	return a
}

// token asks for a token and wants it.
func (d *deployment) token(t testing.TB, values url.Values) (out contract.Token) {
	t.Helper()
	if a := d.form(t, "/oauth2/token", values, &out); a.Status != http.StatusOK || out.TokenType != "Bearer" {
		t.Fatalf("the token endpoint answers %d %s", a.Status, a.Body)
	}
	return out
}

// oauthError is the code of a refusal of the token endpoint.
func (d *deployment) oauthError(t testing.TB, values url.Values) string {
	t.Helper()
	var e contract.OAuthError
	if a := d.form(t, "/oauth2/token", values, &e); a.Status != http.StatusBadRequest {
		t.Errorf("the token endpoint answers %d %s", a.Status, a.Body)
	}
	return e.Error
}

// with is a client with a credential.
func (d *deployment) with(bearer string) *wire.Agent {
	return &wire.Agent{HTTP: d.anyone.HTTP, At: d.anyone.At, Key: bearer}
}

// register registers an agent.
func (d *deployment) register(t testing.TB) (r contract.RegisteredAgent) {
	t.Helper()
	a := do(t, d.anyone, "POST", d.Origins.API+"/agent/identity", map[string]string{"type": "anonymous"})
	if a.Status != http.StatusOK {
		t.Fatalf("registration answers %d %s", a.Status, a.Body)
	}
	succeed(t, json.Unmarshal(a.Body, &r))
	return r
}

// startClaim asks for the code that a person types.
func (d *deployment) startClaim(t testing.TB, r contract.RegisteredAgent) (s contract.StartedClaim) {
	t.Helper()
	a := do(t, d.anyone, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
	if a.Status != http.StatusOK {
		t.Fatalf("the claim endpoint answers %d %s", a.Status, a.Body)
	}
	succeed(t, json.Unmarshal(a.Body, &s))
	return s
}

func claimGrant(token string) url.Values {
	return url.Values{"grant_type": {contract.GrantClaim}, "claim_token": {token}}
}

func jwtBearer(assertion string) url.Values {
	return url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {assertion}}
}

// watch reads what everybody may read, over and over, until the result is called, which reports every failure.
func (d *deployment) watch(t testing.TB, reads ...func() error) (stop func()) {
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
	d := deploy(t, unlimited)
	r := d.register(t)
	before := d.token(t, jwtBearer(r.IdentityAssertion))
	agent := d.with(before.AccessToken)
	made := must(agent.PublishFiles(ctx, "Tide tables", "", page("tides")))(t)
	if made.URL == "" || made.URL != made.UnlistedURL {
		t.Errorf("the agent is told the URL %q and the unlisted URL %q", made.URL, made.UnlistedURL)
	}
	started := d.startClaim(t, r)
	if started.UserCode != started.Claim.UserCode || !strings.HasPrefix(started.Claim.VerificationURI, d.Origins.App+"/") {
		t.Errorf("the claim is %+v", started.Claim)
	}
	if code := d.oauthError(t, claimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("before the person came the poll says %s", code)
	}

	stop := d.watch(t,
		func() error { return opens(d, made.RevisionContentURL) },
		func() error { return opens(d, made.AgentViewURL) },
		func() error { _, err := d.anyone.Resolve(ctx, made.URL); return err })
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

	after := d.token(t, claimGrant(r.ClaimToken))
	if after.IdentityAssertion == "" || after.AssertionExpires == nil {
		t.Error("the claim grant brings no new assertion")
	}
	refused(t, do(t, agent, "GET", agent.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	if code := d.oauthError(t, jwtBearer(r.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("T27: the assertion from before the claim answers %s", code)
	}
	owner := d.with(after.AccessToken)
	var who contract.Whoami
	succeed(t, json.Unmarshal(do(t, owner, "GET", owner.At.APIURL+"/v1/whoami", nil).Body, &who))
	if who.Workspace.Name != "ada's Workspace" || who.Actor.Type != "api_key" {
		t.Errorf("the new token is for %+v", who.Workspace)
	}
	if view := must(owner.AgentView(ctx, made.ArtifactID))(t); view.Title != "Tide tables" {
		t.Errorf("the claimed artifact is %q", view.Title)
	}
	second := must(owner.PublishFiles(ctx, "Tide tables", made.ArtifactID, page("tomorrow")))(t)
	if second.PrivateURL == "" || second.URL != "" {
		t.Errorf("after the claim publishing answers %+v", second)
	}
	if again := d.token(t, jwtBearer(after.IdentityAssertion)); again.AccessToken == after.AccessToken {
		t.Error("the new assertion brings the same token")
	}
	p.Go(d.Origins.App + "/dashboard")
	p.WaitText("Tide tables")
	p.Screenshot("journey-dashboard")
}

// opens reads a URL without credential.
func opens(d *deployment, target string) error {
	a, err := d.anyone.Do(ctx, "GET", target, nil)
	if err == nil && a.Status != http.StatusOK {
		err = &wire.Refused{Answer: a, Asked: "GET"}
	}
	return err
}

var deviceURL = regexp.MustCompile(`http://localhost:\d+/device\?code=\S+`)

func TestAPersonApprovesTheCommandOnAnotherDevice(t *testing.T) {
	c := deploy(t, unlimited).terminal(t)
	c.signsIn(t, "ada@example.org").Clean()
	type who struct {
		Authenticated bool
		Workspace     contract.WorkspaceSummary
	}
	if w := told[who](t, c, "", "whoami"); !w.Authenticated || w.Workspace.Name != "ada's Workspace" {
		t.Errorf("whoami says %+v", w)
	}
	folder := folderOf(t, map[string]string{"index.html": "<!doctype html><title>T</title><p>hello"})
	if made := told[contract.Published](t, c, "", "publish", folder, "--title", "From the command"); made.PrivateURL == "" {
		t.Errorf("publish prints %+v", made)
	}
	if out, _ := c.types(t, 0, "", "logout", "--json"); !strings.Contains(out, `"remote_revoked":true`) {
		t.Errorf("logout prints %s", out)
	}
	if told[who](t, c, "", "whoami").Authenticated {
		t.Error("somebody is signed in after logout")
	}
}

// callback is a client's own listener; it hands on what comes back.
func callback(t testing.TB) (redirect string, answers chan url.Values) {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
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

func TestAClientThatKnowsOnlyTheBaseURLIsAllowedByAPerson(t *testing.T) {
	d := deploy(t, unlimited)
	var server contract.ServerMetadata
	succeed(t, json.Unmarshal(do(t, d.anyone, "GET", d.Origins.API+"/.well-known/oauth-authorization-server", nil).Body, &server))
	if server.Issuer != d.Origins.API || !slices.Contains(server.CodeChallengeMethods, "S256") || server.RegistrationEndpoint == "" {
		t.Fatalf("the metadata is %+v", server)
	}
	redirect, answers := callback(t)
	var client contract.RegisteredClient
	a := do(t, d.anyone, "POST", server.RegistrationEndpoint, contract.RegisterClient{ClientName: "A <b>client</b>", RedirectURIs: []string{redirect}})
	if succeed(t, json.Unmarshal(a.Body, &client)); a.Status != http.StatusCreated {
		t.Fatalf("registration answers %d %s", a.Status, a.Body)
	}
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {string(client.ClientID)}, "redirect_uri": {redirect}, "state": {"some state"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "scope": {"read openid"},
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
		"grant_type": {"authorization_code"}, "client_id": {string(client.ClientID)}, "code": {back.Get("code")}, "redirect_uri": {redirect},
		"code_verifier": {verifier},
	}
	token := d.token(t, exchange)
	if token.RefreshToken == "" || token.Scope != "read" {
		t.Errorf("the token is for %q", token.Scope)
	}
	who := d.with(token.AccessToken)
	var self contract.MCPWhoami
	answer := do(t, who, "GET", who.At.APIURL+"/v1/mcp/whoami", nil)
	if succeed(t, json.Unmarshal(answer.Body, &self)); answer.Status != http.StatusOK || self.WorkspaceMember.Email != "ada@example.org" {
		t.Errorf("whoami answers %d %s", answer.Status, answer.Body)
	}
	refused(t, do(t, who, "GET", who.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated) // T03
	refused(t, do(t, who, "GET", who.At.APIURL+"/v1/web/workspace", nil), 401, fault.NotAuthenticated)

	newer := d.token(t, url.Values{"grant_type": {"refresh_token"}, "client_id": {string(client.ClientID)}, "refresh_token": {token.RefreshToken}})
	if newer.RefreshToken == token.RefreshToken || newer.AccessToken == token.AccessToken {
		t.Error("refreshing rotates nothing")
	}
	if code := d.oauthError(t, exchange); code != "invalid_grant" { // T33
		t.Errorf("the code a second time answers %s", code)
	}
	who = d.with(newer.AccessToken)
	refused(t, do(t, who, "GET", who.At.APIURL+"/v1/mcp/whoami", nil), 401, fault.NotAuthenticated)
}
