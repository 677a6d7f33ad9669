package app

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/fault"
)

// Refused answers with what is set, or with an app of the house's that is trusted once its member is signed in.
func (s apps) Refused(
	ctx context.Context, by credential.Actor, a oauth.Authorization, _ netip.Addr,
) (oauth.Refused, error) {
	r := s.house.refused
	r.Client = oauth.Client{ID: "oc_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9", Name: s.client}
	r.RedirectHost = "client.example"
	r.Code = fault.OAuthInvalidTarget
	r.Description = "this client can get tokens for https://mcp.example only"
	r.RedirectTo, r.Trusted = s.redirect, r.Trusted && by.Member == memberID
	if a.ClientID == "" {
		return oauth.Refused{}, fault.NewCode(fault.InvalidRequest)
	}
	return r, s.called(ctx, "Refused "+a.ClientID+" "+a.State)
}

// T33
func TestAnErrorOfAnAppIsAPageUntilTheMemberLetsItIn(t *testing.T) {
	s := newHouse()
	s.redirect = "https://client.example/cb?error=invalid_target&state=a%26b"
	h := s.handler()
	const path = "/oauth/error?client_id=x&state=a%26b"
	for _, trusted := range []bool{false, true} {
		s.refused.Trusted = trusted
		for _, member := range []bool{false, true} {
			r := send(h, "GET", path, "")
			if member {
				r = signedIn(h, "GET", path, nil, "Sec-Fetch-Site", "cross-site")
			}
			body := text(t, r)
			if r.Header.Get("Referrer-Policy") != "no-referrer" || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", r.Header)
			}
			if trusted && member {
				if r.StatusCode != 303 || r.Header.Get("Location") != s.redirect {
					t.Errorf("let in: %d to %q", r.StatusCode, r.Header.Get("Location"))
				}
				continue
			}
			if r.StatusCode != 400 || r.Header.Get("Location") != "" || strings.Contains(body, "http-equiv") {
				t.Errorf("member %v: %d %v", member, r.StatusCode, r.Header)
			}
			for _, want := range []string{
				s.client, "<code>invalid_target</code>", "tokens for https://mcp.example only", "does not offer", "<bdi>client.example</bdi>",
				`rel="noreferrer" href="https://client.example/cb?error=invalid_target&amp;state=a%26b"`,
			} {
				if !strings.Contains(body, want) {
					t.Errorf("the page lacks %q:\n%s", want, body)
				}
			}
		}
	}
	if s.calls[0] != "Refused x a&b" {
		t.Errorf("calls %v", s.calls)
	}
	if r := send(h, "GET", "/oauth/error", ""); r.StatusCode != 400 ||
		!strings.Contains(text(t, r), "No app is waiting here") {
		t.Errorf("nothing was refused: %d", r.StatusCode)
	}
	for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "/relative"} {
		s.redirect = bad
		if r := signedIn(h, "GET", path, nil); r.StatusCode != 500 || r.Header.Get("Location") != "" {
			t.Errorf("%q: %d", bad, r.StatusCode)
		}
	}
	s.fail = fault.NewCode(fault.RateLimitedActor)
	if r := send(h, "GET", path, ""); r.StatusCode != 429 {
		t.Errorf("too often: %d", r.StatusCode)
	}
}

func TestAPersonMayFollowTheLinkOfAnError(t *testing.T) {
	in, p := inhabit(t), browser.Open(t)
	in.redirect = strings.Replace(in.appURL, "localhost", "127.0.0.1", 1) + "/robots.txt?error=x"
	p.NoScripts()
	p.Go(in.appURL + "/oauth/error?client_id=x")
	p.Click("main a")
	p.WaitText("User-agent")
	in.mu.Lock()
	defer in.mu.Unlock()
	if want := "GET /robots.txt?error=x "; !slices.Contains(in.targets, want) { // without a referrer
		t.Errorf("the app is told %q", in.targets)
	}
}
