package journey

import (
	"encoding/json"
	"html"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// people is how many members, and sessions, there are.
func (p *probe) people(t testing.TB) (members, sessions int) {
	t.Helper()
	for _, item := range p.all(t, p.names.Core) {
		if strings.HasPrefix(text(item["sk"]), "MEM#") {
			members++
		}
	}
	return members, p.count(t, p.names.Core, "SES#")
}

// noSession checks that an answer gives none.
func noSession(t testing.TB, what string, a wire.Answer) {
	t.Helper()
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == sessionCookie && c.Value != "" {
			t.Errorf("%s: a session was given", what)
		}
	}
}

func TestT38ACallbackWorksOnlyInTheBrowserThatBegan(t *testing.T) {
	t.Parallel()
	p := agents(t)
	attacker, victim := p.window(), p.window()
	link := attacker.vouch(t, attacker.begin(t, "/"), visitor{email: "mallory@example.org"})
	a := victim.get(t, link)
	says(t, "the link of somebody else", a, 400, "Signing in did not work")
	noSession(t, "the link of somebody else", a)
	victim.begin(t, "/") // also with a sign-in of their own under way
	a = victim.get(t, link)
	says(t, "again", a, 400, "Signing in did not work")
	noSession(t, "again", a)
	if members, sessions := p.people(t); members != 0 || sessions != 0 {
		t.Errorf("there are %d members and %d sessions", members, sessions)
	}
	kept := attacker.cookies[signinCookie]
	if a = attacker.get(t, link); a.Status != http.StatusSeeOther {
		t.Errorf("where it began it answers %d %s", a.Status, a.Body)
	}
	attacker.cookies[signinCookie] = kept // a browser that did not forget it
	says(t, "and a second time", attacker.get(t, link), 400, "Signing in did not work")
	late := p.window()
	link = late.vouch(t, late.begin(t, "/"), visitor{email: "mallory@example.org"})
	p.clock.pass(limits.SignInLife)
	a = late.get(t, link)
	says(t, "after ten minutes", a, 400, "Signing in did not work")
	noSession(t, "after ten minutes", a)
	for name, spoil := range map[string]func(q url.Values){
		"no state": func(q url.Values) { q.Del("state") }, "another state": func(q url.Values) { q.Set("state", strings.Repeat("A", 43)) },
		"no code": func(q url.Values) { q.Del("code") }, "another code": func(q url.Values) { q.Set("code", "c") },
		"two states": func(q url.Values) { q.Add("state", q.Get("state")) }, "two codes": func(q url.Values) { q.Add("code", q.Get("code")) },
		"nothing": func(q url.Values) { clear(q) }, "an error": func(q url.Values) { q.Set("error", "access_denied") },
		"another issuer": func(q url.Values) { q.Set("iss", "https://evil.example") },
	} {
		w := p.window() // where it began, with the cookie and all else that belongs to it
		u := must(url.Parse(w.vouch(t, w.begin(t, "/"), visitor{email: "ada@example.org"})))(t)
		q := u.Query()
		spoil(q)
		a := w.get(t, u.Path+"?"+q.Encode())
		says(t, name, a, 400, "Signing in did not work")
		noSession(t, name, a)
	}
}

func TestT39WhoSignsInStaysOnThisHost(t *testing.T) {
	t.Parallel()
	p := agents(t, unlimited)
	for back, want := range map[string]string{
		"//evil.example": "/", `/\evil.example`: "/", "https:evil.example": "/", "https://evil.example/": "/", "/\r\nSet-Cookie: a=b": "/",
		"/%0d%0aSet-Cookie:a=b": "/", "/..//evil.example": "/", "/%2f%2fevil.example": "/", "/%5cevil.example": "/", "javascript:alert(1)": "/",
		"/api/auth/sign-out": "/", "": "/", "evil": "/", "/" + strings.Repeat("a", 2000): "/",
		"/device?code=BCDF-BCDF": "/device?code=BCDF-BCDF", "/artifacts": "/artifacts",
	} {
		a := p.window().signs(t, back, visitor{email: "ada@example.org"})
		if got := a.Header.Values("Location"); a.Status != http.StatusSeeOther || len(got) != 1 || got[0] != want || a.Header.Get("Set-Cookie") == "a=b" {
			t.Errorf("%.40q leads to %q with %d", back, got, a.Status)
		}
	}
}

func TestT40ASignInGivesASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	p := agents(t)
	mallory := p.signedIn(t, "mallory@example.org")
	for name, preset := range map[string]string{
		"somebody's session": mallory.cookies[sessionCookie], "a made-up one": strings.Repeat("A", 43), "nonsense": "x",
	} {
		w := p.window()
		w.cookies[sessionCookie] = preset
		if a := w.signs(t, "/", visitor{email: "ada@example.org"}); a.Status != http.StatusSeeOther || w.cookies[sessionCookie] == preset {
			t.Errorf("%s: the sign-in answers %d and keeps the session", name, a.Status)
		}
		before := p.window()
		before.cookies[sessionCookie] = preset
		if !before.signedOut(t) {
			t.Errorf("%s opens something after the sign-in", name)
		}
		if a := w.get(t, "/settings"); a.Status != http.StatusOK || !strings.Contains(string(a.Body), "ada@example.org") {
			t.Errorf("%s: the new session answers %d", name, a.Status)
		}
	}
	// two sessions in one request are nobody's
	a := p.window().send(t, "GET", "/dashboard", nil, "Cookie", sessionCookie+"=a; "+sessionCookie+"="+p.signedIn(t, "ada@example.org").cookies[sessionCookie])
	if a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/api/auth/sign-in") {
		t.Errorf("two session cookies answer %d", a.Status)
	}
}

func TestT40SigningOutEndsTheSessionAndEverywhereAll(t *testing.T) {
	t.Parallel()
	p := agents(t)
	one, two := p.signedIn(t, "ada@example.org"), p.signedIn(t, "ada@example.org")
	token := two.cliToken(t)
	var made contract.CreatedKey
	a := do(t, p.with(token.AccessToken), "POST", p.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "of the login"}, keyed()...)
	succeed(t, json.Unmarshal(a.Body, &made))
	login := p.with(made.Secret)
	kept := one.cookies[sessionCookie]
	if a := one.post(t, "/api/auth/sign-out", nil); a.Status != http.StatusSeeOther || one.cookies[sessionCookie] != "" {
		t.Errorf("signing out answers %d and leaves %q", a.Status, one.cookies[sessionCookie])
	}
	if one.cookies[sessionCookie] = kept; !one.signedOut(t) || two.signedOut(t) {
		t.Error("the wrong session ended")
	}
	if a := do(t, login, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("the key of the login answers %d", a.Status)
	}
	three := p.signedIn(t, "ada@example.org")
	kept = two.cookies[sessionCookie]
	if a := three.post(t, "/api/auth/sign-out-everywhere", nil); a.Status != http.StatusSeeOther {
		t.Errorf("signing out everywhere answers %d %s", a.Status, a.Body)
	}
	refused(t, do(t, login, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	if two.cookies[sessionCookie] = kept; !two.signedOut(t) || p.works(t, token.AccessToken) != 401 {
		t.Error("something outlives it")
	}
	if code := p.oauthError(t, refreshGrant("cli", token.RefreshToken)); code != "invalid_grant" {
		t.Errorf("the refresh token: %s", code)
	}
	p.clock.pass(1e6) // a millisecond, and signing in works again
	if p.signedIn(t, "ada@example.org").signedOut(t) {
		t.Error("nobody gets in any more")
	}
}

func TestT44NothingIsSignedOutByALink(t *testing.T) {
	t.Parallel()
	p := agents(t)
	w := p.signedIn(t, "ada@example.org")
	before := p.state(t)
	for _, method := range []string{"GET", "HEAD"} {
		if a := w.send(t, method, "/api/auth/sign-out", nil); a.Status != 405 || a.Header.Get("Allow") != "POST" {
			t.Errorf("%s answers %d, Allow %q", method, a.Status, a.Header.Get("Allow"))
		}
	}
	if a := w.send(t, "HEAD", "/api/auth/sign-in", nil); a.Status != 405 {
		t.Errorf("a prefetch of the sign-in answers %d", a.Status)
	}
	if w.get(t, "/settings/sign-out-everywhere"); w.signedOut(t) {
		t.Error("looking at the question signs out")
	}
	p.unchanged(t, before)
}

func TestT45TokensThatAreWrongSignNobodyIn(t *testing.T) {
	t.Parallel()
	p := agents(t, unlimited)
	p.window().signs(t, "/", visitor{email: "first@example.org"}) // what the provider publishes is known from now on
	members, sessions := p.people(t)
	status := map[provider.Hostile]int{
		provider.Old: 303, provider.Unverified: 403, provider.VerifiedText: 403, provider.NoEmail: 403, provider.TokenStalls: 503, provider.TokenFails: 503,
	}
	for _, h := range provider.Hostilities {
		want := status[h]
		if want == 0 {
			want = 400
		}
		w := p.window()
		a := w.signs(t, "/", visitor{email: "ada@example.org", hostile: h})
		switch {
		case a.Status != want:
			t.Errorf("%s: %d %s", h, a.Status, a.Body)
		case want == 303:
			members, sessions = members+1, sessions+1
		default:
			noSession(t, string(h), a)
		}
	}
	if m, s := p.people(t); m != members || s != sessions {
		t.Errorf("there are %d members and %d sessions, want %d and %d", m, s, members, sessions)
	}
}

func TestT46AnAddressIsNoIdentity(t *testing.T) {
	t.Parallel()
	p := agents(t)
	a := p.window().signs(t, "/", visitor{email: "ada@example.org", hostile: provider.Unverified})
	says(t, "an unverified address", a, 403, "Verify your e-mail address")
	noSession(t, "an unverified address", a)
	at := func(who visitor) contract.WebWorkspace {
		w := p.window()
		w.signs(t, "/", who)
		var out contract.WebWorkspace
		succeed(t, json.Unmarshal(do(t, p.with(w.cliToken(t).AccessToken), "GET", p.Origins.API+"/v1/web/workspace", nil).Body, &out))
		return out
	}
	one, other := at(visitor{email: "ada@example.org", subject: "one"}), at(visitor{email: "ada@example.org", subject: "other"})
	renamed := at(visitor{email: "countess@example.org", subject: "one"})
	if one.Workspace.ID == other.Workspace.ID || one.WorkspaceMember.ID == other.WorkspaceMember.ID {
		t.Error("one address makes two people one")
	}
	if renamed.WorkspaceMember.ID != one.WorkspaceMember.ID || renamed.Workspace.ID != one.Workspace.ID {
		t.Error("another address makes one person two")
	}
	if members, _ := p.people(t); members != 2 {
		t.Errorf("there are %d members", members)
	}
}

// TestT85NamesAreTextWhereverTheyAreShown gives everything that people and programs name a hostile name.
func TestT85NamesAreTextWhereverTheyAreShown(t *testing.T) {
	t.Parallel()
	p := agents(t)
	const name = "\"'><script>alert(1)</script>\r\nSet-Cookie: evil=1\r\n\r\n{{.}}"
	w := p.signedIn(t, "\"<script>alert(1)</script>\"@example.org")
	c := p.registers(t, name)
	d := p.device(t, name)
	who := p.with(w.cliToken(t).AccessToken)
	named := contract.UpdateSettings{WorkspaceName: "<script>alert(1)</script>", AutoDeletionDays: 3}
	if a := do(t, who, "PATCH", p.Origins.API+"/v1/web/settings", named, keyed()...); a.Status != http.StatusOK {
		t.Fatalf("naming the workspace answers %d %s", a.Status, a.Body)
	}
	r := p.register(t)
	agent := p.with(p.token(t, jwtBearer(r.IdentityAssertion)).AccessToken)
	file := page("x")
	file.Path = "\"><script>;filename=evil.exe.bin"
	shown := must(agent.PublishFiles(ctx, "<script>alert(1)</script>", "", page("x"), file))(t)
	a := p.get(t, strings.TrimSuffix(shown.RevisionContentURL, "index.html")+url.PathEscape(file.Path))
	kind, parameters, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
	if a.Status != http.StatusOK || err != nil || kind != "attachment" || len(parameters) != 1 || !strings.HasSuffix(parameters["filename"], "><script>;filename=evil.exe.bin") {
		t.Errorf("the file answers %d with Content-Disposition %q (%v)", a.Status, a.Header.Get("Content-Disposition"), err)
	}
	s := p.startClaim(t, r)
	consent := c.authorize(t, c.request("read"))
	pages := map[string]wire.Answer{
		"agent": w.opensAttempt(t, s), "device": w.post(t, "/device", url.Values{"code": {d.UserCode}}), "consent": w.get(t, consent.RequestURI()),
		"made":  w.post(t, "/keys", url.Values{"name": {"<script>alert(1)</script>"}, "once": {"page-" + strings.Repeat("x", 26)}}),
		"typed": w.post(t, "/device", url.Values{"code": {`"><script>alert(1)</script>`}}), "keys": w.get(t, "/keys"), "settings": w.get(t, "/settings"),
	}
	w.types(t, s.UserCode)
	w.post(t, "/device/approve", url.Values{"code": {d.UserCode}})
	pages["left"] = w.post(t, "/oauth/consent/allow", url.Values{"req": {consent.Query().Get("req")}})
	for _, path := range []string{"/dashboard", "/artifacts", "/artifacts/" + string(shown.ArtifactID), "/connections"} {
		pages[path] = w.get(t, path)
	}
	for name, a := range pages {
		body := string(a.Body)
		if a.Status != http.StatusOK && name != "typed" {
			t.Errorf("%s answers %d", name, a.Status)
		}
		if strings.Contains(body, "<script>alert") || a.Header.Get("Set-Cookie") == "evil=1" {
			t.Errorf("%s holds what somebody named: %s", name, body)
		}
		if name != "typed" && !strings.Contains(html.UnescapeString(body), "<script>alert(1)</script>") {
			t.Errorf("%s does not show the name", name)
		}
	}
}
