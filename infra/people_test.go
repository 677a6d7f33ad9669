package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/functions/assembly"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/env"
)

// newProvider serves an identity provider for the app and the api host, and returns the hosts' settings of it.
func newProvider(t *testing.T, app, api string) (p *provider.Provider, told map[string]string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	issuer, folder := "http://"+l.Addr().String(), t.TempDir()
	secret, file, err := provider.Secret(folder)
	if err != nil {
		t.Fatal(err)
	}
	p, err = provider.Open(provider.Options{
		Issuer:   issuer,
		Audience: api,
		Data:     folder,
		Now:      time.Now,
		Client: provider.Client{
			ID:        "vitrine",
			Secret:    secret,
			Callbacks: []string{app + assembly.CallbackPath},
			SignedOut: []string{app + assembly.SignedOutPath},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return p, map[string]string{
		env.OIDCIssuer:       issuer,
		env.OIDCClientID:     "vitrine",
		env.OIDCClientSecret: "file:" + file,
		env.OIDCLogout:       "rp_initiated",
	}
}

// browser is a person's browser at the app host: it keeps cookies, follows redirects and sends
// forms.
type browser struct {
	t       *testing.T
	app     string
	who     string // address of the person; empty: ada@example.org
	groups  string // of the person
	cookies map[string]string
	page    string
}

// browser returns the browser of a person, who has not signed in yet.
func (h *harness) browser(t *testing.T, who string) *browser {
	return &browser{t: t, app: h.anyone.At.AppURL, who: who, cookies: map[string]string{}}
}

// visit opens a page. A path is one of the app host's.
func (b *browser) visit(target string) { b.t.Helper(); b.send("GET", target, nil) }

// submit sends the form of the page for an action, filled in; fields that are hidden are sent as they are.
func (b *browser) submit(action string, fill map[string]string) {
	b.t.Helper()
	form := url.Values{}
	for _, one := range regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`).FindAllStringSubmatch(
		b.page, -1) {
		if one[1] != action && !strings.Contains(one[2], `formaction="`+action+`"`) {
			continue
		}
		for _, field := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(
			one[2], -1) {
			form.Set(field[1], field[2])
		}
		for name, value := range fill {
			form.Set(name, value)
		}
		b.send("POST", action, form)
		return
	}
	b.t.Fatalf("there is no form for %s", action)
}

// twice submits a form two times, like an impatient person.
func (b *browser) twice(action string, fill map[string]string) {
	b.t.Helper()
	page := b.page
	b.submit(action, fill)
	b.page = page
	b.submit(action, fill)
}

// send follows redirects to the end, signs in when a page requires it, and fails the test on any
// error.
func (b *browser) send(method, target string, form url.Values) {
	b.t.Helper()
	for range 10 {
		if strings.HasPrefix(target, "/") {
			target = b.app + target
		}
		r := b.request(method, target, form)
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		response := b.answer(r)
		if response.StatusCode != http.StatusSeeOther && response.StatusCode != http.StatusFound {
			if response.StatusCode != http.StatusOK {
				b.t.Errorf("%s %s: %s", method, strings.SplitN(target, "?", 2)[0], response.Status)
			}
			return
		}
		method = "GET"
		target = response.Header.Get("Location")
		form = nil
		if strings.Contains(target, "/authorize?") && !strings.HasPrefix(target, b.app) {
			target += "&login_hint=" + url.QueryEscape(cmp.Or(b.who, "ada@example.org")) + "&groups=" + b.groups
		}
	}
	b.t.Fatal("the redirects have no end")
}

// request returns what the browser sends, with the cookies of the app host.
func (b *browser) request(method, target string, form url.Values) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if strings.HasPrefix(target, b.app) {
		for name, value := range b.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

func (b *browser) answer(r *http.Request) *http.Response {
	b.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.page = expect.Body(b.t, response)
	for _, c := range response.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return response
}

// ask sends a request to the api and unpacks the answer.
func ask[Out any](t *testing.T, g *wire.Agent, method, path string, body any, headers ...string) (out Out) {
	t.Helper()
	a, err := g.Do(t.Context(), method, g.At.APIURL+path, body, headers...)
	if err == nil && a.Status/100 == 2 && len(a.Body) > 0 {
		err = json.Unmarshal(a.Body, &out)
	}
	if err != nil || a.Status/100 != 2 {
		t.Errorf("%s %s: %d %s %v", method, path, a.Status, a.Body, err)
	}
	return out
}

// token asks the token endpoint.
func token(t *testing.T, g *wire.Agent, form map[string]string) contract.Token {
	t.Helper()
	return ask[contract.Token](t, g, "POST", "/oauth2/token", encoded(form), "Content-Type",
		"application/x-www-form-urlencoded")
}

func encoded(form map[string]string) string {
	values := url.Values{}
	for name, value := range form {
		values.Set(name, value)
	}
	return values.Encode()
}

// abandoned returns the claim token of an unclaimed workspace that has an artifact of two
// revisions.
func (h *harness) abandoned(t *testing.T) string {
	t.Helper()
	made := h.made[0]
	h.made = h.made[1:]
	g := *h.anyone
	g.Key = made.APIKeySecret
	p, err := g.PublishFiles(t.Context(), "Found", "", wire.File{Path: "index.html", Body: []byte("<p>found</p>")})
	if err == nil {
		_, err = g.PublishFiles(t.Context(), "Found", p.ArtifactID,
			wire.File{Path: "index.html", Body: []byte("<p>found again</p>")})
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.ClaimToken
}

// signIn exchanges the ID token of a person for an access token of a client.
func (h *harness) signIn(t *testing.T, client string, who provider.Person) *wire.Agent {
	t.Helper()
	idToken, err := h.provider.Mint(who, "", "", provider.Honest)
	if err != nil {
		t.Fatal(err)
	}
	g := *h.anyone
	g.Key = token(t, &g, map[string]string{
		"grant_type":         contract.GrantExchange,
		"client_id":          client,
		"subject_token":      idToken,
		"subject_token_type": contract.TypeIDToken,
	}).AccessToken
	return &g
}

// member signs in at the api and uses the member routes.
func (h *harness) member(t *testing.T) {
	t.Helper()
	m := h.signIn(t, "cli", provider.Person{Email: "grace@example.org"})
	ask[any](t, m, "POST", "/v1/auth/web/callback", nil)
	ask[any](t, m, "POST", "/v1/ephemeral/claim", contract.ClaimRequest{ClaimToken: h.abandoned(t)}, "Idempotency-Key",
		wire.NewKey())
	key := ask[contract.CreatedKey](t, m, "POST", "/v1/web/keys", contract.CreateKey{Name: "one"}, "Idempotency-Key",
		wire.NewKey())
	g := *h.anyone
	g.Key = key.Secret
	made := h.keeps(t, m, &g)
	h.buys(t, m)
	h.exports(t, m, key.Secret)
	h.gets(t, map[string]*wire.Agent{"ApiKeyBearer": &g, "WorkOsBearer": m}, map[string]string{
		"artifact_id": string(made.ArtifactID), "revision_id": string(made.RevisionID), "path": "index.html",
	})
	ask[any](t, m, "POST", "/v1/web/keys/"+string(key.APIKey.ID)+"/revoke", nil, "Idempotency-Key", wire.NewKey())
	ask[any](t, m, "PATCH", "/v1/web/settings",
		contract.UpdateSettings{WorkspaceName: "Another name", AutoDeletionDays: 1}, "Idempotency-Key", wire.NewKey())
	agent, _ := h.agent(t)
	ask[any](t, m, "POST", "/v1/web/agent-auth/claim/complete",
		contract.CompleteClaim{AttemptToken: agent.AttemptToken, UserCode: agent.UserCode})
	token(t, h.anyone, map[string]string{"grant_type": contract.GrantClaim, "claim_token": agent.ClaimToken})
	ask[any](t, h.anyone, "POST", "/oauth2/revoke", encoded(map[string]string{"token": m.Key}), "Content-Type",
		"application/x-www-form-urlencoded")
}

// agent registers an agent, which gets a token and then asks to be claimed.
func (h *harness) agent(t *testing.T) (contract.StartedClaim, contract.RegisteredAgent) {
	t.Helper()
	r := ask[contract.RegisteredAgent](t, h.anyone, "POST", "/agent/identity",
		contract.RegisterAgent{Type: contract.AnonymousType})
	token(t, h.anyone, map[string]string{"grant_type": contract.GrantJWTBearer, "assertion": r.IdentityAssertion})
	return ask[contract.StartedClaim](t, h.anyone, "POST", "/agent/identity/claim",
		contract.StartClaim{ClaimToken: r.ClaimToken}), r
}

// person signs in at the app host and uses its pages.
func (h *harness) person(t *testing.T) {
	t.Helper()
	b := h.browser(t, "")
	b.visit("/claim")
	b.visit("/api/auth/sign-in")
	b.visit(regexp.MustCompile(`/assets/[^"/]+/vitrine\.css`).FindString(b.page))
	h.installs(t, b)
	b.visit("/settings")
	b.twice("/settings", map[string]string{"name": "A workspace of mine", "days": "2"})
	h.subscribes(b)
	b.visit("/settings")
	b.submit("/settings/export", nil)
	h.publishesFiles(b)
	b.visit("/keys/ended")
	b.visit("/keys")
	b.twice("/keys", map[string]string{"name": "a key"})
	b.visit("/keys")
	revoke := regexp.MustCompile(`/keys/[^"/]+/revoke`).FindString(b.page)
	b.visit(revoke)
	b.twice(revoke, nil)

	b.visit("/claim")
	b.submit("/claim", map[string]string{"claim_token": h.abandoned(t)})
	b.twice("/claim/confirm", nil)
	h.owner(b)
	for _, answer := range []string{"/agent-auth/claim", "/agent-auth/claim/deny"} {
		agent, _ := h.agent(t)
		b.visit(agent.Claim.VerificationURI)
		b.submit(answer, map[string]string{"user_code": agent.UserCode})
	}
	for _, answer := range []string{"/device/deny", "/device/approve"} {
		h.device(b, answer)
	}
	h.client(b)
	b.visit("/connections")
	for _, kind := range []string{"agents", "apps"} {
		b.visit("/connections")
		unlink := regexp.MustCompile(`/connections/` + kind + `/[^"/]+/unlink`).FindString(b.page)
		b.visit(unlink)
		b.submit(unlink, nil)
	}
	b.visit("/settings")
	b.submit("/api/auth/sign-out", nil)
	b.visit("/api/auth/sign-in")
	b.visit("/settings")
	b.send("POST", "/settings/sessions/0123456789abcdef/end", url.Values{})
	b.visit("/settings/sign-out-everywhere")
	b.submit("/api/auth/sign-out-everywhere", nil)
}

// device answers the user code of a command line.
func (h *harness) device(b *browser, answer string) {
	b.t.Helper()
	const kind = "application/x-www-form-urlencoded"
	d := ask[contract.DeviceAuthorization](b.t, h.anyone, "POST", "/oauth2/device_authorization",
		encoded(map[string]string{"client_id": "cli"}), "Content-Type", kind)
	b.visit("/device")
	b.submit("/device", map[string]string{"code": d.UserCode})
	b.submit(answer, nil)
	if answer == "/device/approve" {
		made := token(b.t, h.anyone, map[string]string{
			"grant_type":  contract.GrantDevice,
			"client_id":   "cli",
			"device_code": d.DeviceCode,
		})
		token(b.t, h.anyone, map[string]string{
			"grant_type":    contract.GrantRefresh,
			"client_id":     "cli",
			"refresh_token": made.RefreshToken,
		})
	}
}

// client gives consent to an OAuth client that has registered itself.
func (h *harness) client(b *browser) {
	b.t.Helper()
	const redirect, verifier = "http://127.0.0.1:4711/back", "0123456789012345678901234567890123456789abc"
	c := ask[contract.RegisteredClient](b.t, h.anyone, "POST", "/oauth2/register",
		contract.RegisterClient{RedirectURIs: []string{redirect}, ClientName: "Client"})
	sum := sha256.Sum256([]byte(verifier))
	request := map[string]string{
		"response_type":         "code",
		"client_id":             string(c.ClientID),
		"redirect_uri":          redirect,
		"scope":                 "read publish",
		"state":                 "s",
		"code_challenge_method": "S256",
		"code_challenge":        base64.RawURLEncoding.EncodeToString(sum[:]),
	}
	for _, answer := range []string{"/oauth/consent/deny", "/oauth/consent/allow"} {
		b.visit(h.anyone.At.APIURL + "/oauth2/authorize?" + encoded(request))
		b.submit(answer, nil)
	}
	code := regexp.MustCompile(`[?&](?:amp;)?code=([^"&]+)`).FindStringSubmatch(b.page)
	if code == nil {
		b.t.Fatal("the page does not lead back to the client with a code")
	}
	form := map[string]string{"grant_type": contract.GrantCode, "code": code[1], "code_verifier": verifier}
	maps.Copy(form, map[string]string{"client_id": string(c.ClientID), "redirect_uri": redirect})
	m := *h.anyone
	m.Key = token(b.t, h.anyone, form).AccessToken
	ask[any](b.t, &m, "GET", "/v1/mcp/whoami", nil)
	h.tools(b.t, &m)
	delete(request, "code_challenge")
	b.errs(h.anyone.At.APIURL+"/oauth2/authorize?"+encoded(request), redirect+"?")
}

// errs sends an authorization request with an error and follows the error page back to the app.
func (b *browser) errs(target, back string) {
	b.t.Helper()
	for range 2 {
		target = b.answer(b.request("GET", target, nil)).Header.Get("Location")
	}
	if !strings.HasPrefix(target, back) {
		b.t.Errorf("an app that was let in is not told of its error: %q", target)
	}
}
