package identity

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// signedOut tells whether the window has no session that holds.
func signedOut(t testing.TB, w *harness.FakeBrowser) bool {
	t.Helper()
	a := w.Get(t, "/dashboard")
	return a.Status == http.StatusSeeOther && strings.HasPrefix(a.Header.Get("Location"), "/api/auth/sign-in?")
}

func TestT38ACallbackWorksOnlyInTheBrowserThatBegan(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	attacker, victim := p.NewFakeBrowser(), p.NewFakeBrowser()
	link := attacker.Authenticate(t, attacker.BeginSignIn(t, "/settings"), "mallory@example.org")
	victim.BeginSignIn(t, "/") // with a sign-in of their own under way
	harness.WantPage(t, "the link of somebody else", victim.Get(t, link), 400, "Signing in did not work")
	if victim.Cookies[harness.SessionCookie] != "" {
		t.Error("a session was given")
	}
	cookie := attacker.Cookies[harness.SignInCookie]
	if a := attacker.Get(t, link); a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/settings" {
		t.Errorf("where it began it answers %d %s", a.Status, a.Body)
	}
	attacker.Cookies[harness.SignInCookie] = cookie // a browser that did not forget it
	harness.WantPage(t, "a second time", attacker.Get(t, link), 400, "Signing in did not work")
}

func TestT40SigningOutEndsTheSessionAndEverywhereAll(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	one, two := p.SignedIn(t, "ada@example.org"), p.SignedIn(t, "ada@example.org")
	token := two.CLIToken(t)
	login := harness.Call[contract.CreatedKey](t, p.WithBearer(token.AccessToken), 201, "POST", "/v1/web/keys",
		contract.CreateKey{Name: "of the login"}, harness.KeyHeader()...).Secret
	end := func(w *harness.FakeBrowser, path string) {
		t.Helper()
		kept := w.Cookies[harness.SessionCookie]
		if a := w.Post(t, path, nil); a.Status != http.StatusSeeOther || w.Cookies[harness.SessionCookie] != "" {
			t.Errorf("%s answers %d and leaves %q", path, a.Status, w.Cookies[harness.SessionCookie])
		}
		w.Cookies[harness.SessionCookie] = kept // a browser that did not forget it
	}
	if end(one, "/api/auth/sign-out"); !signedOut(t, one) || signedOut(t, two) {
		t.Error("the wrong session ended")
	}
	if got := p.StatusFor(t, login, "/v1/whoami"); got != 200 {
		t.Errorf("the key of the login answers %d", got)
	}
	end(p.SignedIn(t, "ada@example.org"), "/api/auth/sign-out-everywhere")
	if !signedOut(t, two) || p.StatusFor(t, login, "/v1/whoami") != 401 ||
		p.StatusFor(t, token.AccessToken, "/v1/web/workspace") != 401 ||
		p.OAuthError(t, refreshGrant("cli", token.RefreshToken)) != "invalid_grant" {
		t.Error("something outlives it")
	}
	p.Clock.Advance(1e6) // a millisecond, and signing in works again
	if signedOut(t, p.SignedIn(t, "ada@example.org")) {
		t.Error("nobody gets in any more")
	}
}
