package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"vitrine/scripts/testkit/tables"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// agents serves the grants of agents as a test says, and nothing else.
type agents struct {
	AgentRegistrations
	AgentClaims
	grant func(grant, secret string) error
}

func (a agents) Exchange(_ context.Context, e agentauth.Exchange, _ agentauth.Admitted) (contract.Token, error) {
	return contract.Token{AccessToken: e.Assertion + "|" + e.Scope + "|" + e.Resource}, a.grant("jwt-bearer", e.Assertion)
}

func (a agents) Redeem(_ context.Context, claimToken string, _ agentauth.Admitted, _ string) (contract.Token, error) {
	return contract.Token{AccessToken: claimToken}, a.grant("claim", claimToken)
}

// authority is the authorization server of an api host, on tables of its own, with a member who is signed in.
type authority struct {
	*httptest.Server
	host   *Host
	store  dynamo.Stores
	by     credential.Actor
	limits limits.Limits
	log    bytes.Buffer
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	stored, now := tables.New(t), time.Now()
	store := stored.Stores
	a := &authority{store: store, limits: limits.Default()}
	ring := keyring.New().Pepper
	peppers, err1 := ring.Derive("credential")
	chain, err2 := ring.Derive("refresh chain")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	a.host = &Host{
		Surface: &web.Server{Title: "Vitrine API", Log: slog.New(slog.NewJSONHandler(&a.log, nil)), Now: time.Now},
		OAuth: &oauth.Server{
			GrantStore:  store.Grants,
			Clients:     store.Clients,
			Requests:    store.Consents,
			Codes:       store.Consents,
			Flows:       store.Devices,
			Polls:       store.Devices,
			Keys:        store.Keys,
			Members:     store.Members,
			Failures:    store.Counters,
			Limiter:     &rate.Limiter{Counters: store.Counters, Limits: &a.limits, Now: func() time.Time { return now }}, // in one window
			Limits:      &a.limits,
			Peppers:     peppers,
			Chain:       chain,
			Environment: credential.Preview,
			Now:         time.Now,
			Origins:     address.Origins{API: "https://api.example.com", MCP: "https://mcp.example.com", App: "https://app.example.com"},
		},
		Agents: agents{grant: func(string, string) error { return nil }},
	}
	a.Server = httptest.NewServer(a.host.Surface.Handler(a.host.oauthRoutes()...))
	t.Cleanup(a.Close)
	a.by = stored.Join(t, now, credential.Read)
	return a
}

// browser follows no redirect.
var browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

type reply struct {
	*http.Response
	body string
}

func (a *authority) send(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, a.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Content-Type" {
			r.Header.Del(header[i])
		}
		r.Header.Add(header[i], header[i+1])
	}
	res, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res, string(text)}
}

// refuses holds an answer against a status and an OAuth error.
func (r reply) refuses(t *testing.T, what string, status int, code fault.OAuthCode) {
	t.Helper()
	var body contract.OAuthError
	if err := json.Unmarshal([]byte(r.body), &body); err != nil || r.StatusCode != status ||
		body.Error != string(code) || body.Description == "" {
		t.Errorf("%s: %d %s", what, r.StatusCode, r.body)
	}
	if r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%s: %v", what, r.Header)
	}
}

// grants makes the member of the authority allow what a browser is asked.
func (a *authority) grants(t *testing.T, page string) *url.URL {
	t.Helper()
	u, err := url.Parse(page)
	if err != nil || u.Host != "app.example.com" {
		t.Fatal(page, err)
	}
	to, err := a.host.OAuth.Allow(t.Context(), a.by, u.Query().Get("req"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestAClientOfTheOrdinaryLibraryGetsAndRefreshesATokenAndEndsIt(t *testing.T) {
	a := newAuthority(t)
	verifier := oauth2.GenerateVerifier()
	config := oauth2.Config{
		ClientID:    "cli",
		RedirectURL: "http://127.0.0.1:41234/callback",
		Scopes:      []string{"openid", "publish", "read"},
		Endpoint:    oauth2.Endpoint{AuthURL: a.URL + "/oauth2/authorize", TokenURL: a.URL + "/oauth2/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	visit := strings.TrimPrefix(config.AuthCodeURL("state of mine", oauth2.S256ChallengeOption(verifier)), a.URL)
	sent := a.send(t, "GET", visit, "")
	if sent.StatusCode != http.StatusSeeOther || sent.Header.Get("Cache-Control") != "no-store" {
		t.Fatal(sent.Status, sent.body)
	}
	back := a.grants(t, sent.Header.Get("Location"))
	if q := back.Query(); q.Get("state") != "state of mine" || q.Get("iss") != "https://api.example.com" {
		t.Error(back)
	}
	token, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if token.TokenType != "Bearer" || token.Extra("scope") != "read" || time.Until(token.Expiry) < 59*time.Minute {
		t.Errorf("%v", token.Type())
	}
	old := *token
	token.Expiry = time.Now().Add(-time.Minute)
	next, err := config.TokenSource(t.Context(), token).Token()
	if err != nil || next.RefreshToken == old.RefreshToken {
		t.Fatal("not refreshed", err)
	}
	if r := a.send(t, "POST", "/oauth2/revoke", url.Values{"token": {next.RefreshToken}, "token_type_hint": {"x"}}.Encode()); r.StatusCode != 200 || r.body != "" {
		t.Error(r.Status, r.body)
	}
	again := url.Values{"grant_type": {"refresh_token"}, "client_id": {"cli"}, "refresh_token": {next.RefreshToken}}
	a.send(t, "POST", "/oauth2/token", again.Encode()).refuses(t, "revoked", 400, fault.OAuthInvalidGrant)
	for _, secret := range []string{old.AccessToken, old.RefreshToken, next.AccessToken, back.Query().Get("code"), "state of mine"} {
		if strings.Contains(a.log.String(), secret[len(secret)-12:]) {
			t.Error("T76: the log holds a secret")
		}
	}
}

func TestT32WhatCannotBeAnsweredIsAPageWithoutScript(t *testing.T) {
	a := newAuthority(t)
	for name, query := range map[string]string{
		"nothing": "", "unknown client": "client_id=%3Cscript%3E&redirect_uri=http://127.0.0.1/callback", "no redirect": "client_id=cli",
		"a stranger's redirect": "client_id=cli&redirect_uri=https://evil.example/%3Cscript%3E", "script": "client_id=cli&redirect_uri=javascript:alert(1)",
		"two redirects": "client_id=cli&redirect_uri=http://127.0.0.1/callback&redirect_uri=https://evil.example", "not a query": "client_id=cli&%zz",
	} {
		r := a.send(t, "GET", "/oauth2/authorize?"+query, "", "X-Request-Id", "<b>request</b>")
		if r.StatusCode != 400 || r.Header.Get("Location") != "" ||
			r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %v", name, r.StatusCode, r.Header)
		}
		if csp := r.Header.Get("Content-Security-Policy"); csp != "default-src 'none'; frame-ancestors 'none'" ||
			r.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", name, r.Header)
		}
		if strings.Contains(r.body, "script") || strings.Contains(r.body, "<b>") ||
			!strings.Contains(r.body, "&lt;b&gt;request&lt;/b&gt;") || strings.Contains(r.body, "evil") {
			t.Errorf("%s: %s", name, r.body)
		}
	}
	good := "client_id=cli&redirect_uri=http://localhost:5/callback&response_type=code&code_challenge_method=S256&code_challenge=" + strings.Repeat("a", 43)
	for query, want := range map[string]string{
		good + "&resource=https://api.example.com&resource=https://mcp.example.com": "invalid_target", good + "&state=a&state=b": "invalid_request",
		strings.Replace(good, "S256", "plain", 1): "invalid_request", strings.Replace(good, "=code&", "=token&", 1): "unsupported_response_type",
	} {
		to, err := a.send(t, "GET", "/oauth2/authorize?"+query, "").Location()
		if err != nil || to.Host != "localhost:5" || to.Query().Get("error") != want || to.Query().Get("iss") == "" {
			t.Errorf("%s: %v %v", query, to, err)
		}
	}
	a.limits.Authorize.Limit = 1
	for range 2 {
		a.send(t, "GET", "/oauth2/authorize?"+good, "")
	}
	if r := a.send(t, "GET", "/oauth2/authorize?"+good, ""); r.StatusCode != 429 || r.Header.Get("Retry-After") == "" ||
		r.Header.Get("Location") != "" {
		t.Error(r.Status, r.Header)
	}
}

// foreign are redirects with schemes of the system, of programs that act on what they are sent, and of nobody in
// particular.
var foreign = []string{
	"itms-services://?action=download-manifest&url=https://evil.example/x.plist", "smb://evil.example/share", "ldap://evil.example",
	"ssh://evil.example", "telnet://evil.example", "ms-msdt://x", "search-ms://x", "chrome://settings", "slack://x", "myapp://x",
}

func TestT33NoBrowserIsSentToAStrangersAppWithAnError(t *testing.T) {
	a := newAuthority(t)
	a.limits.Registration.Limit = 1000
	register := func(redirect string) (r reply, client string) {
		body, _ := json.Marshal(map[string]any{"redirect_uris": []string{redirect}})
		r = a.send(t, "POST", "/oauth2/register", string(body), "Content-Type", "application/json")
		var made contract.RegisteredClient
		json.Unmarshal([]byte(r.body), &made)
		return r, string(made.ClientID)
	}
	for _, redirect := range []string{"https://evil.example/cb", "http://127.0.0.1:4711/cb", "com.example.app://cb", "cursor://anysphere.mcp/cb"} {
		r, client := register(redirect)
		if r.StatusCode != 201 {
			t.Fatal(redirect, r.Status, r.body)
		}
		query := url.Values{"client_id": {client}, "redirect_uri": {redirect}, "response_type": {"token"}, "state": {"a&b"}}
		to, err := a.send(t, "GET", "/oauth2/authorize?"+query.Encode()+"&more=x", "").Location()
		if err != nil || to.Scheme+"://"+to.Host+to.Path != "https://app.example.com/oauth/error" ||
			to.RawQuery != query.Encode() {
			t.Errorf("%s: sent to %v, %v", redirect, to, err)
		}
	}
	for _, redirect := range foreign {
		r, client := register(redirect)
		if r.StatusCode != 400 || !strings.Contains(r.body, "invalid_redirect_uri") {
			t.Errorf("%s: %d %s", redirect, r.StatusCode, r.body)
		}
		query := url.Values{"client_id": {client}, "redirect_uri": {redirect}, "response_type": {"token"}}
		if r := a.send(t, "GET", "/oauth2/authorize?"+query.Encode(), ""); r.StatusCode != 400 ||
			r.Header.Get("Location") != "" {
			t.Errorf("%s: sent to %q", redirect, r.Header.Get("Location"))
		}
	}
}

func TestT84OtherMethodsFindNothing(t *testing.T) {
	a := newAuthority(t)
	for _, path := range []string{"token", "device_authorization", "revoke", "register"} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			if r := a.send(t, method, "/oauth2/"+path, "", "X-HTTP-Method-Override", "POST"); r.StatusCode != 404 {
				t.Errorf("%s %s: %s", method, path, r.Status)
			}
		}
	}
	if r := a.send(t, "POST", "/oauth2/authorize", ""); r.StatusCode != 404 {
		t.Error(r.Status)
	}
	for _, path := range []string{"token", "register"} {
		r := a.send(t, "OPTIONS", "/oauth2/"+path, "", "Origin", "https://inspector.example",
			"Access-Control-Request-Method", "POST")
		if r.StatusCode != 204 || r.Header.Get("Access-Control-Allow-Origin") != "*" ||
			r.Header.Get("Access-Control-Allow-Methods") != "POST" || r.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %s %v", path, r.Status, r.Header)
		}
	}
}

func TestTheTokenEndpointSendsEachGrantWhereItBelongs(t *testing.T) {
	a := newAuthority(t)
	for body, want := range map[string]string{
		"grant_type=" + url.QueryEscape(contract.GrantJWTBearer) + "&assertion=jwt&scope=read&resource=r": "jwt|read|r",
		"grant_type=" + url.QueryEscape(contract.GrantJWTBearer) + "&identity_assertion=alias":            "alias||",
		"grant_type=" + url.QueryEscape(contract.GrantClaim) + "&claim_token=ct":                          "ct",
		"grant_type=" + url.QueryEscape(contract.GrantClaimAlias) + "&claim_token=ct":                     "ct",
	} {
		var out contract.Token
		if r := a.send(t, "POST", "/oauth2/token", body); r.StatusCode != 200 ||
			json.Unmarshal([]byte(r.body), &out) != nil || out.AccessToken != want {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.body)
		}
	}
	for body, want := range map[string]fault.OAuthCode{
		"": fault.OAuthInvalidRequest, "client_id=cli": fault.OAuthInvalidRequest, "grant_type=password&client_id=cli": fault.OAuthUnsupportedGrant,
		"grant_type=" + url.QueryEscape(contract.GrantExchange) + "&client_id=cli": fault.OAuthUnsupportedGrant,
		"grant_type=authorization_code":                                            fault.OAuthInvalidRequest,
		"grant_type=refresh_token&client_id=cli":                                   fault.OAuthInvalidRequest,
		"grant_type=refresh_token&client_id=cli&refresh_token=x":                   fault.OAuthInvalidGrant,
		"grant_type=refresh_token&client_id=cli&client_secret=x&refresh_token=x":   fault.OAuthInvalidClient,
		"grant_type=refresh_token&grant_type=authorization_code&client_id=cli":     fault.OAuthInvalidRequest,
		// T34: one resource at a time
		"grant_type=refresh_token&client_id=cli&refresh_token=x&resource=a&resource=b":               fault.OAuthInvalidTarget,
		"grant_type=refresh_token&client_id=cli&client_id=cli&refresh_token=x&resource=a&resource=b": fault.OAuthInvalidRequest,
	} {
		a.send(t, "POST", "/oauth2/token", body).refuses(t, body, 400, want)
	}
	a.send(t, "POST", "/oauth2/token?grant_type=refresh_token&client_id=cli", "").refuses(t, "the query is not read", 400, fault.OAuthInvalidRequest)
	a.host.Agents = agents{grant: func(string, string) error { return fault.New(fault.DatabaseUnavailable, "down") }}
	a.send(t, "POST", "/oauth2/token", "grant_type="+url.QueryEscape(contract.GrantClaim)).refuses(t, "down", 503, fault.OAuthServerError)
	a.host.Agents = nil
	a.send(t, "POST", "/oauth2/token", "grant_type="+url.QueryEscape(contract.GrantClaim)).refuses(t, "no agents", 400, fault.OAuthUnsupportedGrant)
}

func TestAnAddressThatFailsOftenIsSlowedDownAtEveryGrant(t *testing.T) {
	a := newAuthority(t)
	a.limits.TokenFailure.Limit = 3
	waiting := fault.NewOAuth(fault.OAuthAuthorizationPending, "wait")
	a.host.Agents = agents{grant: func(grant, _ string) error {
		if grant == "claim" {
			return waiting
		}
		return fault.NewOAuth(fault.OAuthInvalidGrant, "no")
	}}
	bearer := "grant_type=" + url.QueryEscape(contract.GrantJWTBearer) + "&assertion=x"
	claim := "grant_type=" + url.QueryEscape(contract.GrantClaim) + "&claim_token=x"
	a.send(t, "POST", "/oauth2/token", bearer).refuses(t, "first", 400, fault.OAuthInvalidGrant)
	a.send(t, "POST", "/oauth2/token", claim).refuses(t, "waiting does not count", 400, fault.OAuthAuthorizationPending)
	a.send(t, "POST", "/oauth2/token", "client_id=cli&grant_type=refresh_token&refresh_token=x").refuses(t, "second", 400, fault.OAuthInvalidGrant)
	a.send(t, "POST", "/oauth2/token", "").refuses(t, "third", 400, fault.OAuthInvalidRequest)
	r := a.send(t, "POST", "/oauth2/token", bearer)
	r.refuses(t, "fourth", 429, fault.OAuthSlowDown)
	if r.Header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	a.send(t, "POST", "/oauth2/token", claim).refuses(t, "whoever waits has to wait as well", 429, fault.OAuthSlowDown)
}

func TestAPublicClientMayNameItselfInAHeader(t *testing.T) {
	a := newAuthority(t)
	const refresh = "grant_type=refresh_token&refresh_token=x"
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	for header, want := range map[string]fault.OAuthCode{
		basic("cli:"): fault.OAuthInvalidGrant, strings.Replace(basic("cli:"), "Basic", "basic", 1): fault.OAuthInvalidGrant,
		basic("cli:secret"): fault.OAuthInvalidClient, basic(":"): fault.OAuthInvalidClient, "Basic !": fault.OAuthInvalidClient,
		"Bearer x": fault.OAuthInvalidClient, "Basic": fault.OAuthInvalidClient,
	} {
		status, challenge := 400, ""
		if want == fault.OAuthInvalidClient { // RFC 6749, section 5.2
			status, challenge = 401, `Basic realm="vitrine"`
		}
		r := a.send(t, "POST", "/oauth2/token", refresh, "Authorization", header)
		if r.refuses(t, header, status, want); r.Header.Get("WWW-Authenticate") != challenge {
			t.Errorf("%s: WWW-Authenticate is %q", header, r.Header.Get("WWW-Authenticate"))
		}
	}
	a.send(t, "POST", "/oauth2/token", refresh+"&client_id=cli", "Authorization", basic("cli:")).refuses(t, "both agree", 400, fault.OAuthInvalidGrant)
	a.send(t, "POST", "/oauth2/token", refresh+"&client_id=dashboard", "Authorization", basic("cli:")).refuses(t, "they do not agree", 401, fault.OAuthInvalidClient)
	a.send(t, "POST", "/oauth2/token", refresh, "Authorization", basic("cli:"), "Authorization", basic("cli:")).refuses(t, "two headers", 401, fault.OAuthInvalidClient)
}

func TestADeviceGetsACodeAndWaits(t *testing.T) {
	a := newAuthority(t)
	r := a.send(t, "POST", "/oauth2/device_authorization",
		url.Values{"client_id": {"cli"}, "device_name": {"lab"}}.Encode())
	var d contract.DeviceAuthorization
	if err := json.Unmarshal([]byte(r.body), &d); err != nil || r.StatusCode != 200 ||
		!regexp.MustCompile(`^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$`).MatchString(d.UserCode) {
		t.Fatal(r.Status, r.body)
	}
	poll := url.Values{"grant_type": {contract.GrantDevice}, "client_id": {"cli"}, "device_code": {d.DeviceCode}}.Encode()
	a.send(t, "POST", "/oauth2/token", poll).refuses(t, "before the answer", 400, fault.OAuthAuthorizationPending)
	shown, err := a.host.OAuth.Device(t.Context(), a.by, d.UserCode)
	if err != nil || shown.Name != "lab" || !netip.MustParsePrefix(shown.Network).Addr().IsValid() {
		t.Error(shown, err)
	}
	a.send(t, "POST", "/oauth2/device_authorization", "client_id=x").refuses(t, "unknown client", 400, fault.OAuthInvalidClient)
}

func TestAClientRegistersItself(t *testing.T) {
	a := newAuthority(t)
	r := a.send(t, "POST", "/oauth2/register", `{"redirect_uris":["https://claude.ai/api/mcp/auth_callback"],"client_name":"<Claude>","logo_uri":"x","contacts":[1]}`, "Content-Type", "application/json")
	var c contract.RegisteredClient
	if err := json.Unmarshal([]byte(r.body), &c); err != nil || r.StatusCode != 201 || !c.ClientID.Valid() ||
		c.ClientName != "<Claude>" || c.AuthMethod != "none" || strings.Contains(r.body, "logo") {
		t.Fatal(r.Status, r.body)
	}
	if r.Header.Get("Access-Control-Allow-Origin") != "*" ||
		r.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Error(r.Header)
	}
	a.send(t, "POST", "/oauth2/register", `{"redirect_uris":["http://claude.ai/"]}`).refuses(t, "http", 400, fault.OAuthInvalidRedirect)
	a.send(t, "POST", "/oauth2/register", `{"redirect_uris":["https://claude.ai/"],"token_endpoint_auth_method":"private_key_jwt"}`).refuses(t, "key", 400, fault.OAuthInvalidMetadata)
	for _, body := range []string{"", "[]", "null", `{"redirect_uris":"x"}`, `{"redirect_uris":[],"redirect_uris":["https://claude.ai/"]}`} {
		a.send(t, "POST", "/oauth2/register", body).refuses(t, body, 400, fault.OAuthInvalidRequest)
	}
}

func TestRevocationTellsNothing(t *testing.T) {
	a := newAuthority(t)
	for _, body := range []string{"", "token=", "token=x", "token=" + credential.Mint(credential.APIKey, credential.Preview, a.by.Workspace.ID, "").Reveal()} {
		if r := a.send(t, "POST", "/oauth2/revoke", body); r.StatusCode != 200 || r.body != "" {
			t.Errorf("%.20q: %s %s", body, r.Status, r.body)
		}
	}
	a.send(t, "POST", "/oauth2/revoke", "token=x&token=y").refuses(t, "twice", 400, fault.OAuthInvalidRequest)
	a.send(t, "POST", "/oauth2/revoke", "token=x", "Content-Type", "application/json").refuses(t, "no form", 400, fault.OAuthInvalidRequest)
}
