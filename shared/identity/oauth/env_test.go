package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

var (
	ctx  = context.Background()
	from = netip.MustParseAddr("203.0.113.7")
)

const (
	apiOrigin = "https://api.example.com"
	mcpOrigin = "https://mcp.example.com"
	verifier  = "a-verifier-of-the-client-that-is-long-enough-0123"
	request   = "request-of-a-test"
)

// env is an authorization server on tables of its own, with one member who is signed in.
type env struct {
	*oauth.Server
	tables.Tables
	limits  limits.Limits
	faults  *chaos.Injector
	by      credential.Actor
	clock   *clock.Clock
	secrets []string // every secret that was issued
}

func newEnv(t *testing.T) *env {
	t.Helper()
	faults := chaos.For(t)
	s := &env{
		Tables: tables.New(t, meter.Add, faults.Add),
		faults: faults,
		clock:  clock.New(time.Now().UTC().Truncate(time.Millisecond)),
		limits: limits.Default(),
	}
	rings := keyring.New()
	peppers, err1 := rings.Pepper.Derive("credential")
	chain, err2 := rings.Pepper.Derive("refresh chain")
	cursors, err3 := cursor.New(rings.Seal)
	expect.OK(t, err1, err2, err3)
	s.Server = &oauth.Server{
		GrantStore:  s.Stores.Grants,
		Clients:     s.Stores.Clients,
		Requests:    s.Stores.Consents,
		Codes:       s.Stores.Consents,
		Flows:       s.Stores.Devices,
		Polls:       s.Stores.Devices,
		Keys:        s.Stores.Keys,
		Members:     s.Stores.Members,
		Failures:    s.Stores.Counters,
		Limiter:     &rate.Limiter{Counters: s.Stores.Counters, Limits: &s.limits, Now: s.clock.Now},
		Limits:      &s.limits,
		Peppers:     peppers,
		Chain:       chain,
		Cursors:     cursors,
		Environment: credential.Preview,
		Origins:     address.Origins{API: apiOrigin, MCP: mcpOrigin, App: "https://app.example.com"},
		Now:         s.clock.Now,
	}
	s.by = s.join(t)
	return s
}

// join creates a signed-in member with a workspace. The member has all scopes unless some are given.
func (e *env) join(t testing.TB, scopes ...credential.Scope) credential.Actor {
	t.Helper()
	by := e.Join(t, e.clock.Now(), scopes...)
	by.RequestID = request
	return by
}

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const loopback = "http://127.0.0.1:4711/callback"

// authorization returns a valid authorization request of the CLI.
func authorization() oauth.Authorization {
	return oauth.Authorization{
		ResponseType:    "code",
		ClientID:        "cli",
		RedirectURI:     loopback,
		State:           "st&te",
		Challenge:       challenge(),
		ChallengeMethod: "S256",
		Scope:           "publish read",
	}
}

// consent opens the consent page of an authorization and returns its secret.
func (e *env) consent(t testing.TB, a oauth.Authorization) string {
	t.Helper()
	to, err := e.Authorize(ctx, a)
	expect.OK(t, err)
	u, _ := url.Parse(to)
	req := u.Query().Get("req")
	if !strings.HasPrefix(to, "https://app.example.com/oauth/consent?req=") || len(req) < 22 {
		t.Fatalf("sent to %s", to)
	}
	e.secrets = append(e.secrets, req)
	return req
}

// code runs an authorization that the member allows.
func (e *env) code(t testing.TB, a oauth.Authorization) oauth.TokenRequest {
	t.Helper()
	to, err := e.Allow(ctx, e.by, e.consent(t, a))
	expect.OK(t, err)
	u, _ := url.Parse(to)
	if q := u.Query(); !strings.HasPrefix(to, a.RedirectURI+"?") || q.Get("state") != a.State ||
		q.Get("iss") != apiOrigin || q.Get("error") != "" {
		t.Fatalf("sent to %s", to)
	}
	code := u.Query().Get("code")
	e.secrets = append(e.secrets, code)
	return oauth.TokenRequest{
		GrantType:   contract.GrantCode,
		ClientID:    a.ClientID,
		Code:        code,
		RedirectURI: a.RedirectURI,
		Verifier:    verifier,
	}
}

func (e *env) token(t testing.TB, r oauth.TokenRequest) contract.Token {
	t.Helper()
	out, err := e.Token(ctx, r, from, request)
	expect.OK(t, err)
	if out.TokenType != "Bearer" || out.AccessToken == "" || out.ExpiresIn <= 0 || out.ExpiresIn > 3600 {
		t.Fatalf("%+v, want a bearer token for at most an hour", out)
	}
	e.secrets = append(e.secrets, out.AccessToken, out.RefreshToken)
	return out
}

// Token serves a request as the token endpoint does.
func (e *env) Token(
	ctx context.Context,
	r oauth.TokenRequest,
	from netip.Addr,
	requestID string,
) (contract.Token, error) {
	guest := e.Receive(ctx, from)
	out, err := e.Server.Token(ctx, r, guest, requestID)
	return out, guest.Answer(ctx, err)
}

// signIn gets tokens for a client by an authorization code.
func (e *env) signIn(t testing.TB, a oauth.Authorization) contract.Token {
	t.Helper()
	return e.token(t, e.code(t, a))
}

func refreshing(client string, token contract.Token) oauth.TokenRequest {
	return oauth.TokenRequest{GrantType: contract.GrantRefresh, ClientID: client, RefreshToken: token.RefreshToken}
}

// works reports whether an access token is accepted on the api, or on the MCP host.
func (e *env) works(token, audience string) bool {
	_, err := e.opens(token, audience)
	return err == nil
}

// opens authenticates an access token as the api or the MCP host does.
func (e *env) opens(token, audience string) (access.Authenticated, error) {
	m := &access.Members{
		Store:       e.Stores.Access,
		Peppers:     e.Peppers,
		Limits:      &e.limits,
		Environment: credential.Preview,
		Audience:    audience,
		Delegated:   audience == mcpOrigin,
		Now:         e.clock.Now,
	}
	return m.Authenticate(ctx, token, access.Request{}, request)
}

// wantRefused checks the code of a failure as the token endpoint answers it.
func wantRefused(t testing.TB, what string, err error, want fault.OAuthCode) {
	t.Helper()
	if err == nil || fault.OAuthErrorOf(err).Code != want {
		t.Errorf("%s: %v, not %s", what, err, want)
	}
}

// refuses sends a token request that must fail.
func (e *env) refuses(t testing.TB, what string, r oauth.TokenRequest, want fault.OAuthCode) {
	t.Helper()
	_, err := e.Token(ctx, r, from, request)
	wantRefused(t, what, err, want)
}

// register registers a client and returns its id.
func (e *env) register(t testing.TB, redirect string) string {
	t.Helper()
	c, err := e.Register(ctx, contract.RegisterClient{RedirectURIs: []string{redirect}, ClientName: "Robot"}, from)
	expect.OK(t, err)
	return string(c.ClientID)
}

const elsewhere = "https://robot.example.com/callback"

// robot returns an authorization request of a client that registered itself.
func (e *env) robot(t testing.TB) oauth.Authorization {
	t.Helper()
	a := authorization()
	a.ClientID = e.register(t, elsewhere)
	a.RedirectURI = elsewhere
	a.Resource = mcpOrigin
	return a
}

// checkSecrets searches all tables for issued secrets.
func (e *env) checkSecrets(t testing.TB) {
	t.Helper()
	var text strings.Builder
	for _, table := range []string{e.Names.Core, e.Names.Events, e.Names.Hot} {
		for _, i := range e.Items(t, table) {
			for name, v := range i {
				if s, ok := v.(*types.AttributeValueMemberS); ok {
					fmt.Fprintf(&text, "%s=%s\n", name, s.Value)
				}
				if b, ok := v.(*types.AttributeValueMemberB); ok {
					fmt.Fprintf(&text, "%s=%s %x %s\n", name, b.Value, b.Value, base64.RawURLEncoding.EncodeToString(b.Value))
				}
			}
		}
	}
	if text.Len() == 0 || len(e.secrets) == 0 {
		t.Fatal("nothing to look at")
	}
	for _, secret := range e.secrets {
		part := secret
		if strings.HasPrefix(secret, "ap_") { // the public id may be stored, the 43 characters before the checksum may not
			part = secret[len(secret)-49 : len(secret)-6]
		}
		if part != "" && strings.Contains(text.String(), part) {
			t.Errorf("T52: the tables hold a secret in clear: %.12s…", secret)
		}
	}
}
