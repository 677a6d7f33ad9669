package identity

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// secretStore are secrets by what they are.
type secretStore map[string]string

// add keeps a secret, and for a credential also its part that no public id stands in.
func (store secretStore) add(t testing.TB, name, secret string) string {
	t.Helper()
	if len(secret) < 8 {
		t.Fatalf("%s is no secret: %q", name, secret)
	}
	if store[name] = secret; strings.HasPrefix(secret, "ap_") {
		const tail = 43 + 6 // secret and checksum
		store[name+", its tail"], store[name+", its secret"] = secret[len(secret)-tail:], secret[len(secret)-tail:len(secret)-6]
	}
	if part := strings.Split(secret, "."); len(part) == 3 {
		store[name+", its payload"], store[name+", its signature"] = part[1], part[2]
	}
	if raw, err := base64.RawURLEncoding.DecodeString(secret); err == nil && len(raw) == 32 {
		store[name+", its bytes"] = string(raw)
	}
	return secret
}

func (store secretStore) token(t testing.TB, name string, got contract.Token) contract.Token {
	t.Helper()
	store.add(t, name+" access token", got.AccessToken)
	if got.RefreshToken != "" {
		store.add(t, name+" refresh token", got.RefreshToken)
	}
	if got.IdentityAssertion != "" {
		store.add(t, name+" assertion", got.IdentityAssertion)
	}
	return got
}

// people signs a person in, after failures on the way.
func (store secretStore) people(t testing.TB, p *harness.BackendEnv) *harness.FakeBrowser {
	t.Helper()
	w := p.NewFakeBrowser()
	for name, how := range map[string]provider.Break{
		"failed":  provider.Fails,
		"babbled": provider.Babbles,
		"":        provider.Works,
	} {
		at := w.BeginSignIn(t, "/device?code=x")
		callback := w.Authenticate(t, at, "ada@example.org")
		q := harness.Must(url.Parse(callback))(t).Query()
		store.add(t, name+" state", q.Get("state"))
		store.add(t, name+" provider's code", q.Get("code"))
		store.add(t, name+" nonce", at.Query().Get("nonce"))
		p.Identity.Break("/token", how)
		w.Get(t, callback)
		p.Identity.Heal()
		w.Get(t, callback) // once more
	}
	if w.Cookies[harness.SessionCookie] == "" { // maps have no order: the honest one may not have been the last
		w.SignIn(t, "/", "ada@example.org")
	}
	for _, value := range w.Given {
		store.add(t, "cookie "+value[:4], value)
	}
	return w
}

// agent registers one, works with it, and has it claimed.
func (store secretStore) agent(t testing.TB, p *harness.BackendEnv, w *harness.FakeBrowser) {
	t.Helper()
	r := p.RegisterAgent(t)
	store.add(t, "pre-claim assertion", r.IdentityAssertion)
	store.add(t, "agent's claim token", r.ClaimToken)
	store.token(t, "pre-claim", p.Token(t, harness.JWTBearer(r.IdentityAssertion)))
	first, second := p.StartClaim(t, r), p.StartClaim(t, r)
	store.add(t, "first attempt", first.AttemptToken)
	store.add(t, "second attempt", second.AttemptToken)
	w.EnterAgentCode(t, w.OpenAgentLink(t, first.Claim.VerificationURI), first.UserCode)
	page := w.OpenAgentLink(t, second.Claim.VerificationURI)
	w.EnterAgentCode(t, page, harness.OtherCode(second.UserCode))
	p.Faults.On("TransactWriteItems").Times(3).Before(chaos.Timeout)
	w.EnterAgentCode(t, page, second.UserCode)
	harness.WantPage(t, "the code", w.EnterAgentCode(t, page, second.UserCode), 200, "The agent is in")
	post := store.token(t, "post-claim", p.Token(t, harness.ClaimGrant(r.ClaimToken)))
	p.OAuthError(t, harness.JWTBearer(r.IdentityAssertion+"x"))
	p.PostForm(t, "/oauth2/revoke", url.Values{"token": {post.AccessToken}}, nil)
}

// apps lets a device and an app in, refreshes and revokes.
func (store secretStore) apps(t testing.TB, p *harness.BackendEnv, w *harness.FakeBrowser) contract.Token {
	t.Helper()
	d := p.StartDevice(t, "a laptop")
	store.add(t, "device code", d.DeviceCode)
	store.add(t, "user code", d.UserCode)
	store.add(t, "user code, plain", strings.ReplaceAll(d.UserCode, "-", ""))
	w.Get(t, strings.TrimPrefix(d.VerificationURIComplete, p.Origins.App))
	w.Post(t, "/device", url.Values{"code": {d.UserCode}})
	w.Post(t, "/device/approve", url.Values{"code": {d.UserCode}})
	cli := store.token(t, "command's", p.Token(t, harness.DeviceGrant("cli", d.DeviceCode)))
	c := registerClient(t, p, "An app")
	store.add(t, "verifier", c.verifier)
	request := c.authorize(t, c.request("read"))
	store.add(t, "consent request", request.Query().Get("req"))
	w.Get(t, request.RequestURI())
	code := store.add(t, "code", c.allowed(t, w, "read").Get("code"))
	app := store.token(t, "app's", p.Token(t, c.exchange(code)))
	app = store.token(t, "app's next", p.Token(t, refreshGrant(c.id, app.RefreshToken)))
	p.Clock.Advance(limits.RefreshGrace + time.Second)
	p.Token(t, refreshGrant(c.id, app.RefreshToken))
	idToken := store.add(
		t, "ID token", harness.Must(p.Identity.Mint(provider.Person{Email: "ada@example.org"}, "", "", provider.Honest))(t),
	)
	exchange := harness.ExchangeGrant("cli", idToken)
	store.token(t, "exchanged", p.Token(t, exchange))
	p.Identity.Break("/jwks", provider.Fails)
	exchange.Set("subject_token", idToken+"x")
	p.PostForm(t, "/oauth2/token", exchange, nil)
	p.Identity.Heal()
	return cli
}

var shownSecret = regexp.MustCompile(`<code id="secret">([^<]+)</code>`)

// keys makes them in every way, and claims a workspace by its link.
func (store secretStore) keys(t testing.TB, p *harness.BackendEnv, w *harness.FakeBrowser, cli contract.Token) {
	t.Helper()
	who, key := p.WithBearer(cli.AccessToken), harness.KeyHeader()
	for range 2 { // the second answer is the stored one
		var made contract.CreatedKey
		a := harness.Do(t, who, "POST", p.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "K"}, key...)
		harness.Decode(t, a, &made)
		if a.Status != http.StatusCreated || store["made key"] != "" && store["made key"] != made.Secret {
			t.Fatalf("making a key answers %d", a.Status)
		}
		store.add(t, "made key", made.Secret)
	}
	shown := shownSecret.FindSubmatch(w.Post(t, "/keys", url.Values{
		"name": {"K"},
		"once": {"page-" + strings.Repeat("x", 26)},
	}).Body)
	if shown == nil {
		t.Fatal("the page shows no key")
	}
	store.add(t, "key of the page", string(shown[1]))
	_, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	store.add(t, "claim token", made.ClaimToken)
	store.add(t, "ephemeral key", made.APIKeySecret)
	fields := url.Values{"claim_token": {made.ClaimToken}, "once": {"page-" + strings.Repeat("y", 26)}}
	w.Post(t, "/claim", fields)
	harness.WantPage(t, "the claim", w.Post(t, "/claim/confirm", fields), 200, "Claimed")
	w.Post(t, "/claim/confirm", fields)
}

// stray sends secrets where they do not belong.
func (store secretStore) stray(t testing.TB, p *harness.BackendEnv, w *harness.FakeBrowser) {
	t.Helper()
	for name, secret := range store {
		if strings.HasSuffix(name, "its bytes") {
			continue
		}
		s := url.QueryEscape(secret)
		w.Get(t, "/claim?claim_token="+s)
		w.Get(t, "/agent-auth/claim?claim_token="+s)
		w.Get(t, "/device?code="+s)
		w.Get(t, "/"+s)
		w.Get(t, "/api/auth/callback?state="+s+"&code="+s)
		p.Get(
			t, p.Origins.API+"/oauth2/authorize?client_id="+s+"&state="+s, "Referer", p.Origins.App+"/claim#"+s, "User-Agent", s,
		)
		p.Get(t, p.Origins.API+"/v1/web/workspace?access_token="+s, "Authorization", "Bearer "+s)
		p.PostForm(t, "/oauth2/token?assertion="+s, url.Values{s: {secret}, "grant_type": {secret}}, nil)
		p.PostForm(t, "/oauth2/revoke", url.Values{"token_type_hint": {secret}}, nil)
	}
}

// TestT52T76NoSecretOfIdentityIsKept runs all flows, and looks for every secret in the tables and in the log.
func TestT52T76NoSecretOfIdentityIsKept(t *testing.T) {
	t.Parallel()
	p, h := harness.NewAgentAuthEnv(t, harness.Unlimited), secretStore{}
	w := h.people(t, p)
	h.agent(t, p, w)
	h.keys(t, p, w, h.apps(t, p, w))
	for _, value := range w.Given {
		h.add(t, "cookie "+value[:8], value)
	}
	if len(h) < 60 {
		t.Errorf("only %d secrets were met", len(h))
	}
	sealed := false
	for _, table := range []string{p.Tables.Core, p.Tables.Events, p.Tables.Hot} {
		for _, item := range p.Scan(t, table) {
			var held strings.Builder
			for name, value := range item {
				held.WriteString(name + "=")
				writeAttribute(&held, value)
			}
			sealed = sealed || strings.Contains(held.String(), `"sealed"`)
			for name, secret := range h {
				if strings.Contains(held.String(), secret) {
					t.Errorf("%s is stored in %s %s", name, harness.Text(item["pk"]), harness.Text(item["sk"]))
				}
			}
		}
	}
	if !sealed {
		t.Error("the scan does not see the record of a key that was made")
	}
	h.stray(t, p, w)
	log := p.Log.String()
	for name, secret := range h {
		for _, s := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
			if at := strings.Index(log, s); at >= 0 {
				t.Errorf("%s is in the log: %.400s", name, log[strings.LastIndex(log[:at], "\n")+1:])
			}
		}
	}
	for _, cookie := range []string{harness.SessionCookie, harness.SignInCookie, harness.AttemptCookie} {
		if strings.Contains(log, cookie) {
			t.Errorf("the log tells of the cookie %s", cookie)
		}
	}
}

// writeAttribute writes every text and every byte of a value, the latter decompressed too.
func writeAttribute(to *strings.Builder, value types.AttributeValue) {
	switch v := value.(type) {
	case *types.AttributeValueMemberL:
		for _, part := range v.Value {
			writeAttribute(to, part)
		}
	case *types.AttributeValueMemberM:
		for name, part := range v.Value {
			to.WriteString(name)
			writeAttribute(to, part)
		}
	default:
		to.WriteString(harness.Inflated(value))
	}
	to.WriteString(" ")
}
