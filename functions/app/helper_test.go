package app

import (
	"net/http"
	"net/url"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/oauth"
)

// TestT107TheHelperIsLetInRightAfterTheCommandLineAlone tries what else could open the page of the helper's question.
func TestT107TheHelperIsLetInRightAfterTheCommandLineAlone(t *testing.T) {
	s := newServices()
	s.apps.redirect = "http://127.0.0.1:4242/callback?code=abc"
	h := s.handler()
	allowed := func(client func(*oauth.Consent) error) *http.Cookie {
		s.apps.ConsentFn = client
		return cookieOf(t, signedIn(h, "POST", "/oauth/consent/allow", url.Values{"req": {"abc"}}), helperCookie)
	}
	if c := allowed(nil); c != nil {
		t.Errorf("letting an app in sets %v", c)
	}
	mark := allowed(ownApp)
	if mark == nil || mark.MaxAge != helperSeconds {
		t.Fatalf("letting the command line in sets %v", mark)
	}
	helper := func(c *oauth.Consent) error {
		c.Client.ID, c.Client.FirstParty, c.Loopback = oauth.Helper, true, true
		return nil
	}
	const ask = "/oauth/consent?req=abc"
	session := sessionCookie + "=" + secret
	for name, tt := range map[string]struct {
		client        func(*oauth.Consent) error
		method        string
		cookies, site string
	}{
		"without the mark":     {helper, "GET", session, "none"},
		"with another mark":    {helper, "GET", session + "; " + helperCookie + "=" + mark.Value[1:] + "0", "none"},
		"a link of a site":     {helper, "GET", session + "; " + helperCookie + "=" + mark.Value, "cross-site"},
		"a page of ours":       {helper, "GET", session + "; " + helperCookie + "=" + mark.Value, "same-site"},
		"no word of the site":  {helper, "GET", session + "; " + helperCookie + "=" + mark.Value, ""},
		"another app":          {nil, "GET", session + "; " + helperCookie + "=" + mark.Value, "none"},
		"the command line":     {ownApp, "GET", session + "; " + helperCookie + "=" + mark.Value, "none"},
		"a look without a GET": {helper, "HEAD", session + "; " + helperCookie + "=" + mark.Value, "none"},
	} {
		s.apps.ConsentFn = tt.client
		r := send(h, tt.method, ask, "", "Cookie", tt.cookies, "Sec-Fetch-Site", tt.site)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d, want the question", name, r.StatusCode)
		}
		expect.Lacks(t, name, r.Header.Get("Location"), "code")
	}
	s.apps.ConsentFn = helper
	r := send(h, "GET", ask, "", "Cookie", session+"; "+helperCookie+"="+mark.Value, "Sec-Fetch-Site", "none")
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != s.apps.redirect {
		t.Errorf("right after the command line: %d to %s", r.StatusCode, r.Header.Get("Location"))
	}
	if c := cookieOf(t, r, helperCookie); c == nil || c.MaxAge >= 0 {
		t.Errorf("the mark stays: %v", c)
	}
}
