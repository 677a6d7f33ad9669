package doors

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/contract"
)

// door is a way in, or what somebody does who is in.
type door struct {
	name  string
	knock func(t testing.TB, d *deployment, c *caller) wire.Answer
	in    int                               // status for a caller who is let in
	out   func(t testing.TB, a wire.Answer) // checks the refusal; nil: it is the one for a credential that is unknown
}

// pages checks that a page tells a person that they are not let in.
func pages(status int) func(testing.TB, wire.Answer) {
	return func(t testing.TB, a wire.Answer) {
		t.Helper()
		harness.WantPage(t, "a refused person", a, status, "This account may not use this deployment")
		harness.WantPage(t, "a refused person", a, status, `href="`+contact+`"`)
	}
}

// oauth checks a refusal of the registration or token endpoint.
func oauth(code, part string) func(testing.TB, wire.Answer) {
	return func(t testing.TB, a wire.Answer) {
		t.Helper()
		if a.Status != http.StatusBadRequest || harness.ErrorOf(a) != code || !strings.Contains(string(a.Body), part) {
			t.Errorf("answered %d %s, want 400 %s and %q", a.Status, a.Body, code, part)
		}
	}
}

// session is a request of a browser.
func session(method, path string, form url.Values) func(testing.TB, *deployment, *caller) wire.Answer {
	return func(t testing.TB, d *deployment, c *caller) wire.Answer {
		t.Helper()
		if method == http.MethodGet {
			return d.browser(c).Get(t, path)
		}
		return d.browser(c).Post(t, path, form)
	}
}

// bearer is a GET of the api host with a credential.
func bearer(path string, of func(*caller) string) func(testing.TB, *deployment, *caller) wire.Answer {
	return func(t testing.TB, d *deployment, c *caller) wire.Answer {
		t.Helper()
		return harness.Do(t, d.WithBearer(of(c)), "GET", d.Origins.API+path, nil)
	}
}

// refresh replaces the tokens of a grant, and keeps the new ones.
func refresh(
	client func(*caller) string, of func(*caller) *contract.Token,
) func(testing.TB, *deployment, *caller) wire.Answer {
	return func(t testing.TB, d *deployment, c *caller) wire.Answer {
		t.Helper()
		a := d.PostForm(t, "/oauth2/token", url.Values{
			"grant_type":    {contract.GrantRefresh},
			"client_id":     {client(c)},
			"refresh_token": {of(c).RefreshToken},
		}, nil)
		if a.Status == http.StatusOK {
			harness.Decode(t, a, of(c))
		}
		return a
	}
}

// exchange exchanges a new ID token of a person.
func exchange(t testing.TB, d *deployment, c *caller) wire.Answer {
	t.Helper()
	idToken := harness.Must(d.Identity.Mint(c.person(), rand.Text(), "", provider.Honest))(t)
	return d.PostForm(t, "/oauth2/token", harness.ExchangeGrant("cli", idToken), nil)
}

func key(c *caller) string         { return c.key }
func agentKey(c *caller) string    { return c.agentKey }
func memberToken(c *caller) string { return c.cli.AccessToken }
func appToken(c *caller) string    { return c.app.AccessToken }

// doors are what callers of any kind do.
var doors = []door{
	{"a page", session("GET", "/dashboard", nil), 200, pages(401)},
	{"the front page", session("GET", "/", nil), 303, pages(401)},
	{"the page of a claim", session("GET", "/claim", nil), 200, pages(401)},
	{"the page of a deletion", session("GET", "/deletion", nil), 303, pages(401)},
	{"an answer to a device", session("POST", "/device/approve", url.Values{"code": {"BCDFGHJK"}}), 404, pages(401)},
	{"a consent", session("GET", "/oauth/consent?req=unknown", nil), 400, pages(401)},
	{"an answer to an app", session("POST", "/oauth/consent/allow", url.Values{"req": {"unknown"}}), 400, pages(401)},
	{"an answer to an agent", session("POST", "/agent-auth/claim", url.Values{}), 400, pages(401)},
	{"a sign-in", func(t testing.TB, d *deployment, c *caller) wire.Answer {
		_, a := d.signIn(t, c)
		return a
	}, 303, pages(403)},
	{"an exchange of an ID token", exchange, 200, oauth("invalid_request", "ask@corp.example")},
	{"an API key", bearer("/v1/whoami", key), 200, nil},
	{"the key of an agent", bearer("/v1/whoami", agentKey), 200, nil},
	{"an access token", bearer("/v1/web/workspace", memberToken), 200, nil},
	{"where a member is", func(t testing.TB, d *deployment, c *caller) wire.Answer {
		return harness.Do(t, d.WithBearer(c.cli.AccessToken), "POST", d.Origins.API+"/v1/auth/web/callback", nil)
	}, 200, nil},
	{"the token of an app", bearer("/v1/mcp/whoami", appToken), 200, nil},
	{"a tool", func(t testing.TB, d *deployment, c *caller) wire.Answer {
		return harness.Do(t, d.WithBearer(c.app.AccessToken), "POST", d.Origins.MCP+"/",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{}}}`,
			"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	}, 200, nil},
	{"a refresh token", refresh(func(*caller) string { return "cli" }, func(c *caller) *contract.Token { return &c.cli }),
		200, nil},
	{"the refresh token of an app", refresh(func(c *caller) string { return c.client },
		func(c *caller) *contract.Token { return &c.app }), 200, nil},
	{"the assertion of an agent", func(t testing.TB, d *deployment, c *caller) wire.Answer {
		return d.PostForm(t, "/oauth2/token", harness.JWTBearer(c.agent), nil)
	}, 200, oauth("invalid_grant", "")},
	{"a claim", func(t testing.TB, d *deployment, c *caller) wire.Answer {
		_, token := d.provision(t)
		return harness.TryClaim(t, d.WithBearer(c.cli.AccessToken), token)
	}, 200, nil},
}

// withoutID returns the body of an answer without the id of its request.
func withoutID(a wire.Answer) []byte {
	return bytes.ReplaceAll(a.Body, []byte(a.Header.Get("X-Request-Id")), nil)
}

// wantSame checks that two refusals tell nothing apart.
func wantSame(t testing.TB, got, want wire.Answer) {
	t.Helper()
	if got.Status != want.Status || !bytes.Equal(withoutID(got), withoutID(want)) {
		t.Errorf("answered %d %s, and a credential that is unknown %d %s", got.Status, got.Body, want.Status, want.Body)
	}
	for name := range want.Header {
		if name != "X-Request-Id" && name != "Date" && got.Header.Get(name) != want.Header.Get(name) {
			t.Errorf("%s is %q, and for a credential that is unknown %q", name, got.Header.Get(name), want.Header.Get(name))
		}
	}
}

// signIn is a value of the policy's member of that name.
type signIn struct {
	word               string // anybody or operators; empty: the lists count
	domains, addresses []string
}

// MarshalJSON implements json.Marshaler.
func (s signIn) MarshalJSON() ([]byte, error) {
	if s.word != "" {
		return json.Marshal(s.word)
	}
	lists := map[string][]string{}
	if s.domains != nil {
		lists["domains"] = s.domains
	}
	if s.addresses != nil {
		lists["addresses"] = s.addresses
	}
	return json.Marshal(lists)
}

// lets reports whether a person is let in. It is written without a look at the code that decides.
func (s signIn) lets(email string, operator bool) bool {
	switch s.word {
	case "anybody":
		return true
	case "operators":
		return operator
	}
	for _, domain := range s.domains {
		if strings.HasSuffix(strings.ToLower(email), "@"+strings.ToLower(domain)) {
			return true
		}
	}
	for _, address := range s.addresses {
		if strings.EqualFold(address, email) {
			return true
		}
	}
	return false
}

// randomSignIn returns a value of each kind in turn.
func randomSignIn(r *mathrand.Rand, n int, emails []string) (s signIn) {
	some := func(of func(string) string) (out []string) {
		for _, at := range r.Perm(len(emails))[:1+r.IntN(3)] {
			text := of(emails[at])
			if r.IntN(2) == 0 {
				text = strings.ToUpper(text)
			}
			out = append(out, text)
		}
		return out
	}
	domain := func(email string) string { return email[strings.IndexByte(email, '@')+1:] }
	whole := func(email string) string { return email }
	switch n % 5 {
	case 0:
		s.domains = some(domain)
	case 1:
		s.word = "operators"
	case 2:
		s.addresses = some(whole)
	case 3:
		s.word = "anybody"
	default:
		s.domains, s.addresses = some(domain), some(whole)
	}
	return s
}

// TestEveryDoorSaysWhatThePolicySays holds random policies, one after the other on the same data, against what each
// door has to say to each caller.
func TestEveryDoorSaysWhatThePolicySays(t *testing.T) {
	d := newDeployment(t)
	callers := []*caller{
		d.join(t, "bob@corp.example", false),
		d.join(t, "eve@sub.corp.example", false),
		d.join(t, "Ada@elsewhere.example", false),
		d.join(t, "hedy@ops.example", true),
	}
	var emails []string
	for _, c := range callers {
		emails = append(emails, c.email)
	}
	const vouched = "robin@corp.example" // a member that a provider of agents made
	agent := d.Token(t, harness.JWTBearer(d.Vouched(t, d.Identity.First, vouched).IdentityAssertion)).AccessToken
	unclaimed, _ := d.provision(t)
	r := mathrand.New(mathrand.NewPCG(20, 26))
	for n := range 10 {
		s := randomSignIn(r, n, emails)
		d.restart(t, s)
		t.Run(string(harness.Must(json.Marshal(s))(t)), func(t *testing.T) {
			stranger := nobody()
			for _, c := range callers {
				d.knock(t, c, s.lets(c.email, c.operator), stranger)
			}
			d.assertions(t, s, callers, vouched)
			d.newcomers(t, s, n)
			if got, want := d.StatusFor(t, agent, "/v1/whoami") == 200, s.lets(vouched, false); got != want {
				t.Errorf("the key of a vouched agent is let in: %t, want %t", got, want)
			}
			if got := d.StatusFor(t, unclaimed, "/v1/whoami"); got != 200 {
				t.Errorf("the key of a workspace that nobody has claimed answers %d", got)
			}
		})
	}
}

// knock tries all doors as a caller.
func (d *deployment) knock(t *testing.T, c *caller, let bool, stranger *caller) {
	t.Helper()
	for _, door := range doors {
		t.Run(door.name+" for "+c.email, func(t *testing.T) {
			a := door.knock(t, d, c)
			switch {
			case let && a.Status != door.in:
				t.Errorf("answered %d %s, want %d", a.Status, a.Body, door.in)
			case let:
			case door.out != nil:
				door.out(t, a)
			default:
				wantSame(t, a, door.knock(t, d, stranger))
			}
		})
	}
}

// assertions presents what a provider of agents says of members.
func (d *deployment) assertions(t *testing.T, s signIn, callers []*caller, vouched string) {
	t.Helper()
	present := func(email string, in int) {
		t.Helper()
		a := harness.Must(d.Present(harness.Assertion(t, d.Identity.First, email)))(t)
		if !s.lets(email, false) {
			oauth("invalid_grant", "no agent of this person")(t, a)
		} else if a.Status != in {
			t.Errorf("an assertion for %s answers %d %s, want %d", email, a.Status, a.Body, in)
		}
	}
	for _, c := range callers {
		present(c.email, http.StatusUnauthorized) // the member has to agree
	}
	present(vouched, http.StatusOK)
}

// newcomers sends people who are no members to the doors that make them.
func (d *deployment) newcomers(t *testing.T, s signIn, n int) {
	t.Helper()
	stores := dynamo.New(d.DB, d.Tables)
	for _, domain := range []string{"corp.example", "evil.corp.example", "corp.example.evil.example"} {
		for door, enter := range map[string]func(email string) int{
			"signs-in": func(email string) int {
				_, a := d.signIn(t, &caller{email: email})
				return a.Status
			},
			"exchanges": func(email string) int { return exchange(t, d, &caller{email: email}).Status },
			"asserts": func(email string) int {
				return harness.Must(d.Present(harness.Assertion(t, d.Identity.First, email)))(t).Status
			},
		} {
			email := fmt.Sprintf("%s-%d@%s", door, n, domain)
			status := enter(email)
			known := harness.Must(stores.Members.ByAddress(ctx, member.AddressOf(email)))(t)
			if want := s.lets(email, false); (status < 400) != want || (len(known) == 1) != want {
				t.Errorf("%s answers %d and makes %d members, let in: %t", email, status, len(known), want)
			}
		}
	}
}
