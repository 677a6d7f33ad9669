package app

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func TestSigningInGoesToTheProviderAndComesBack(t *testing.T) {
	s := newServices()
	h := s.handler()
	r := send(h, "GET", "/api/auth/sign-in?returnPathname=%2Fdevice%3Fcode%3DBCDF-GHJK", "")
	wantRedirect(t, "the sign-in", r, "https://id.example/authorize?state=s")
	wantHeaders(t, "the sign-in", r, "Cache-Control", "no-store")
	if c := cookieOf(t, r, signinCookie); c == nil || c.Value != "Ym91bmQ" || c.MaxAge != 600 {
		t.Errorf("cookie %v", c)
	}
	if s.signIns.begun[0].Path != "/device?code=BCDF-GHJK" {
		t.Errorf("returns to %+v", s.signIns.begun)
	}
	r = send(h, "GET", "/api/auth/callback?state=s&code=c&iss=https%3A%2F%2Fid.example", "", "Cookie",
		signinCookie+"=Ym91bmQ")
	wantRedirect(t, "the callback", r, "/keys")
	wantHeaders(t, "the callback", r, "Referrer-Policy", "no-referrer")
	if c := cookieOf(t, r, sessionCookie); c == nil || c.Value != s.signIns.finished.Session || c.MaxAge != 604800 {
		t.Errorf("session cookie %v", c)
	}
	if c := cookieOf(t, r, signinCookie); c == nil || c.MaxAge != -1 {
		t.Errorf("sign-in cookie %v", c)
	}
	if want := (signin.Callback{
		State:  "s",
		Code:   "c",
		Issuer: "https://id.example",
		Cookie: "Ym91bmQ",
	}); s.signIns.callback != want {
		t.Errorf("finished %+v, want %+v", s.signIns.callback, want)
	}
}

func TestT39ReturnPathsStayOnTheHost(t *testing.T) {
	s := newServices()
	h := s.handler()
	hostile := []string{
		"//evil", `/\evil`, "https:evil", "https://evil.example/", "/%0d%0aSet-Cookie", "/..//evil", "/\r\nSet-Cookie: a=b",
		"", "evil", "/a\x00b", "/api/auth/sign-out",
	}
	for _, path := range hostile {
		wantAnswer(t, path, send(h, "GET", "/api/auth/sign-in?"+url.Values{"returnPathname": {path}}.Encode(), ""), 303)
	}
	if begun := s.signIns.begun; len(begun) != len(hostile) ||
		slices.ContainsFunc(begun, func(to signin.Destination) bool { return to.Path != "/" }) {
		t.Errorf("returns to %+v", begun)
	}
}

func TestT40APresetCookieIsNeverAdopted(t *testing.T) {
	s := newServices()
	h := s.handler()
	for name, preset := range map[string]string{
		"unknown": sessionCookie + "=cHJlc2V0", "twice": sessionCookie + "=" + secret + "; " + sessionCookie + "=cHJlc2V0",
		"empty": sessionCookie + "=", "other name": "session=" + secret,
	} {
		r := send(h, "GET", "/keys", "", "Cookie", preset)
		wantRedirect(t, name, r, "/api/auth/sign-in?returnPathname=%2Fkeys")
		if c := cookieOf(t, r, sessionCookie); c != nil {
			t.Errorf("%s: cookie %v", name, c)
		}
	}
	r := send(h, "GET", "/api/auth/callback?state=s&code=c", "", "Cookie",
		signinCookie+"=Ym91bmQ; "+sessionCookie+"=cHJlc2V0")
	if c := cookieOf(t, r, sessionCookie); c == nil || c.Value != s.signIns.finished.Session {
		t.Errorf("cookie after the sign-in: %v", c)
	}
	if s.signIns.callback.Session != "cHJlc2V0" {
		t.Errorf("the old session is not handed over to be ended: %+v", s.signIns.callback)
	}
}

func TestT41OtherSitesReachNoForm(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	for path, d := range everyForm {
		for name, header := range map[string][]string{
			"cross-site":     {"Sec-Fetch-Site", "cross-site"},
			"a sibling":      {"Sec-Fetch-Site", "same-site"},
			"an old browser": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
			"a sandbox":      {"Sec-Fetch-Site", "cross-site", "Origin", "null"},
		} {
			r := signedIn(h, "POST", path, d.fields, header...)
			wantAnswer(t, path+" from "+name, r, 403, "Not done")
			wantHeaders(t, path+" from "+name, r, "Set-Cookie", "")
			r = signedIn(h, "POST", path, d.fields, append(header, "Accept", "application/json")...)
			wantAnswer(t, path+" from "+name, r, 403, `"code":"forbidden"`)
		}
	}
	wantCalls(t, "all of it", s)
}

func TestT42BodiesOfAnotherTypeAreRefused(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	for path := range everyForm {
		for _, kind := range []string{"text/plain", "application/json", "multipart/form-data; boundary=x", ""} {
			r := send(h, "POST", path, `{"user_code":"123456","code":"x"}`,
				append([]string{"Content-Type", kind}, attemptHeader...)...)
			wantAnswer(t, path+" as "+kind, r, 400, "That was not understood")
		}
		for _, body := range []string{"a=1&a=2", "%zz=1", "once=" + strings.Repeat("x", 65<<10)} {
			r := send(h, "POST", path, body, append([]string{"Content-Type", formType}, attemptHeader...)...)
			wantAnswer(t, path, r, 400)
		}
	}
	wantCalls(t, "all of it", s)
	r := send(h, "POST", "/api/access-links/resolve", opening, "Content-Type", "text/plain")
	wantAnswer(t, "resolve", r, 400, `"code":"invalid_request"`)
	r = send(h, "POST", "/api/access-links/resolve", opening, "Content-Type", "application/json; charset=utf-8")
	wantAnswer(t, "resolve", r, 200)
}

func TestT43NoPageCanBeFramedOrRunForeignCode(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	strict := append(slices.Clone(everyPage), "/", "/signed-out", "/api/auth/callback", agentPath+"?begun=no", "/none")
	for _, path := range strict {
		r := signedIn(h, "GET", path, nil, attemptHeader...)
		policy := r.Header.Get(policyHeader)
		if r.Header.Get("X-Frame-Options") != "DENY" || !strings.Contains(policy, "frame-ancestors 'none'") ||
			r.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s can be framed: %v", path, r.Header)
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") ||
			!strings.HasPrefix(policy, "default-src 'none'") || path != "/" &&
			!strings.Contains(r.Header.Get("Cache-Control"), "no-store") && r.StatusCode == 200 {
			t.Errorf("%s: %v", path, r.Header)
		}
		if r.Header.Get("Access-Control-Allow-Origin")+r.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s is open to other origins", path)
		}
		if strings.HasPrefix(path, "/v/") && (r.Header.Get("Referrer-Policy") != "no-referrer" ||
			!strings.Contains(policy, "form-action 'self'")) {
			t.Errorf("%s: %v", path, r.Header)
		}
		secretive := slices.ContainsFunc([]string{"/claim", agentPath, "/device", "/oauth", "/api/auth", "/admin"},
			func(p string) bool { return strings.HasPrefix(path, p) })
		if secretive && r.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s tells where it is", path)
		}
	}
	for path, d := range everyForm {
		r := operatorOf(noon).post(path, d.fields)
		if r.Header.Get("X-Frame-Options") != "DENY" || r.Header.Get("Cache-Control") != "no-store" || r.StatusCode >= 400 {
			t.Errorf("POST %s: %d %v", path, r.StatusCode, r.Header)
		}
	}
}

func TestT44LinksChangeNothing(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	pages := map[string]bool{}
	for _, path := range everyPage {
		path, _, _ := strings.Cut(path, "?")
		pages[path] = true
	}
	for path := range forms {
		if pages[path] {
			continue
		}
		for _, method := range []string{"GET", "HEAD"} {
			r := signedIn(h, method, path, nil, attemptHeader...)
			wantAnswer(t, method+" "+path, r, 405)
			wantHeaders(t, method+" "+path, r, "Allow", "POST")
		}
	}
	for _, path := range []string{"/api/auth/sign-in", "/api/auth/callback?state=s&code=c"} {
		r := send(h, "HEAD", path, "")
		wantAnswer(t, "HEAD "+path, r, 405)
		wantHeaders(t, "HEAD "+path, r, "Allow", "GET")
	}
	wantCalls(t, "all of it", s)
	for _, path := range everyPage {
		for _, header := range [][]string{{"Sec-Purpose", "prefetch"}, {"Purpose", "prefetch"}, nil} {
			wantAnswer(t, path, signedIn(h, "GET", path, nil, append(header, attemptHeader...)...), 200)
		}
	}
	if len(s.changes) > 0 {
		t.Errorf("reached %v", s.changes)
	}
}

func TestT72ACodeInTheAddressDoesNothingByItself(t *testing.T) {
	s := newServices()
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/device?code="+userCode+"%22%3E%3Cscript%3E", nil))
	if !strings.Contains(body, `value="`+userCode) || strings.Contains(body, "office-mac") || len(s.calls) > 0 {
		t.Fatalf("calls %v\n%s", s.calls, body)
	}
	body = text(t, signedIn(h, "POST", "/device", forms["/device"].fields))
	expect.Has(t, "the page", body,
		"office-mac.local", "203.0.113.0/24", "Vitrine command line", "Harbour Survey", "Did you start this?", "14 March 2026, 12:15 UTC", "make and revoke API keys")
	wantCalls(t, "the question", s, "Device "+userCode)
	wantAnswer(t, "the answer", signedIn(h, "POST", "/device/approve", forms["/device"].fields), 200)
	wantCalls(t, "the answer", s, "Device "+userCode, "ApproveDevice "+userCode)
	r := signedIn(h, "POST", "/device", url.Values{"code": {"BCDF"}})
	wantAnswer(t, "a wrong code", r, 404, "No device is waiting with this code", `value="BCDF"`)
	s.fail = fault.New(fault.RateLimitedActor, "too many").After(90 * time.Second)
	r = signedIn(h, "POST", "/device", forms["/device"].fields)
	wantAnswer(t, "too many wrong codes", r, 429)
	wantHeaders(t, "too many wrong codes", r, "Retry-After", "90")
}

func TestT84OtherMethodsAreNoWayIn(t *testing.T) {
	s := newServices()
	h := s.handler()
	for path, d := range forms {
		for _, method := range []string{"TRACE", "PUT", "DELETE", "OPTIONS", "post"} {
			r := signedIn(h, method, path, d.fields, "Content-Type", formType, "Sec-Fetch-Site", "same-origin")
			if r.StatusCode != 405 || !strings.Contains(r.Header.Get("Allow"), "POST") {
				t.Errorf("%s %s: %d, Allow %q", method, path, r.StatusCode, r.Header.Get("Allow"))
			}
		}
		for _, override := range []string{"X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"} {
			signedIn(h, "GET", path+"?_method=POST&"+d.fields.Encode(), nil, override, "POST")
		}
	}
	if len(s.changes) > 0 {
		t.Errorf("reached %v", s.changes)
	}
}

var storedField = regexp.MustCompile(`<input id="(title|name)" name="(title|name)" value="[^"<>]*"`)

func TestT85NamesThatPeopleChoseStayText(t *testing.T) {
	s := newServices()
	const name = "x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script><img src=x onerror=alert(2)>\"'>\u202Etxt.exe\u2066"
	s.actor.Workspace.Name = name
	s.title = name
	s.device = name
	s.client = name
	s.email = name
	h := s.handler()
	check := func(path string, r *http.Response) {
		t.Helper()
		body := storedField.ReplaceAllString(text(t, r), "") // what is changed there is what is stored; templates escape it
		expect.Lacks(t, path, body, "<script>", "<img src=x", "\u202E", "\u2066", "\r", `"'>`)
		for header, values := range r.Header {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n") || strings.Contains(strings.Join(values, ""), "stolen") {
				t.Errorf("%s: header %s: %q", path, header, values)
			}
		}
	}
	for _, path := range memberPages {
		check(path, signedIn(h, "GET", path, nil, attemptHeader...))
	}
	for path, d := range forms {
		check(path, s.post(path, d.fields))
	}
	check("/keys", signedIn(h, "POST", "/keys", url.Values{"name": {name}, "once": {"page-0123456789"}}))
	check("/device", signedIn(h, "GET", "/device?code="+url.QueryEscape(name), nil))
	check(agentPath, send(h, "GET", agentPath+"?claim_attempt_token="+url.QueryEscape(name), ""))
}

func TestFailuresOfASignInAreToldInWords(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
		want   string
	}{
		"unverified":    {signin.Unverified(), 403, "has not verified your e-mail address"},
		"declined":      {signin.Refused(signin.ErrDeclined), 400, "sent you back"},
		"old callback":  {signin.Refused(errors.New("no such sign-in")), 400, "began in another browser"},
		"provider down": {signin.Unreachable(errors.New("dial tcp 10.0.0.1")), 503, "does not answer"},
		"closed":        {fault.New(fault.Forbidden, "closed"), 403, "closed your workspace"},
		"too often":     {fault.NewCode(fault.RateLimitedActor).After(time.Minute), 429, "more requests than are allowed"},
		"a bug":         {errors.New("dial tcp 10.0.0.1"), 500, "our fault"},
	} {
		s := newServices()
		s.fail = tt.err
		r := send(s.handler(), "GET", "/api/auth/callback?state=s&code=c", "", "Cookie", signinCookie+"=Ym91bmQ")
		expect.Lacks(t, name, wantAnswer(t, name, r, tt.status, tt.want), "10.0.0.1")
		if c := cookieOf(t, r, sessionCookie); c != nil {
			t.Errorf("%s: cookie %v", name, c)
		}
	}
	s := newServices()
	wantAnswer(t, "a parameter twice", send(s.handler(), "GET", "/api/auth/callback?state=s&state=t&code=c", ""), 400)
	wantCalls(t, "a parameter twice", s)
}

func TestWhateverHangsTheAnswerComesInTime(t *testing.T) {
	for _, path := range append(slices.Clone(everyPage), "/", "/api/auth/sign-in", "/api/auth/callback?state=s&code=c") {
		synctest.Test(t, func(t *testing.T) {
			s := operatorOf(noon)
			s.hang = true
			start := time.Now()
			r := signedIn(s.handler(), "GET", path, nil, attemptHeader...)
			if took := time.Since(start); r.StatusCode != 503 || took != limits.IdentityAnswer ||
				!strings.Contains(text(t, r), "ot answer") {
				t.Errorf("%s: %d after %s", path, r.StatusCode, took)
			}
		})
	}
	for path, d := range everyForm {
		synctest.Test(t, func(t *testing.T) {
			s := operatorOf(noon)
			s.hang = true
			wantAnswer(t, path, s.post(path, d.fields), 503)
		})
	}
}
