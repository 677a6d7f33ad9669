package app

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func TestMembersPagesAskStrangersToSignIn(t *testing.T) {
	h := newServices().handler()
	for _, path := range memberPages {
		r := send(h, "GET", path, "")
		if path == "/claim" {
			body := wantAnswer(t, path, r, 200, `href="/api/auth/sign-in?returnPathname=%2Fclaim"`)
			expect.Lacks(t, path, body, "<form")
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
		wantAnswer(t, path+" for a program", r, 401, `"code":"not_authenticated"`)
	}
	for path, d := range forms {
		r := send(h, "POST", path, d.fields.Encode(), "Content-Type", formType)
		if path == "/api/auth/sign-out" {
			wantRedirect(t, path, r, "/signed-out")
			continue
		}
		wantAnswer(t, path, r, 401, "You are signed out", `href="/api/auth/sign-in?returnPathname=`)
	}
}

func TestTheFrontPageKnowsMembers(t *testing.T) {
	h := newServices().handler()
	r := signedIn(h, "GET", "/", nil)
	wantRedirect(t, "a member", r, "/dashboard")
	wantHeaders(t, "a member", r, "Cache-Control", "no-store")
	r = send(h, "GET", "/", "", "Cookie", sessionCookie+"=c29tZXRoaW5nIGVsc2U")
	wantAnswer(t, "a stranger", r, 200, `href="/api/auth/sign-in?returnPathname=%2F"`)
	wantHeaders(t, "a stranger", r, "Vary", "Cookie, User-Agent, Accept-Encoding")
}

func TestSigningOut(t *testing.T) {
	s := newServices()
	h := s.handler()
	for _, path := range []string{"/api/auth/sign-out", "/api/auth/sign-out-everywhere"} {
		if c := cookieOf(t, signedIn(h, "POST", path, nil), sessionCookie); c == nil || c.MaxAge != -1 {
			t.Errorf("%s leaves the cookie %v", path, c)
		}
	}
	expect.Has(t, "the page", text(t, send(h, "GET", "/signed-out", "")),
		`href="https://id.example/logout?client_id=web"`)
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

func TestEachFormOfAKeyIsACommandOfItsOwn(t *testing.T) {
	s := newServices()
	h := s.handler()
	first := onceOf(t, text(t, signedIn(h, "GET", "/keys", nil)))
	if again := onceOf(t, text(t, signedIn(h, "GET", "/keys", nil))); again == first {
		t.Error("two forms share a name")
	}
	body := text(t, signedIn(h, "POST", "/keys", url.Values{"name": {"Build server"}, "once": {first}}))
	expect.Has(t, "the secret", body, "ap_pk_preview_", "shown only once")
	if onceOf(t, body) == first {
		t.Error("the next form has the same name")
	}
	signedIn(h, "POST", "/keys", url.Values{"name": {"Another"}, "once": {first}})
	if s.commands[1].Fingerprint == s.commands[0].Fingerprint {
		t.Error("another name is the same command")
	}
}

func TestKeysAreMadeAndRevokedWithCare(t *testing.T) {
	s := newServices()
	h := s.handler()
	r := signedIn(h, "POST", "/keys", url.Values{"name": {"  "}, "once": {formName}})
	wantAnswer(t, "the answer", r, 400, "Give it a name", `aria-describedby="name-help problem"`)
	expect.Has(t, "the question", text(t, signedIn(h, "GET", "/keys/"+keyID+"/revoke", nil)),
		"Revoke this key?", s.title, `action="/keys/`+keyID+`/revoke"`)
	s.fail = fault.New(fault.Forbidden, "this credential lacks the scope admin")
	wantAnswer(t, "the answer", signedIn(h, "GET", "/keys", nil), 403, "You may not do this")
}

func TestConnectionsEndWithAQuestion(t *testing.T) {
	s := newServices()
	h := s.handler()
	body := page(t, "/connections")
	expect.Has(t, "the page", body, agentID, s.client)
	expect.Lacks(t, "the page", body, "An app that was disconnected")
	for _, rights := range []string{"publish, read", "publish, read, manage keys and settings"} {
		if strings.Count(body, "<dd>"+rights+"</dd>") != 1 {
			t.Errorf("not one app may %s:\n%s", rights, body)
		}
	}
	for _, path := range []string{
		"/connections/agents/" + agentID + "/unlink", "/connections/apps/" + grantID + "/unlink",
	} {
		expect.Has(t, "the question", page(t, path), `action="`+path+`"`)
		s.fail = fault.New(fault.NotFound, "gone already")
		wantRedirect(t, "one that is gone", signedIn(h, "POST", path, nil), "/connections")
		s.fail = nil
	}
}

func TestAPanicBesideAPageEndsTheAnswerAlone(t *testing.T) {
	s := newServices()
	s.apps.GrantsFn = func() { panic("the case fell") }
	body := wantAnswer(t, "the answer", signedIn(s.handler(), "GET", "/connections", nil), 500)
	expect.Lacks(t, "the answer", body, "the case fell")
}

func TestArtifactsAndTheirPages(t *testing.T) {
	s := newServices()
	s.more = true
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/artifacts?after=here", nil))
	if !strings.Contains(body, `href="/artifacts?after=next%2Bcursor"`) || !strings.Contains(body, ">Newest</a>") ||
		s.calls[0] != "Web here" {
		t.Errorf("calls %v\n%s", s.calls, body)
	}
	wantRedirect(t, "a cursor of yesterday", signedIn(h, "GET", "/artifacts?after=gone", nil), "/artifacts")
	r := signedIn(h, "GET", "/artifacts/"+artifactID, nil)
	if body := text(t, r); !strings.Contains(body, `sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"`) || strings.Contains(body, "allow-same-origin") ||
		!strings.HasSuffix(r.Header.Get(policyHeader), "; frame-src http://127.0.0.1:8703") {
		t.Errorf("%v\n%s", r.Header, body)
	}
	wantAnswer(t, "somebody else's", signedIn(h, "GET", "/artifacts/art_of_somebody_else", nil), 404)
	for _, path := range []string{"/dashboard", "/artifacts"} {
		expect.Has(t, path, page(t, path, nothing), "vitrine publish ./report")
	}
	expect.Has(t, "the end of the list", page(t, "/artifacts?after=here", nothing), "There are no more.")
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
	for _, path := range everyPage {
		if path == "/claim" {
			continue // strangers have it too
		}
		s := operatorOf(noon)
		h := s.handler()
		wantAnswer(t, path, signedIn(h, "GET", path, nil, attemptHeader...), 200)
		if got := s.limiter.counted; !slices.Equal(got, []string{string(homeID) + " " + string(memberID)}) {
			t.Errorf("%s: counted %v", path, got)
		}
		s.limiter.ActorFn = func() error { return fault.NewCode(fault.RateLimitedActor).After(61 * time.Second) }
		r := signedIn(h, "GET", path, nil, attemptHeader...)
		body := wantAnswer(t, path+" once too often", r, 429, "Try again in 61 seconds.")
		expect.Lacks(t, path+" once too often", body+r.Header.Get(policyHeader), s.title, "frame-src")
		wantHeaders(t, path+" once too often", r, "Retry-After", "61")
	}
}

func TestTheLifeOfArtifactsIsWhatTheWorkspaceChose(t *testing.T) {
	for days, want := range map[int]string{0: "3 days, at most 7 days", 5: "5 days, at most 7 days", 30: "7 days, at most 7 days"} {
		for _, path := range []string{"/dashboard", "/settings"} {
			expect.Has(t, path, page(t, path, func(s *fakeServices) { s.actor.Workspace.AutoDays = days }), "<dd>"+want+"</dd>")
		}
	}
}

func TestAClaimShowsWhatItBringsAndWhere(t *testing.T) {
	s := newServices()
	h, lines := s.host()
	handler := h.Handler()
	body := text(t, signedIn(handler, "POST", "/claim", url.Values{"claim_token": {" " + claimToken + "\n"}}))
	expect.Has(t, "the preview", body,
		"Claim 1 artifact?", s.title, s.actor.Workspace.Name, `value="`+claimToken+`"`, `action="/claim/confirm"`)
	wantCalls(t, "the preview", s, "Look "+claimToken)
	body = text(t, signedIn(handler, "POST", "/claim/confirm", url.Values{"claim_token": {claimToken}, "once": {onceOf(t, body)}}))
	expect.Has(t, "the end", body,
		"Claimed", "One artifact is yours now.",
		"Instead of 1 day, artifacts last 3 days, or up to 7 days if you ask for it.", "100 new artifacts a day", `href="/artifacts/`+artifactID)
	for path, bad := range map[string]string{"/claim": "ap_ct_wrong", "/claim/confirm": claimToken} {
		if path == "/claim/confirm" {
			s.fail = fault.New(fault.NotFound, "redeemed by somebody")
		}
		r := signedIn(handler, "POST", path, url.Values{"claim_token": {bad}, "once": {"page-0123456789"}})
		expect.Lacks(t, path, wantAnswer(t, path, r, 404, badClaim), "somebody", bad)
	}
	expect.Lacks(t, "the log", lines.String(), "ap_ct_")
}

func TestWhatAClaimBroughtIsCountedInWords(t *testing.T) {
	h, _ := newServices().host()
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

func TestAClaimPromisesScriptsWhereTheyRun(t *testing.T) {
	h, _ := newServices().host()
	for scripts, want := range map[limits.Scripts]bool{
		limits.ScriptsOn: true, limits.ScriptsAsk: false, limits.ScriptsOff: false,
	} {
		var v browserSession
		v.Actor.Policy.Scripts = scripts
		points := h.claimed(v, contract.Claimed{}).Points
		if slices.Contains(points, "Scripts inside them run from now on.") != want {
			t.Errorf("where scripts are %s: %q", scripts, points)
		}
	}
}

func TestConsentSaysWhoAsksForWhat(t *testing.T) {
	const ask, here, keys, described = "/oauth/consent?req=abc", "program on this computer", "make and revoke", "Described at"
	body := page(t, ask)
	expect.Has(t, "the page", body, newServices().client, "<strong><bdi>client.example</bdi></strong>",
		"publish new artifacts", newServices().actor.Workspace.Name, `value="abc"`, "chose this name itself")
	expect.Lacks(t, "the page", body, keys, here, described)
	document := func(s *fakeServices) { s.apps.clientID = "https://Client.example:443/oauth/client.json" }
	for _, path := range []string{ask, "/connections"} {
		expect.Has(t, path, page(t, path, document), described, "<bdi>client.example</bdi>")
	}
	own := page(t, ask, func(s *fakeServices) { s.apps.ConsentFn = ownApp })
	expect.Has(t, "our own client on this computer", own, here, keys)
}

func TestConsentAnswersByAPage(t *testing.T) {
	s := newServices()
	h := s.handler()
	const escaped = "https://client.example/cb?code=abc&amp;state=xyz"
	for _, tt := range []struct{ redirect, refresh, href string }{
		{"https://client.example/cb?code=abc&state=xyz", escaped, escaped},
		{"reading.path://cb?code=abc", "reading.path://cb?code=abc", "reading.path://cb?code=abc"},
		{
			`reading.path://cb?code="><script>`,
			"reading.path://cb?code=&#34;&gt;&lt;script&gt;", "reading.path://cb?code=%22%3e%3cscript%3e",
		},
	} {
		s.apps.redirect = tt.redirect
		r := signedIn(h, "POST", "/oauth/consent/allow", url.Values{"req": {"abc"}})
		wantAnswer(t, tt.redirect, r, 200, `<meta http-equiv="refresh" content="0; url=`+tt.refresh+`">`,
			`href="`+tt.href+`"`)
		wantHeaders(t, tt.redirect, r, "Location", "")
	}
	for _, bad := range []string{"javascript:alert(1)", "data:text/html,x", "JavaScript:alert(1)", "/relative", "", "https://a b\r\n", "vbscript:x"} {
		s.apps.redirect = bad
		r := signedIn(h, "POST", "/oauth/consent/deny", url.Values{"req": {"abc"}})
		expect.Lacks(t, bad, wantAnswer(t, bad, r, 500), "refresh")
	}
	s.apps.ConsentFn = func(*oauth.Consent) error { return fault.New(fault.NotFound, "answered already") }
	wantAnswer(t, "a request that is over", signedIn(h, "GET", "/oauth/consent?req=abc", nil), 400)
	r := signedIn(h, "POST", "/oauth/consent/allow", url.Values{"req": {"abc"}})
	wantAnswer(t, "an answer that is too late", r, 400)
}

func TestTheLogNamesTheMemberAndNoSecret(t *testing.T) {
	s := newServices()
	h, lines := s.host()
	handler := h.Handler()
	for _, path := range memberPages {
		signedIn(handler, "GET", path, nil, attemptHeader...)
	}
	for path, d := range forms {
		signedIn(handler, "POST", path, d.fields, attemptHeader...)
	}
	send(handler, "GET", "/api/auth/callback?state=the-state&code=the-code", "", "Cookie", signinCookie+"=Ym91bmQ")
	expect.Has(t, "the log", lines.String(),
		`"member":"`+string(memberID)+`"`, `"workspace":"`+string(homeID)+`"`)
	expect.Lacks(t, "the log", lines.String(),
		secret, claimToken, attemptText, userCode, "the-state", "the-code", s.email, s.actor.Workspace.Name, "123456", "ap_pk_")
}
