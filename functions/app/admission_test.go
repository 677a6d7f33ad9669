package app

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/platform/fault"
)

func TestAnAgentIsLetInByItsCode(t *testing.T) {
	s := newServices()
	h := s.handler()
	r := send(h, "GET", agentPath+"?claim_attempt_token="+attemptText, "")
	wantRedirect(t, "a link of an agent", r, agentPath)
	if c := cookieOf(t, r, attemptCookie); c == nil || c.Value != attemptText || c.MaxAge != 600 {
		t.Errorf("cookie %v", c)
	}
	if r := send(h, "GET", agentPath+"?claim_attempt_token=a%3B+Domain%3Devil", ""); cookieOf(t, r, attemptCookie).Value != "" {
		t.Errorf("a made-up token is kept: %v", r.Header)
	}
	r = send(h, "GET", agentPath+"?claim_token="+claimToken, "")
	if to := r.Header.Get("Location"); r.StatusCode != 303 || strings.Contains(to, "ap_ct") || len(r.Cookies()) > 0 {
		t.Errorf("%d %q", r.StatusCode, to)
	} else {
		wantAnswer(t, "the agent's own token", send(h, "GET", to, ""), 400, "Tell the agent to start a claim")
	}
	body := text(t, signedIn(h, "GET", agentPath, nil, attemptHeader...))
	expect.Has(t, "the page", body,
		s.title, "3 artifacts", "and 1 more", "198.51.100.0/24", s.actor.Workspace.Name, "14 March 2026, 11:00 UTC", "publish and read", "until <time datetime=\"2026-03-21T11:00:00Z\"", `name="attempt" value="`+mark(attemptText), `inputmode="numeric"`, `autocomplete="one-time-code"`)
	expect.Lacks(t, "the page", body, attemptText)
	r = signedIn(h, "POST", agentPath, url.Values{"user_code": {"654321"}, "attempt": {mark(attemptText)}},
		attemptHeader...)
	if wantAnswer(t, "a wrong code", r, 400, "not the code"); cookieOf(t, r, attemptCookie) != nil {
		t.Errorf("a wrong code: %v", r.Header)
	}
	r = signedIn(h, "POST", agentPath, forms[agentPath].fields, attemptHeader...)
	wantAnswer(t, "the code", r, 200, "The agent is in")
	if c := cookieOf(t, r, attemptCookie); c == nil || c.MaxAge != -1 {
		t.Errorf("cookie %v", c)
	}
	if last := s.changes[len(s.changes)-1]; last != "Complete 123456 "+attemptText {
		t.Errorf("changed %s", last)
	}
	r = signedIn(h, "POST", agentPath+"/deny", forms[agentPath+"/deny"].fields, attemptHeader...)
	if r.StatusCode != 200 || s.calls[len(s.calls)-1] != "Refuse "+attemptText || cookieOf(t, r, attemptCookie) == nil {
		t.Errorf("%d %v", r.StatusCode, s.calls)
	}
}

func TestAnAnswerIsForTheAgentThatThePageShowed(t *testing.T) {
	other := []string{
		"Cookie", sessionCookie + "=" + secret + "; " + attemptCookie + "=" + strings.ReplaceAll(attemptText, "B", "C"),
	}
	for _, path := range []string{agentPath, agentPath + "/deny"} {
		for name, fields := range map[string]url.Values{
			"the page before": forms[path].fields, "no page of ours": {"user_code": {"123456"}}, "a token": {"user_code": {"123456"}, "attempt": {attemptText}},
		} {
			s := newServices()
			r := signedIn(s.handler(), "POST", path, fields, other...)
			wantAnswer(t, path+" from "+name, r, 409, "nothing was changed", "Let this agent in?")
			if c := cookieOf(t, r, attemptCookie); c != nil {
				t.Errorf("%s from %s: cookie %v", path, name, c)
			}
			wantCalls(t, path+" from "+name, s, "Look "+strings.ReplaceAll(attemptText, "B", "C"))
		}
	}
}

func TestEveryAgentThatCannotBeAnsweredLooksTheSame(t *testing.T) {
	s := newServices()
	h := s.handler()
	none := text(t, signedIn(h, "GET", agentPath, nil, "X-Request-Id", "request-17"))
	over := fault.New(fault.InvalidRequest, "expired, locked or unknown")
	s.agents.PreviewFn = func(*agentauth.Request) error { return over }
	for _, r := range []string{
		text(t, signedIn(h, "GET", agentPath, nil, attemptHeader...)), text(t, signedIn(h, "POST", agentPath, url.Values{"user_code": {"654321"}, "attempt": {mark(attemptText)}}, attemptHeader...)),
	} {
		if r != none || !strings.Contains(r, "No agent is waiting here") {
			t.Errorf("differs:\n%s", r)
		}
	}
	over = fault.New(fault.RateLimitedActor, "too many wrong codes").After(42 * time.Second)
	r := signedIn(h, "GET", agentPath, nil, attemptHeader...)
	wantAnswer(t, "too often", r, 429, "Try again in 42 seconds.")
	wantHeaders(t, "too often", r, "Retry-After", "42")
}

// T33
func TestAnErrorOfAnAppIsAPageUntilTheMemberLetsItIn(t *testing.T) {
	s := newServices()
	s.apps.redirect = "https://client.example/cb?error=invalid_target&state=a%26b"
	h := s.handler()
	const path = "/oauth/error?client_id=x&state=a%26b"
	for _, trusted := range []bool{false, true} {
		s.apps.trusted = trusted
		for _, member := range []bool{false, true} {
			r := send(h, "GET", path, "")
			if member {
				r = signedIn(h, "GET", path, nil, "Sec-Fetch-Site", "cross-site")
			}
			body := text(t, r)
			wantHeaders(t, "the answer", r, "Referrer-Policy", "no-referrer", "Cache-Control", "no-store")
			if trusted && member {
				wantRedirect(t, "let in", r, s.apps.redirect)
				continue
			}
			if r.StatusCode != 400 || r.Header.Get("Location") != "" || strings.Contains(body, "http-equiv") {
				t.Errorf("member %v: %d %v", member, r.StatusCode, r.Header)
			}
			expect.Has(t, "the page", body,
				s.client, "<code>invalid_target</code>", "tokens for https://mcp.example only", "does not offer", "<bdi>client.example</bdi>",
				`rel="noreferrer" href="https://client.example/cb?error=invalid_target&amp;state=a%26b"`,
			)
		}
	}
	if s.calls[0] != "Refused x a&b" {
		t.Errorf("calls %v", s.calls)
	}
	wantAnswer(t, "nothing was refused", send(h, "GET", "/oauth/error", ""), 400, "No app is waiting here")
	for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "/relative"} {
		s.apps.redirect = bad
		if r := signedIn(h, "GET", path, nil); r.StatusCode != 500 || r.Header.Get("Location") != "" {
			t.Errorf("%q: %d", bad, r.StatusCode)
		}
	}
	s.fail = fault.NewCode(fault.RateLimitedActor)
	wantAnswer(t, "too often", send(h, "GET", path, ""), 429)
}

func TestAPersonMayFollowTheLinkOfAnError(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.apps.redirect = strings.Replace(server.appURL, "localhost", "127.0.0.1", 1) + "/robots.txt?error=x"
	p.NoScripts()
	p.Go(server.appURL + "/oauth/error?client_id=x")
	p.Click("main a")
	p.WaitText("User-agent")
	server.mu.Lock()
	defer server.mu.Unlock()
	if want := "GET /robots.txt?error=x "; !slices.Contains(server.targets, want) { // without a referrer
		t.Errorf("the app is told %q", server.targets)
	}
}
