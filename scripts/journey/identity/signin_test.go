package identity

import (
	"html"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// countPeople is how many members, and sessions, there are.
func countPeople(t testing.TB, p *harness.BackendEnv) (members, sessions int) {
	t.Helper()
	for _, item := range p.Scan(t, p.Tables.Core) {
		if strings.HasPrefix(harness.Text(item["sk"]), "MEM#") {
			members++
		}
	}
	return members, p.CountItems(t, p.Tables.Core, "SES#")
}

// noSession checks that an answer gives none.
func noSession(t testing.TB, what string, a wire.Answer) {
	t.Helper()
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == harness.SessionCookie && c.Value != "" {
			t.Errorf("%s: a session was given", what)
		}
	}
}

func TestT38ACallbackWorksOnlyInTheBrowserThatBegan(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	attacker, victim := p.NewFakeBrowser(), p.NewFakeBrowser()
	link := attacker.Authenticate(t, attacker.BeginSignIn(t, "/"), harness.Identity{Email: "mallory@example.org"})
	a := victim.Get(t, link)
	harness.WantPage(t, "the link of somebody else", a, 400, "Signing in did not work")
	noSession(t, "the link of somebody else", a)
	victim.BeginSignIn(t, "/") // also with a sign-in of their own under way
	a = victim.Get(t, link)
	harness.WantPage(t, "again", a, 400, "Signing in did not work")
	noSession(t, "again", a)
	if members, sessions := countPeople(t, p); members != 0 || sessions != 0 {
		t.Errorf("there are %d members and %d sessions", members, sessions)
	}
	kept := attacker.Cookies[harness.SignInCookie]
	if a = attacker.Get(t, link); a.Status != http.StatusSeeOther {
		t.Errorf("where it began it answers %d %s", a.Status, a.Body)
	}
	attacker.Cookies[harness.SignInCookie] = kept // a browser that did not forget it
	harness.WantPage(t, "and a second time", attacker.Get(t, link), 400, "Signing in did not work")
	late := p.NewFakeBrowser()
	link = late.Authenticate(t, late.BeginSignIn(t, "/"), harness.Identity{Email: "mallory@example.org"})
	p.Clock.Advance(limits.SignInLife)
	a = late.Get(t, link)
	harness.WantPage(t, "after ten minutes", a, 400, "Signing in did not work")
	noSession(t, "after ten minutes", a)
	for name, spoil := range map[string]func(q url.Values){
		"no state":       func(q url.Values) { q.Del("state") },
		"another state":  func(q url.Values) { q.Set("state", strings.Repeat("A", 43)) },
		"no code":        func(q url.Values) { q.Del("code") },
		"another code":   func(q url.Values) { q.Set("code", "c") },
		"two states":     func(q url.Values) { q.Add("state", q.Get("state")) },
		"two codes":      func(q url.Values) { q.Add("code", q.Get("code")) },
		"nothing":        func(q url.Values) { clear(q) },
		"an error":       func(q url.Values) { q.Set("error", "access_denied") },
		"another issuer": func(q url.Values) { q.Set("iss", "https://evil.example") },
	} {
		w := p.NewFakeBrowser() // where it began, with the cookie and all else that belongs to it
		u := harness.Must(url.Parse(w.Authenticate(t, w.BeginSignIn(t, "/"), harness.Identity{Email: "ada@example.org"})))(t)
		q := u.Query()
		spoil(q)
		a := w.Get(t, u.Path+"?"+q.Encode())
		harness.WantPage(t, name, a, 400, "Signing in did not work")
		noSession(t, name, a)
	}
}

func TestT39WhoSignsInStaysOnThisHost(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Unlimited)
	for back, want := range map[string]string{
		"//evil.example":        "/",
		`/\evil.example`:        "/",
		"https:evil.example":    "/",
		"https://evil.example/": "/",
		"/\r\nSet-Cookie: a=b":  "/",
		"/%0d%0aSet-Cookie:a=b": "/",
		"/..//evil.example":     "/",
		"/%2f%2fevil.example":   "/",
		"/%5cevil.example":      "/",
		"javascript:alert(1)":   "/",
		"/api/auth/sign-out":    "/", "": "/", "evil": "/", "/" + strings.Repeat("a", 2000): "/",
		"/device?code=BCDF-BCDF": "/device?code=BCDF-BCDF", "/artifacts": "/artifacts",
	} {
		a := p.NewFakeBrowser().SignIn(t, back, harness.Identity{Email: "ada@example.org"})
		got := a.Header.Values("Location")
		if a.Status != http.StatusSeeOther || len(got) != 1 || got[0] != want || a.Header.Get("Set-Cookie") == "a=b" {
			t.Errorf("%.40q leads to %q with %d", back, got, a.Status)
		}
	}
}

func TestT40ASignInGivesASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	mallory := p.SignedIn(t, "mallory@example.org")
	for name, preset := range map[string]string{
		"somebody's session": mallory.Cookies[harness.SessionCookie],
		"a made-up one":      strings.Repeat("A", 43),
		"nonsense":           "x",
	} {
		w := p.NewFakeBrowser()
		w.Cookies[harness.SessionCookie] = preset
		a := w.SignIn(t, "/", harness.Identity{Email: "ada@example.org"})
		if a.Status != http.StatusSeeOther || w.Cookies[harness.SessionCookie] == preset {
			t.Errorf("%s: the sign-in answers %d and keeps the session", name, a.Status)
		}
		before := p.NewFakeBrowser()
		before.Cookies[harness.SessionCookie] = preset
		if !signedOut(t, before) {
			t.Errorf("%s opens something after the sign-in", name)
		}
		if a := w.Get(t, "/settings"); a.Status != http.StatusOK || !strings.Contains(string(a.Body), "ada@example.org") {
			t.Errorf("%s: the new session answers %d", name, a.Status)
		}
	}
	// two sessions in one request are no session
	a := p.NewFakeBrowser().Send(
		t,
		"GET",
		"/dashboard",
		nil,
		"Cookie",
		harness.SessionCookie+"=a; "+harness.SessionCookie+"="+
			p.SignedIn(t, "ada@example.org").Cookies[harness.SessionCookie],
	)
	if a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/api/auth/sign-in") {
		t.Errorf("two session cookies answer %d", a.Status)
	}
}

func TestT40SigningOutEndsTheSessionAndEverywhereAll(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	one, two := p.SignedIn(t, "ada@example.org"), p.SignedIn(t, "ada@example.org")
	token := two.CLIToken(t)
	var made contract.CreatedKey
	a := harness.Do(
		t,
		p.WithBearer(token.AccessToken),
		"POST",
		p.Origins.API+"/v1/web/keys",
		contract.CreateKey{Name: "of the login"},
		harness.KeyHeader()...,
	)
	harness.Decode(t, a, &made)
	login := p.WithBearer(made.Secret)
	kept := one.Cookies[harness.SessionCookie]
	if a := one.Post(t, "/api/auth/sign-out", nil); a.Status != http.StatusSeeOther ||
		one.Cookies[harness.SessionCookie] != "" {
		t.Errorf("signing out answers %d and leaves %q", a.Status, one.Cookies[harness.SessionCookie])
	}
	if one.Cookies[harness.SessionCookie] = kept; !signedOut(t, one) || signedOut(t, two) {
		t.Error("the wrong session ended")
	}
	if a := harness.Do(t, login, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("the key of the login answers %d", a.Status)
	}
	three := p.SignedIn(t, "ada@example.org")
	kept = two.Cookies[harness.SessionCookie]
	if a := three.Post(t, "/api/auth/sign-out-everywhere", nil); a.Status != http.StatusSeeOther {
		t.Errorf("signing out everywhere answers %d %s", a.Status, a.Body)
	}
	harness.WantRefused(t, harness.Do(t, login, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	if two.Cookies[harness.SessionCookie] = kept; !signedOut(t, two) || statusOf(t, p, token.AccessToken) != 401 {
		t.Error("something outlives it")
	}
	if code := p.OAuthError(t, refreshGrant("cli", token.RefreshToken)); code != "invalid_grant" {
		t.Errorf("the refresh token: %s", code)
	}
	p.Clock.Advance(1e6) // a millisecond, and signing in works again
	if signedOut(t, p.SignedIn(t, "ada@example.org")) {
		t.Error("nobody gets in any more")
	}
}

func TestT44NothingIsSignedOutByALink(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	before := p.Snapshot(t)
	for _, method := range []string{"GET", "HEAD"} {
		if a := w.Send(t, method, "/api/auth/sign-out", nil); a.Status != 405 || a.Header.Get("Allow") != "POST" {
			t.Errorf("%s answers %d, Allow %q", method, a.Status, a.Header.Get("Allow"))
		}
	}
	if a := w.Send(t, "HEAD", "/api/auth/sign-in", nil); a.Status != 405 {
		t.Errorf("a prefetch of the sign-in answers %d", a.Status)
	}
	if w.Get(t, "/settings/sign-out-everywhere"); signedOut(t, w) {
		t.Error("looking at the question signs out")
	}
	p.WantUnchanged(t, before)
}

func TestT45TokensThatAreWrongSignNobodyIn(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Unlimited)
	// what the provider publishes is known from now on
	p.NewFakeBrowser().SignIn(t, "/", harness.Identity{Email: "first@example.org"})
	members, sessions := countPeople(t, p)
	status := map[provider.Hostile]int{
		provider.Old:          303,
		provider.Unverified:   403,
		provider.VerifiedText: 403,
		provider.NoEmail:      403,
		provider.TokenStalls:  503,
		provider.TokenFails:   503,
	}
	for _, h := range provider.Hostilities {
		want := status[h]
		if want == 0 {
			want = 400
		}
		w := p.NewFakeBrowser()
		a := w.SignIn(t, "/", harness.Identity{Email: "ada@example.org", Hostile: h})
		switch {
		case a.Status != want:
			t.Errorf("%s: %d %s", h, a.Status, a.Body)
		case want == 303:
			members, sessions = members+1, sessions+1
		default:
			noSession(t, string(h), a)
		}
	}
	if m, s := countPeople(t, p); m != members || s != sessions {
		t.Errorf("there are %d members and %d sessions, want %d and %d", m, s, members, sessions)
	}
}

func TestT46AnAddressIsNoIdentity(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	a := p.NewFakeBrowser().SignIn(t, "/", harness.Identity{Email: "ada@example.org", Hostile: provider.Unverified})
	harness.WantPage(t, "an unverified address", a, 403, "Verify your e-mail address")
	noSession(t, "an unverified address", a)
	at := func(who harness.Identity) contract.WebWorkspace {
		w := p.NewFakeBrowser()
		w.SignIn(t, "/", who)
		var out contract.WebWorkspace
		harness.Decode(
			t, harness.Do(t, p.WithBearer(w.CLIToken(t).AccessToken), "GET", p.Origins.API+"/v1/web/workspace", nil), &out,
		)
		return out
	}
	one, other := at(harness.Identity{
		Email:   "ada@example.org",
		Subject: "one",
	}), at(harness.Identity{Email: "ada@example.org", Subject: "other"})
	renamed := at(harness.Identity{Email: "countess@example.org", Subject: "one"})
	if one.Workspace.ID == other.Workspace.ID || one.WorkspaceMember.ID == other.WorkspaceMember.ID {
		t.Error("one address makes two people one")
	}
	if renamed.WorkspaceMember.ID != one.WorkspaceMember.ID || renamed.Workspace.ID != one.Workspace.ID {
		t.Error("another address makes one person two")
	}
	if members, _ := countPeople(t, p); members != 2 {
		t.Errorf("there are %d members", members)
	}
}

// TestT85NamesAreTextWhereverTheyAreShown gives a hostile name to all that people and programs may name.
func TestT85NamesAreTextWhereverTheyAreShown(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	const name = "\"'><script>alert(1)</script>\r\nSet-Cookie: evil=1\r\n\r\n{{.}}"
	w := p.SignedIn(t, "\"<script>alert(1)</script>\"@example.org")
	c := registerClient(t, p, name)
	d := p.StartDevice(t, name)
	who := p.WithBearer(w.CLIToken(t).AccessToken)
	named := contract.UpdateSettings{WorkspaceName: "<script>alert(1)</script>", AutoDeletionDays: 3}
	if a := harness.Do(
		t, who, "PATCH", p.Origins.API+"/v1/web/settings", named, harness.KeyHeader()...,
	); a.Status != http.StatusOK {
		t.Fatalf("naming the workspace answers %d %s", a.Status, a.Body)
	}
	r := p.RegisterAgent(t)
	agent := p.WithBearer(p.Token(t, harness.JWTBearer(r.IdentityAssertion)).AccessToken)
	file := harness.Page("x")
	file.Path = "\"><script>;filename=evil.exe.bin"
	shown := harness.Must(agent.PublishFiles(ctx, "<script>alert(1)</script>", "", harness.Page("x"), file))(t)
	a := p.Get(t, strings.TrimSuffix(shown.RevisionContentURL, "index.html")+url.PathEscape(file.Path))
	kind, parameters, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
	if a.Status != http.StatusOK || err != nil || kind != "attachment" || len(parameters) != 1 ||
		!strings.HasSuffix(parameters["filename"], "><script>;filename=evil.exe.bin") {
		t.Errorf("the file answers %d with Content-Disposition %q (%v)", a.Status, a.Header.Get("Content-Disposition"), err)
	}
	s := p.StartClaim(t, r)
	consent := c.authorize(t, c.request("read"))
	pages := map[string]wire.Answer{
		"agent":   openAttempt(t, w, s),
		"device":  w.Post(t, "/device", url.Values{"code": {d.UserCode}}),
		"consent": w.Get(t, consent.RequestURI()),
		"made": w.Post(t, "/keys", url.Values{
			"name": {"<script>alert(1)</script>"},
			"once": {"page-" + strings.Repeat("x", 26)},
		}),
		"typed":    w.Post(t, "/device", url.Values{"code": {`"><script>alert(1)</script>`}}),
		"keys":     w.Get(t, "/keys"),
		"settings": w.Get(t, "/settings"),
	}
	enterCode(t, w, s.UserCode)
	w.Post(t, "/device/approve", url.Values{"code": {d.UserCode}})
	pages["left"] = w.Post(t, "/oauth/consent/allow", url.Values{"req": {consent.Query().Get("req")}})
	for _, path := range []string{"/dashboard", "/artifacts", "/artifacts/" + string(shown.ArtifactID), "/connections"} {
		pages[path] = w.Get(t, path)
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
