package provider

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/shared/platform/contract"
)

// refusedAs is a row of the table of threats, a code and the defects that get it.
type refusedAs struct {
	row, code string
	defects   []idp.Hostile
}

var refusedAssertions = []refusedAs{
	{"T12", "invalid_signature", []idp.Hostile{idp.AlgNone, idp.PublicSigned}},
	{"T12, keys", "invalid_signature", []idp.Hostile{
		idp.UnknownKey, idp.OtherKey, idp.PathKey, idp.LongKey, idp.OwnKey, idp.KeyURL, idp.WrongAlgorithm,
	}},
	{"T13", "invalid_issuer", []idp.Hostile{idp.WrongIssuer, idp.IssuerUserInfo, idp.IssuerUpperCase, idp.IssuerSlash}},
	{"T14", "invalid_audience", []idp.Hostile{idp.WrongAudience, idp.TwoAudiences, idp.NoAudience, idp.WrongResource}},
	{"T16", "invalid_request", []idp.Hostile{
		idp.LongLife, idp.FromFuture, idp.FutureLogin, idp.NotYet, idp.Old, idp.NoLogin, idp.TextTime,
	}},
	{"T16, over", "expired", []idp.Hostile{idp.Expired}},
	{"T16, signed in long ago", "login_required", []idp.Hostile{idp.OldLogin}},
	{"T17", "invalid_request", []idp.Hostile{
		idp.WrongType, idp.NoType, idp.IDTokenType, idp.AccessTokenType, idp.EventType,
	}},
	{"T18", "invalid_issuer", []idp.Hostile{idp.OwnIssuer}},
	{"T19", "invalid_client_id", []idp.Hostile{idp.WrongClient}},
	{"T19, address", "missing_verified_email", []idp.Hostile{idp.Unverified, idp.VerifiedText, idp.NoEmail}},
	{"T36", "invalid_request", []idp.Hostile{idp.WrongScope}},
	{"form", "invalid_request", []idp.Hostile{
		idp.Critical, idp.RepeatedHeader, idp.RepeatedClaim, idp.TooLong, idp.NoClient, idp.NoID, idp.NoSubject,
		idp.Confirmation,
	}},
}

// TestEachHostileAssertionIsRefusedAndChangesNothing sends each of them for a person who is let in, for one who is not
// known, and by both algorithms: the answer is the same.
func TestEachHostileAssertionIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.Vouched(t, p.Identity.First, "ada@example.org")
	before := p.Snapshot(t)
	var tried []idp.Hostile
	for _, c := range refusedAssertions {
		status := http.StatusBadRequest
		if c.code == "login_required" {
			status = http.StatusUnauthorized
		}
		for _, h := range c.defects {
			answers := map[string]string{}
			for _, who := range []string{"ada@example.org", "stranger@example.org"} {
				for _, algorithm := range []string{"ES256", "RS256"} {
					a := p.Present(t, harness.Must(p.Identity.First.Assertion(idp.Assertion{
						Person:    person(who, ""),
						Algorithm: algorithm,
						Hostile:   h,
					}))(t))
					wantError(t, c.row+" "+string(h), a, status, c.code)
					if a.Header.Get("Cache-Control") != "no-store" {
						t.Errorf("%s: Cache-Control is %q", h, a.Header.Get("Cache-Control"))
					}
					answers[string(a.Body)] = who
				}
			}
			if len(answers) != 1 {
				t.Errorf("%s %s is answered in several ways: %v", c.row, h, answers)
			}
			tried = append(tried, h)
		}
	}
	p.WantUnchanged(t, before)
	for _, h := range idp.AssertionDefects() {
		if !slices.Contains(tried, h) {
			t.Errorf("%s is in no row", h)
		}
	}
	p.Vouched(t, p.Identity.First, "ada@example.org")
}

func TestT16APersonWhoSignedInLongAgoIsSentBackToTheProvider(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	a := p.Present(t, harness.Must(p.Identity.First.Assertion(idp.Assertion{
		Person:  person("ada@example.org", ""),
		Hostile: idp.OldLogin,
	}))(t))
	var e contract.LoginRequired
	harness.Decode(t, a, &e)
	want := `AgentAuth error="login_required", max_age="3600"`
	if e.MaxAge != 3600 || e.Description == "" || a.Header.Get("WWW-Authenticate") != want {
		t.Errorf("%+v, challenge %q", e, a.Header.Get("WWW-Authenticate"))
	}
}

// TestT17T18TokensOfAnotherKindAreNoAssertions sends tokens that are good elsewhere.
func TestT17T18TokensOfAnotherKindAreNoAssertions(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	ada := person("ada@example.org", "")
	anonymous := p.RegisterAgent(t)
	vouched := p.Vouched(t, p.Identity.First, "ada@example.org")
	for name, c := range map[string]struct{ token, code string }{
		"an ID token":                 {harness.Must(p.Identity.Mint(ada, "", "ES256", idp.Honest))(t), "invalid_request"},
		"a security event":            {harness.Revocation(t, p.Identity.First, "ada@example.org"), "invalid_request"},
		"our own, anonymous":          {anonymous.IdentityAssertion, "invalid_issuer"},
		"our own, after a provider's": {vouched.IdentityAssertion, "invalid_issuer"},
		"an access token":             {exchanged(t, p.Env, vouched), "invalid_request"},
		"no token":                    {"x", "invalid_request"},
		"three empty parts":           {"..", "invalid_request"},
		"16 KiB of dots":              {strings.Repeat(".", 16<<10), "invalid_request"},
	} {
		wantError(t, name, p.Present(t, c.token), http.StatusBadRequest, c.code)
	}
	wantError(t, "an assertion as event", p.Notify(t, harness.Assertion(t, p.Identity.First, "ada@example.org")),
		http.StatusBadRequest, "invalid_request")
	a := p.PostForm(t, "/oauth2/token", harness.JWTBearer(harness.Assertion(t, p.Identity.First, "ada@example.org")), nil)
	wantError(t, "a provider's assertion at the token endpoint", a, http.StatusBadRequest, "invalid_grant")
}

// TestT19AClientOfAnotherProviderIsNotLetIn lets the second issuer sign for the first one's client.
func TestT19AClientOfAnotherProviderIsNotLetIn(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.Identity.Second.ClientID = p.Identity.First.ClientID
	wantError(t, "the client of another provider",
		p.Present(t, harness.Assertion(t, p.Identity.Second, "ada@example.org")), http.StatusBadRequest, "invalid_client_id")
}

func TestARequestWithoutAnAssertionIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, body := range []contract.RegisterAgent{
		{Type: contract.AssertionIdentity},
		{Type: contract.AssertionIdentity, AssertionType: contract.TypeIDJAG},
		{Type: contract.AssertionIdentity, Assertion: harness.Assertion(t, p.Identity.First, "ada@example.org")},
		{
			Type:          contract.AssertionIdentity,
			AssertionType: contract.TypeIDToken,
			Assertion:     harness.Assertion(t, p.Identity.First, "ada@example.org"),
		},
		{Type: "service_auth"},
	} {
		a := harness.Do(t, p.Anyone, "POST", p.Origins.API+"/agent/identity", body)
		wantError(t, body.Type+" "+body.AssertionType, a, http.StatusBadRequest, "invalid_request")
	}
}
