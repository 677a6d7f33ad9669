package oidc

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/fault"
)

// newDocumentProvider returns a Provider against an issuer whose document the test writes.
func newDocumentProvider(t testing.TB, change func(d map[string]any, own string)) *Provider {
	t.Helper()
	var document map[string]any
	server := httptest.NewServer(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(document) }))
	t.Cleanup(server.Close)
	document = map[string]any{
		"issuer":                 server.URL,
		"authorization_endpoint": server.URL + "/a",
		"token_endpoint":         server.URL + "/t",
		"jwks_uri":               server.URL + "/k",
	}
	change(document, server.URL)
	p, err := New(Config{
		Issuer:   server.URL,
		ClientID: "x",
		Logout:   RPInitiatedLogout,
		Loopback: true,
		Now:      time.Now,
	})
	expect.OK(t, err)
	return p
}

func TestADocumentIsNotBelievedInEverything(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d map[string]any, own string)
		fine   bool
	}{
		"as it should be":   {func(map[string]any, string) {}, true},
		"another issuer":    {func(d map[string]any, own string) { d["issuer"] = own + "/" }, false},
		"no token endpoint": {func(d map[string]any, _ string) { delete(d, "token_endpoint") }, false},
		"keys without TLS":  {func(d map[string]any, _ string) { d["jwks_uri"] = "http://example.org/k" }, false},
		"a page of a file":  {func(d map[string]any, _ string) { d["authorization_endpoint"] = "file:///etc/passwd" }, false},
		"a script": {func(d map[string]any, _ string) { d["authorization_endpoint"] = "javascript:alert(1)" },
			false},
		"symmetric only": {func(d map[string]any, _ string) {
			d["id_token_signing_alg_values_supported"] = []string{"HS256", "none"}
		}, false},
		"symmetric and other": {func(d map[string]any, _ string) {
			d["id_token_signing_alg_values_supported"] = []string{"HS256", "ES256"}
		}, true},
	} {
		_, err := newDocumentProvider(t, c.change).Begin(t.Context(),
			signin.Transaction{State: "s", Nonce: "n", Verifier: "v"})
		if (err == nil) != c.fine || err != nil && fault.CodeOf(err) != fault.DatabaseUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAProviderWithoutAWayToSignOutHasNone(t *testing.T) {
	for _, end := range []any{nil, "", "javascript:alert(1)", "http://example.org/out"} {
		p := newDocumentProvider(t, func(d map[string]any, _ string) { d["end_session_endpoint"] = end })
		if got := p.SignOut(); got != "" {
			t.Errorf("%v: %s", end, got)
		}
	}
}

func TestSymmetricAlgorithmsAreNeverTaken(t *testing.T) {
	d := document{Algorithms: []string{"none", "HS256", "HS512", "ES256", "RS256"}}
	got := d.signing()
	if len(got) != 2 || got[0] != jose.RS256 || got[1] != jose.ES256 {
		t.Errorf("got %v", got)
	}
}

func TestMaxAge(t *testing.T) {
	expect.Results(t, maxAge, map[string]time.Duration{
		"":                                    0,
		"no-store":                            0,
		"max-age=600":                         600 * time.Second,
		"public, Max-Age=60, must-revalidate": time.Minute,
		"s-maxage=5":                          0,
		"max-age=-1":                          0,
		"max-age=99999999999999":              0,
		"x-max-age=5":                         0,
	})
}
