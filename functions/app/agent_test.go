package app

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestAnAgentIsLetInByItsCode(t *testing.T) {
	s := newHouse()
	h := s.handler()
	r := send(h, "GET", agentPath+"?claim_attempt_token="+attemptText, "")
	if c := cookieOf(t, r, attemptCookie); r.StatusCode != 303 || r.Header.Get("Location") != agentPath || c == nil ||
		c.Value != attemptText || c.MaxAge != 600 {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if r := send(h, "GET", agentPath+"?claim_attempt_token=a%3B+Domain%3Devil", ""); cookieOf(t, r, attemptCookie).Value != "" {
		t.Errorf("a made-up token is kept: %v", r.Header)
	}
	r = send(h, "GET", agentPath+"?claim_token="+claimToken, "")
	if to := r.Header.Get("Location"); r.StatusCode != 303 || strings.Contains(to, "ap_ct") || len(r.Cookies()) > 0 {
		t.Errorf("%d %q", r.StatusCode, to)
	} else if r := send(h, "GET", to, ""); r.StatusCode != 400 || !strings.Contains(text(t, r), "Tell the agent to start a claim") {
		t.Errorf("%d", r.StatusCode)
	}
	body := text(t, signedIn(h, "GET", agentPath, nil, attemptHeader...))
	for _, want := range []string{s.title, "3 artifacts", "and 1 more", "198.51.100.0/24", s.name, "14 March 2026, 11:00 UTC", "publish and read", "until <time datetime=\"2026-03-21T11:00:00Z\"", `name="attempt" value="` + mark(attemptText), `inputmode="numeric"`, `autocomplete="one-time-code"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, attemptText) {
		t.Error("the token is in the page")
	}
	r = signedIn(h, "POST", agentPath, url.Values{"user_code": {"654321"}, "attempt": {mark(attemptText)}},
		attemptHeader...)
	if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, "not the code") ||
		cookieOf(t, r, attemptCookie) != nil {
		t.Errorf("a wrong code: %d\n%s", r.StatusCode, body)
	}
	r = signedIn(h, "POST", agentPath, doors[agentPath], attemptHeader...)
	if c := cookieOf(t, r, attemptCookie); r.StatusCode != 200 || !strings.Contains(text(t, r), "The agent is in") ||
		c == nil || c.MaxAge != -1 {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if want := (contract.CompleteClaim{AttemptToken: attemptText, UserCode: "123456"}); s.completed != want {
		t.Errorf("completed %+v", s.completed)
	}
	r = signedIn(h, "POST", agentPath+"/deny", doors[agentPath+"/deny"], attemptHeader...)
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
			"the page before": doors[path], "no page of ours": {"user_code": {"123456"}}, "a token": {"user_code": {"123456"}, "attempt": {attemptText}},
		} {
			s := newHouse()
			r := signedIn(s.handler(), "POST", path, fields, other...)
			body := text(t, r)
			if r.StatusCode != 409 || !strings.Contains(body, "nothing was changed") ||
				!strings.Contains(body, "Let this agent in?") || cookieOf(t, r, attemptCookie) != nil {
				t.Errorf("%s from %s: %d\n%s", path, name, r.StatusCode, body)
			}
			if !slices.Equal(s.calls, []string{"Look " + strings.ReplaceAll(attemptText, "B", "C")}) ||
				s.completed.UserCode != "" {
				t.Errorf("%s from %s reached %v", path, name, s.calls)
			}
		}
	}
}

func TestEveryAgentThatCannotBeAnsweredLooksTheSame(t *testing.T) {
	s := newHouse()
	h := s.handler()
	none := text(t, signedIn(h, "GET", agentPath, nil, "X-Request-Id", "request-17"))
	s.over = fault.New(fault.InvalidRequest, "expired, locked or unknown")
	for _, r := range []string{
		text(t, signedIn(h, "GET", agentPath, nil, attemptHeader...)), text(t, signedIn(h, "POST", agentPath, url.Values{"user_code": {"654321"}, "attempt": {mark(attemptText)}}, attemptHeader...)),
	} {
		if r != none || !strings.Contains(r, "No agent is waiting here") {
			t.Errorf("differs:\n%s", r)
		}
	}
	s.over = fault.New(fault.RateLimitedActor, "too many wrong codes").After(42 * time.Second)
	if r := signedIn(h, "GET", agentPath, nil, attemptHeader...); r.StatusCode != 429 ||
		r.Header.Get("Retry-After") != "42" || !strings.Contains(text(t, r), "Try again in 42 seconds.") {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}
