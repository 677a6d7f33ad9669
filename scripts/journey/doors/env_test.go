package doors

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/port"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

const contact = "mailto:ask@corp.example"

// deployment is one that a test starts again and again on the same data, with another policy each time.
type deployment struct {
	*harness.BackendEnv
	base         int
	tables, data string
}

// newDeployment starts a deployment that lets anybody in.
func newDeployment(t testing.TB) *deployment {
	t.Helper()
	d := &deployment{base: port.Base(t), data: t.TempDir(), tables: "doors-" + string(id.NewPublic())}
	d.start(t, "anybody")
	return d
}

// start starts the deployment with a value of sign_in.
func (d *deployment) start(t testing.TB, signIn any) {
	t.Helper()
	text := harness.Must(json.Marshal(map[string]any{
		"sign_in": signIn,
		"brand":   map[string]any{"contact": contact},
	}))(t)
	file := filepath.Join(d.data, "policy.json")
	harness.NoError(t, os.WriteFile(file, text, 0o600))
	d.BackendEnv = harness.NewAgentAuthEnv(t, harness.Unlimited, func(o *stack.Options) {
		o.BasePort = d.base
		o.Data = d.data
		o.Tables = d.tables
		o.PolicyFile = file
	})
}

// restart changes the value of sign_in.
func (d *deployment) restart(t testing.TB, signIn any) {
	t.Helper()
	d.Anyone.HTTP.CloseIdleConnections()
	harness.NoError(t, d.Close(ctx))
	d.start(t, signIn)
}

// caller is a person with a credential of every kind.
type caller struct {
	email    string
	operator bool

	cookies  map[string]string
	cli, app contract.Token
	client   string // of app
	key      string // made by the member
	agent    string // the identity assertion of an agent that the member claimed
	agentKey string
}

func (c *caller) person() provider.Person {
	p := provider.Person{Email: c.email}
	if c.operator {
		p.Groups = []string{"operators"}
	}
	return p
}

// browser is a browser with the session of a caller.
func (d *deployment) browser(c *caller) *harness.FakeBrowser {
	b := d.NewFakeBrowser()
	b.Cookies = c.cookies
	return b
}

// signIn signs a person in with a browser of its own.
func (d *deployment) signIn(t testing.TB, c *caller) (*harness.FakeBrowser, wire.Answer) {
	t.Helper()
	b := d.NewFakeBrowser()
	at := b.BeginSignIn(t, "/dashboard")
	q := at.Query()
	if c.operator {
		q.Set("groups", "operators")
	}
	at.RawQuery = q.Encode()
	return b, b.Get(t, b.Authenticate(t, at, c.email))
}

// join makes a member of a person and lets the member make a credential of every kind.
func (d *deployment) join(t testing.TB, email string, operator bool) *caller {
	t.Helper()
	c := &caller{email: email, operator: operator}
	b, a := d.signIn(t, c)
	if c.cookies = b.Cookies; a.Status != http.StatusSeeOther {
		t.Fatalf("%s signs in: %d %s", email, a.Status, a.Body)
	}
	c.cli = b.CLIToken(t)
	who := &harness.Member{Agent: d.WithBearer(c.cli.AccessToken)}
	c.key = harness.CreatedKey(t, harness.TryCreateKey(t, who, "a key", wire.NewKey())).Secret
	c.client, c.app = d.connect(t, b)
	redeemed := d.Token(t, d.claimedAgent(t, b))
	c.agent, c.agentKey = redeemed.IdentityAssertion, redeemed.AccessToken
	return c
}

// claimedAgent lets a member claim an agent that has not fetched its token yet, and returns the request for it.
func (d *deployment) claimedAgent(t testing.TB, b *harness.FakeBrowser) url.Values {
	t.Helper()
	r := d.RegisterAgent(t)
	started := d.StartClaim(t, r)
	page := b.OpenAgentLink(t, started.Claim.VerificationURI)
	harness.WantPage(t, "the code", b.EnterAgentCode(t, page, started.Claim.UserCode), 200, "The agent is in")
	return harness.ClaimGrant(r.ClaimToken)
}

// connect lets an app of the MCP host in.
func (d *deployment) connect(t testing.TB, b *harness.FakeBrowser) (client string, token contract.Token) {
	t.Helper()
	code := d.code(t, b)
	return code.Get("client_id"), d.Token(t, code)
}

// code lets an app in that has not fetched its token yet, and returns the request for it.
func (d *deployment) code(t testing.TB, b *harness.FakeBrowser) url.Values {
	t.Helper()
	const redirect = "https://robot.example.com/callback"
	var made contract.RegisteredClient
	harness.Decode(t, harness.Do(t, d.Anyone, "POST", d.Origins.API+"/oauth2/register",
		contract.RegisterClient{ClientName: "An app", RedirectURIs: []string{redirect}}), &made)
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	a := harness.Do(t, d.Anyone, "GET", d.Origins.API+"/oauth2/authorize?"+url.Values{
		"response_type":         {"code"},
		"client_id":             {string(made.ClientID)},
		"redirect_uri":          {redirect},
		"resource":              {d.Origins.MCP},
		"scope":                 {"read publish"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"},
	}.Encode(), nil)
	at := harness.Must(url.Parse(a.Header.Get("Location")))(t)
	return url.Values{
		"grant_type":    {contract.GrantCode},
		"client_id":     {string(made.ClientID)},
		"redirect_uri":  {redirect},
		"code":          {b.AllowApp(t, at.Query().Get("req")).Query().Get("code")},
		"code_verifier": {verifier},
	}
}

// nobody returns a caller whose credentials are of the right form and unknown.
func nobody() *caller {
	unknown := func(kind credential.Kind) string {
		secret := credential.Mint(kind, credential.Preview, id.NewWorkspace(), "")
		return secret.Reveal()
	}
	tokens := contract.Token{
		AccessToken:  unknown(credential.AccessToken),
		RefreshToken: unknown(credential.RefreshToken),
	}
	return &caller{
		email:    "nobody@nowhere.example",
		key:      unknown(credential.APIKey),
		agentKey: unknown(credential.APIKey),
		cli:      tokens,
		app:      tokens,
		client:   "cli",
	}
}

// provision makes a workspace that nobody has claimed, and returns its key and its claim token.
func (d *deployment) provision(t testing.TB) (key, claimToken string) {
	t.Helper()
	g, made, err := d.Anyone.Provision(ctx)
	harness.NoError(t, err)
	return g.Key, made.ClaimToken
}
