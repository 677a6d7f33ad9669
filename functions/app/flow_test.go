package app

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
)

func TestMembersPagesAskStrangersToSignIn(t *testing.T) {
	h := newHouse().handler()
	for _, path := range rooms {
		r := send(h, "GET", path, "")
		if path == "/claim" {
			if body := text(t, r); r.StatusCode != 200 ||
				!strings.Contains(body, `href="/api/auth/sign-in?returnPathname=%2Fclaim"`) || strings.Contains(body, "<form") {
				t.Errorf("%s: %d\n%s", path, r.StatusCode, body)
			}
			continue
		}
		want := "/api/auth/sign-in?" + url.Values{"returnPathname": {path}}.Encode()
		status := 303
		if strings.HasPrefix(path, "/v/") {
			status = 302 // what programs that look for artifacts expect
		}
		if r.StatusCode != status || r.Header.Get("Location") != want || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d to %q, want %q", path, r.StatusCode, r.Header.Get("Location"), want)
		}
		r = send(h, "GET", path, "", "Accept", "application/json")
		if body := text(t, r); r.StatusCode != 401 || !strings.Contains(body, `"code":"not_authenticated"`) {
			t.Errorf("%s for a program: %d %s", path, r.StatusCode, body)
		}
	}
	for path, fields := range doors {
		r := send(h, "POST", path, fields.Encode(), "Content-Type", formType)
		if path == "/api/auth/sign-out" {
			if r.StatusCode != 303 || r.Header.Get("Location") != "/signed-out" {
				t.Errorf("%s: %d", path, r.StatusCode)
			}
			continue
		}
		if body := text(t, r); r.StatusCode != 401 || !strings.Contains(body, "You are signed out") ||
			!strings.Contains(body, `href="/api/auth/sign-in?returnPathname=`) {
			t.Errorf("%s: %d\n%s", path, r.StatusCode, body)
		}
	}
}

func TestTheFrontPageKnowsMembers(t *testing.T) {
	h := newHouse().handler()
	if r := signedIn(h, "GET", "/", nil); r.StatusCode != 303 || r.Header.Get("Location") != "/dashboard" ||
		r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	r := send(h, "GET", "/", "", "Cookie", sessionCookie+"=c29tZXRoaW5nIGVsc2U")
	if body := text(t, r); r.StatusCode != 200 ||
		!strings.Contains(body, `href="/api/auth/sign-in?returnPathname=%2F"`) || r.Header.Get("Vary") != "Cookie" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

func TestSigningOut(t *testing.T) {
	s := newHouse()
	h := s.handler()
	r := signedIn(h, "POST", "/api/auth/sign-out", nil)
	if c := cookieOf(t, r, sessionCookie); r.StatusCode != 303 || r.Header.Get("Location") != "/signed-out" ||
		c == nil || c.MaxAge != -1 {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	r = signedIn(h, "POST", "/api/auth/sign-out-everywhere", nil)
	if c := cookieOf(t, r, sessionCookie); r.StatusCode != 303 || c == nil || c.MaxAge != -1 {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	if !slices.Equal(s.calls, []string{"End " + secret, "EndAll"}) {
		t.Errorf("calls %v", s.calls)
	}
	if body := text(t, send(h, "GET", "/signed-out", "")); !strings.Contains(body, `href="https://id.example/logout?client_id=web"`) {
		t.Errorf("no way out of the provider:\n%s", body)
	}
	s.fail = fault.NewCode(fault.DatabaseUnavailable)
	if r := signedIn(h, "POST", "/api/auth/sign-out", nil); r.StatusCode != 503 || cookieOf(t, r, sessionCookie) != nil {
		t.Errorf("a session that goes on looks ended: %d %v", r.StatusCode, r.Header)
	}
}

var onceField = regexp.MustCompile(`name="once" value="([^"]+)"`)

// onceOf is the name that a form of a page gives to what it does.
func onceOf(t *testing.T, body string) string {
	t.Helper()
	m := onceField.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no form with a name:\n%s", body)
	}
	return m[1]
}

func TestADoubleClickIsOneCommand(t *testing.T) {
	s := newHouse()
	h := s.handler()
	first := onceOf(t, text(t, signedIn(h, "GET", "/keys", nil)))
	if again := onceOf(t, text(t, signedIn(h, "GET", "/keys", nil))); again == first {
		t.Error("two forms share a name")
	}
	fields := url.Values{"name": {"Build server"}, "once": {first}}
	for range 2 {
		body := text(t, signedIn(h, "POST", "/keys", fields))
		if !strings.Contains(body, "ap_pk_preview_") || !strings.Contains(body, "shown only once") ||
			onceOf(t, body) == first {
			t.Errorf("no secret:\n%s", body)
		}
	}
	if len(s.commands) != 2 || s.commands[0] != s.commands[1] || s.commands[0].Key.Client != first ||
		s.commands[0].Key.Actor != string(memberID) {
		t.Errorf("commands %+v", s.commands)
	}
	signedIn(h, "POST", "/keys", url.Values{"name": {"Another"}, "once": {first}})
	if s.commands[2].Fingerprint == s.commands[0].Fingerprint {
		t.Error("another name is the same command")
	}
	for _, bad := range []string{"", "short", "with space in it", strings.Repeat("x", 300)} {
		for _, path := range []string{"/keys", "/keys/" + keyID + "/revoke", "/claim/confirm"} {
			if r := signedIn(h, "POST", path, url.Values{"name": {"x"}, "claim_token": {claimToken}, "once": {bad}}); r.StatusCode != 400 {
				t.Errorf("%s as %q: %d", path, bad, r.StatusCode)
			}
		}
	}
	if len(s.commands) != 3 {
		t.Errorf("%d commands", len(s.commands))
	}
}

func TestKeysAreMadeAndRevokedWithCare(t *testing.T) {
	s := newHouse()
	h := s.handler()
	r := signedIn(h, "POST", "/keys", url.Values{"name": {"  "}, "once": {"page-0123456789"}})
	if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, "Give it a name") ||
		!strings.Contains(body, `aria-describedby="name-help problem"`) {
		t.Errorf("%d\n%s", r.StatusCode, body)
	}
	body := text(t, signedIn(h, "GET", "/keys/"+keyID+"/revoke", nil))
	if !strings.Contains(body, "Revoke this key?") || !strings.Contains(body, s.title) ||
		!strings.Contains(body, `action="/keys/`+keyID+`/revoke"`) {
		t.Errorf("no question:\n%s", body)
	}
	for _, gone := range []string{"key_01J8Z0T7Q1W2E3R4T5Y6V7X8ZA", "key_unknown", "x"} {
		if r := signedIn(h, "GET", "/keys/"+gone+"/revoke", nil); r.StatusCode != 404 {
			t.Errorf("%s: %d", gone, r.StatusCode)
		}
	}
	r = signedIn(h, "POST", "/keys/"+keyID+"/revoke", url.Values{"once": {onceOf(t, body)}})
	if r.StatusCode != 303 || r.Header.Get("Location") != "/keys" || s.calls[len(s.calls)-1] != "Revoke "+keyID {
		t.Errorf("%d %v", r.StatusCode, s.calls)
	}
	s.fail = fault.New(fault.Forbidden, "this credential lacks the scope admin")
	if r := signedIn(h, "GET", "/keys", nil); r.StatusCode != 403 || !strings.Contains(text(t, r), "You may not do this") {
		t.Errorf("%d", r.StatusCode)
	}
}

func TestConnectionsEndWithAQuestion(t *testing.T) {
	s := newHouse()
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/connections", nil))
	if !strings.Contains(body, agentID) || !strings.Contains(body, s.client) ||
		strings.Contains(body, "An app that was disconnected") {
		t.Errorf("%s", body)
	}
	if strings.Count(body, "<dd>publish, read</dd>") != 1 ||
		strings.Count(body, "<dd>publish, read, manage keys and settings</dd>") != 1 {
		t.Errorf("the rights of apps are wrong:\n%s", body)
	}
	for path, call := range map[string]string{
		"/connections/agents/" + agentID + "/unlink": "Unlink " + agentID, "/connections/apps/" + grantID + "/unlink": "EndGrant " + grantID,
	} {
		if body := text(t, signedIn(h, "GET", path, nil)); !strings.Contains(body, `action="`+path+`"`) {
			t.Errorf("%s asks nothing:\n%s", path, body)
		}
		if r := signedIn(h, "GET", strings.Replace(path, "01", "02", 1), nil); r.StatusCode != 404 {
			t.Errorf("an unknown one: %d", r.StatusCode)
		}
		for _, err := range []error{nil, fault.New(fault.NotFound, "gone already")} {
			s.fail = err
			if r := signedIn(h, "POST", path, nil); r.StatusCode != 303 || r.Header.Get("Location") != "/connections" ||
				s.calls[len(s.calls)-1] != call {
				t.Errorf("%s: %d %v", path, r.StatusCode, s.calls)
			}
			s.fail = nil
		}
	}
}

// falling answers no app.
type falling struct{ apps }

func (falling) Grants(context.Context, credential.Actor, cursor.Page) ([]oauth.Grant, contract.PageInfo, error) {
	panic("the case fell")
}

func TestAPanicBesideAPageEndsTheAnswerAlone(t *testing.T) {
	s := newHouse()
	h, _ := s.host()
	h.Apps = struct {
		falling
		devices
	}{falling{apps{s}}, devices{s}}
	if r := signedIn(h.Handler(), "GET", "/connections", nil); r.StatusCode != 500 ||
		strings.Contains(text(t, r), "the case fell") {
		t.Errorf("%d", r.StatusCode)
	}
}

func TestArtifactsAndTheirPages(t *testing.T) {
	s := newHouse()
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/artifacts?after=here", nil))
	if !strings.Contains(body, `href="/artifacts?after=next%2Bcursor"`) || !strings.Contains(body, ">Newest</a>") ||
		s.calls[0] != "Web here" {
		t.Errorf("calls %v\n%s", s.calls, body)
	}
	if r := signedIn(h, "GET", "/artifacts?after=stale", nil); r.StatusCode != 303 ||
		r.Header.Get("Location") != "/artifacts" {
		t.Errorf("a cursor of yesterday: %d", r.StatusCode)
	}
	r := signedIn(h, "GET", "/artifacts/"+artifactID, nil)
	if body := text(t, r); !strings.Contains(body, `sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"`) || strings.Contains(body, "allow-same-origin") ||
		!strings.HasSuffix(r.Header.Get(policyHeader), "; frame-src http://127.0.0.1:8703") {
		t.Errorf("%v\n%s", r.Header, body)
	}
	if r := signedIn(h, "GET", "/artifacts/art_of_somebody_else", nil); r.StatusCode != 404 {
		t.Errorf("somebody else's: %d", r.StatusCode)
	}
	s.empty = true
	for _, path := range []string{"/dashboard", "/artifacts"} {
		if body := text(t, signedIn(h, "GET", path, nil)); !strings.Contains(body, "vitrine publish ./report") {
			t.Errorf("%s tells nobody how to begin", path)
		}
	}
	if body := text(t, signedIn(h, "GET", "/artifacts?after=here", nil)); !strings.Contains(body, "There are no more.") {
		t.Error("the end of the list is not told")
	}
	for file, framed := range map[string]bool{"a.html": true, "a.png": true, "a.md": true, "a.json": true, "a.csv": false, "a.pdf": false, "a.bin": false, "a.woff": false} {
		if shownByBrowsers(file) != framed {
			t.Errorf("%s framed: %v", file, !framed)
		}
	}
	for file, framed := range map[string]bool{"a.html": true, "a.csv": true, "a.ipynb": true, "a.go": true, "a.pdf": true, "a.bin": false} {
		if shownInFrames(file) != framed {
			t.Errorf("%s framed: %v", file, !framed)
		}
	}
}

func TestEverybodyWhoReadsIsCounted(t *testing.T) {
	for _, room := range rooms {
		if room == "/claim" {
			continue // strangers have it too
		}
		s := newHouse()
		h := s.handler()
		if r := signedIn(h, "GET", room, nil, attemptHeader...); r.StatusCode != 200 ||
			!slices.Equal(s.counted, []string{string(homeID) + " " + string(memberID)}) {
			t.Errorf("%s: %d, counted %v", room, r.StatusCode, s.counted)
		}
		s.tooMany = fault.NewCode(fault.RateLimitedActor).After(61 * time.Second)
		r := signedIn(h, "GET", room, nil, attemptHeader...)
		body := text(t, r)
		if r.StatusCode != 429 || r.Header.Get("Retry-After") != "61" ||
			!strings.Contains(body, "Try again in 61 seconds.") || strings.Contains(body, s.title) ||
			strings.Contains(r.Header.Get(policyHeader), "frame-src") {
			t.Errorf("%s, once too often: %d %v\n%s", room, r.StatusCode, r.Header, body)
		}
	}
}

func TestTheLifeOfArtifactsIsWhatTheWorkspaceChose(t *testing.T) {
	for days, want := range map[int]string{0: "3 days, at most 7 days", 5: "5 days, at most 7 days", 30: "7 days, at most 7 days"} {
		s := newHouse()
		s.days = days
		for _, path := range []string{"/dashboard", "/settings"} {
			if body := text(t, signedIn(s.handler(), "GET", path, nil)); !strings.Contains(body, "<dd>"+want+"</dd>") {
				t.Errorf("%s with %d days chosen:\n%s", path, days, body)
			}
		}
	}
}

func TestAClaimShowsWhatItBringsAndWhere(t *testing.T) {
	s := newHouse()
	h, lines := s.host()
	handler := h.Handler()
	body := text(t, signedIn(handler, "POST", "/claim", url.Values{"claim_token": {" " + claimToken + "\n"}}))
	for _, want := range []string{"Claim 1 artifact?", s.title, s.name, `value="` + claimToken + `"`, `action="/claim/confirm"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the preview lacks %q:\n%s", want, body)
		}
	}
	if !slices.Equal(s.calls, []string{"Look " + claimToken}) {
		t.Errorf("calls %v", s.calls)
	}
	body = text(t, signedIn(handler, "POST", "/claim/confirm", url.Values{"claim_token": {claimToken}, "once": {onceOf(t, body)}}))
	for _, want := range []string{"Claimed", "One artifact is yours now.", "3 days", "100 new artifacts a day", `href="/artifacts/` + artifactID} {
		if !strings.Contains(body, want) {
			t.Errorf("the end lacks %q:\n%s", want, body)
		}
	}
	for path, bad := range map[string]string{"/claim": "ap_ct_wrong", "/claim/confirm": claimToken} {
		if path == "/claim/confirm" {
			s.fail = fault.New(fault.NotFound, "redeemed by somebody")
		}
		r := signedIn(handler, "POST", path, url.Values{"claim_token": {bad}, "once": {"page-0123456789"}})
		if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, badClaim) ||
			strings.Contains(body, "somebody") || strings.Contains(body, bad) {
			t.Errorf("%s: %d\n%s", path, r.StatusCode, body)
		}
	}
	if strings.Contains(lines.String(), "ap_ct_") {
		t.Errorf("the token is in the log: %s", lines)
	}
}

func TestWhatAClaimBroughtIsCountedInWords(t *testing.T) {
	h, _ := newHouse().host()
	for n, want := range map[int]string{0: "The workspace, still empty, is yours now.", 2: "2 artifacts are yours now.", 100: "All artifacts are yours now."} {
		c := contract.Claimed{}
		for range n {
			c.ArtifactIDs = append(c.ArtifactIDs, artifactID)
		}
		if got := h.claimed(browserSession{}, c); got.Points[0] != want {
			t.Errorf("%d: %s", n, got.Points[0])
		}
	}
}

func TestConsentAnswersByAPage(t *testing.T) {
	s := newHouse()
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/oauth/consent?req=abc", nil))
	for _, want := range []string{s.client, "<strong><bdi>client.example</bdi></strong>", "publish new artifacts", s.name, `value="abc"`, "chose this name itself"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "make and revoke") || strings.Contains(body, "program on this computer") {
		t.Error("the page promises or warns too much")
	}
	if strings.Contains(body, "Described at") {
		t.Error("an app that registered itself is described somewhere")
	}
	s.app = "https://Client.example:443/oauth/client.json"
	for _, path := range []string{"/oauth/consent?req=abc", "/connections"} {
		body := text(t, signedIn(h, "GET", path, nil))
		if !strings.Contains(body, "Described at") || !strings.Contains(body, "<bdi>client.example</bdi>") {
			t.Errorf("%s does not say where the app is described", path)
		}
	}
	s.loopback, s.firstParty = true, true
	if body := text(t, signedIn(h, "GET", "/oauth/consent?req=abc", nil)); !strings.Contains(body, "program on this computer") || !strings.Contains(body, "make and revoke") {
		t.Error("no warning for this computer, or too few rights of our own client")
	}
	for _, tt := range []struct{ redirect, refresh, href string }{
		{"https://client.example/cb?code=abc&state=xyz", "https://client.example/cb?code=abc&amp;state=xyz", "https://client.example/cb?code=abc&amp;state=xyz"},
		{"http://127.0.0.1:4711/cb?code=abc", "http://127.0.0.1:4711/cb?code=abc", "http://127.0.0.1:4711/cb?code=abc"},
		{"reading.room://cb?code=abc", "reading.room://cb?code=abc", "reading.room://cb?code=abc"},
		{`reading.room://cb?code="><script>`, "reading.room://cb?code=&#34;&gt;&lt;script&gt;", "reading.room://cb?code=%22%3e%3cscript%3e"},
	} {
		s.redirect = tt.redirect
		r := signedIn(h, "POST", "/oauth/consent/allow", url.Values{"req": {"abc"}})
		body := text(t, r)
		if r.StatusCode != 200 || r.Header.Get("Location") != "" || !strings.Contains(body, `<meta http-equiv="refresh" content="0; url=`+tt.refresh+`">`) || !strings.Contains(body, `href="`+tt.href+`"`) {
			t.Errorf("%s: %d\n%s", tt.redirect, r.StatusCode, body)
		}
	}
	for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "JavaScript:alert(1)", "/relative", "", "https://a b\r\n", "vbscript:x"} {
		s.redirect = bad
		if r := signedIn(h, "POST", "/oauth/consent/deny", url.Values{"req": {"abc"}}); r.StatusCode != 500 ||
			strings.Contains(text(t, r), "refresh") {
			t.Errorf("%q: %d", bad, r.StatusCode)
		}
	}
	s.over = fault.New(fault.NotFound, "answered already")
	for _, r := range []int{
		signedIn(h, "GET", "/oauth/consent?req=abc", nil).StatusCode, signedIn(h, "POST", "/oauth/consent/allow",
			url.Values{"req": {"abc"}}).StatusCode,
	} {
		if r != 400 {
			t.Errorf("a request that is over: %d", r)
		}
	}
}

func TestTheLogNamesTheMemberAndNoSecret(t *testing.T) {
	s := newHouse()
	h, lines := s.host()
	handler := h.Handler()
	for _, path := range rooms {
		signedIn(handler, "GET", path, nil, attemptHeader...)
	}
	for path, fields := range doors {
		signedIn(handler, "POST", path, fields, attemptHeader...)
	}
	send(handler, "GET", "/api/auth/callback?state=the-state&code=the-code", "", "Cookie", signinCookie+"=Ym91bmQ")
	if !strings.Contains(lines.String(), `"member":"`+string(memberID)+`"`) ||
		!strings.Contains(lines.String(), `"workspace":"`+string(homeID)+`"`) {
		t.Error("nobody knows whose requests these were")
	}
	for _, hidden := range []string{secret, claimToken, attemptText, userCode, "the-state", "the-code", s.email, s.name, "123456", "ap_pk_"} {
		if strings.Contains(lines.String(), hidden) {
			t.Errorf("the log shows %q", hidden)
		}
	}
}
