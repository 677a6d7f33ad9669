package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// refreshGrant is the token request of a client with a refresh token.
func refreshGrant(client, token string) url.Values {
	return url.Values{"grant_type": {contract.GrantRefresh}, "client_id": {client}, "refresh_token": {token}}
}

// client is an app that registered itself.
type client struct {
	*harness.BackendEnv
	id, redirect, verifier string
}

// registerClient registers an app.
func registerClient(t testing.TB, p *harness.BackendEnv, name string) client {
	t.Helper()
	c := client{p, "", "https://robot.example.com/callback", rand.Text() + rand.Text()}
	var made contract.RegisteredClient
	a := harness.Do(t, p.Anyone, "POST", p.Origins.API+"/oauth2/register", contract.RegisterClient{
		ClientName:   name,
		RedirectURIs: []string{c.redirect},
	})
	if harness.Decode(t, a, &made); a.Status != http.StatusCreated {
		t.Fatalf("registering answers %d %s", a.Status, a.Body)
	}
	c.id = string(made.ClientID)
	return c
}

// request is what the app sends a browser away with.
func (c client) request(scope string) url.Values {
	sum := sha256.Sum256([]byte(c.verifier))
	return url.Values{
		"response_type":  {"code"},
		"client_id":      {c.id},
		"redirect_uri":   {c.redirect},
		"state":          {"the state"},
		"scope":          {scope},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

// authorize answers where the authorization endpoint sends the browser.
func (c client) authorize(t testing.TB, q url.Values) *url.URL {
	t.Helper()
	a := harness.Do(t, c.Anyone, "GET", c.Origins.API+"/oauth2/authorize?"+q.Encode(), nil)
	if a.Status != http.StatusSeeOther {
		t.Fatalf("the authorization endpoint answers %d %s", a.Status, a.Body)
	}
	return harness.Must(url.Parse(a.Header.Get("Location")))(t)
}

// allowed returns the parameters that come back to the app after the person has consented.
func (c client) allowed(t testing.TB, w *harness.FakeBrowser, scope string) url.Values {
	t.Helper()
	at := c.authorize(t, c.request(scope))
	back := w.AllowApp(t, at.Query().Get("req"))
	if !strings.HasPrefix(back.String(), c.redirect+"?") {
		t.Fatalf("the answer goes to %s", back.Host)
	}
	return back.Query()
}

// exchange is the request for the token of a code.
func (c client) exchange(code string) url.Values {
	return url.Values{
		"grant_type":    {contract.GrantCode},
		"client_id":     {c.id},
		"redirect_uri":  {c.redirect},
		"code":          {code},
		"code_verifier": {c.verifier},
	}
}
