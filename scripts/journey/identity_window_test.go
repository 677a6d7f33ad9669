package journey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

const (
	sessionCookie = "__Host-session"
	signinCookie  = "__Host-signin"
	attemptCookie = "__Host-aclaim"
)

// window is a browser without scripts: it keeps the cookies of the app host, also those that want TLS, and says about
// itself what browsers say.
type window struct {
	*probe
	cookies map[string]string
	given   []string // every value that a cookie ever had
}

func (p *probe) window() *window { return &window{probe: p, cookies: map[string]string{}} }

// send asks the app host with the cookies of the window.
func (w *window) send(t testing.TB, method, path string, body any, headers ...string) wire.Answer {
	t.Helper()
	a := must(w.try(method, path, body, headers...))(t)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("%s %.60s sets the cookie %s without what protects it", method, path, c.Name)
		}
		if delete(w.cookies, c.Name); c.MaxAge >= 0 {
			w.cookies[c.Name] = c.Value
			w.given = append(w.given, c.Value)
		}
	}
	return a
}

// try is the same in a goroutine, where cookies stay as they are.
func (w *window) try(method, path string, body any, headers ...string) (wire.Answer, error) {
	var cookies []string
	for _, name := range slices.Sorted(maps.Keys(w.cookies)) {
		cookies = append(cookies, name+"="+w.cookies[name])
	}
	if len(cookies) > 0 {
		headers = append([]string{"Cookie", strings.Join(cookies, "; ")}, headers...)
	}
	return w.anyone.Do(ctx, method, w.Origins.App+path, body, headers...)
}

func (w *window) get(t testing.TB, path string) wire.Answer {
	t.Helper()
	return w.send(t, "GET", path, nil, "Sec-Fetch-Site", "same-origin")
}

// ownForm is what goes with a form of a page of the app host.
func (w *window) ownForm() []string {
	return []string{"Content-Type", "application/x-www-form-urlencoded", "Origin", w.Origins.App, "Sec-Fetch-Site", "same-origin"}
}

// post sends a form as the page that has it does.
func (w *window) post(t testing.TB, path string, fields url.Values) wire.Answer {
	t.Helper()
	return w.send(t, "POST", path, fields.Encode(), w.ownForm()...)
}

// visitor is somebody at the identity provider, with what is wrong about them.
type visitor struct {
	email, subject string
	hostile        provider.Hostile
}

// begin starts a sign-in and answers where the provider is asked.
func (w *window) begin(t testing.TB, back string) *url.URL {
	t.Helper()
	a := w.get(t, "/api/auth/sign-in?"+url.Values{"returnPathname": {back}}.Encode())
	if a.Status != http.StatusSeeOther || w.cookies[signinCookie] == "" {
		t.Fatalf("the sign-in answers %d %s", a.Status, a.Body)
	}
	return must(url.Parse(a.Header.Get("Location")))(t)
}

// vouch has the provider say who it is; the result is the path of the callback.
func (w *window) vouch(t testing.TB, at *url.URL, who visitor) string {
	t.Helper()
	q := at.Query()
	q.Set("login_hint", who.email)
	q.Set("hostile", string(who.hostile))
	if who.subject != "" {
		q.Set("sub", who.subject)
	}
	u := *at
	u.RawQuery = q.Encode()
	a := must(w.anyone.Do(ctx, "GET", u.String(), nil))(t)
	path, ours := strings.CutPrefix(a.Header.Get("Location"), w.Origins.App)
	if a.Status != http.StatusSeeOther || !ours {
		t.Fatalf("the provider answers %d %s", a.Status, a.Body)
	}
	return path
}

// signs goes through the provider and answers what the callback says.
func (w *window) signs(t testing.TB, back string, who visitor) wire.Answer {
	t.Helper()
	return w.get(t, w.vouch(t, w.begin(t, back), who))
}

// signedIn is a window of somebody who is signed in.
func (p *probe) signedIn(t testing.TB, email string) *window {
	t.Helper()
	w := p.window()
	if a := w.signs(t, "/dashboard", visitor{email: email}); a.Status != http.StatusSeeOther || w.cookies[sessionCookie] == "" {
		t.Fatalf("the callback answers %d %s", a.Status, a.Body)
	}
	return w
}

// signedOut tells whether the window has no session that holds.
func (w *window) signedOut(t testing.TB) bool {
	t.Helper()
	a := w.get(t, "/dashboard")
	return a.Status == http.StatusSeeOther && strings.HasPrefix(a.Header.Get("Location"), "/api/auth/sign-in?")
}

// cliToken signs the command in on behalf of the window, by a device code.
func (w *window) cliToken(t testing.TB) contract.Token {
	t.Helper()
	d := w.device(t, "vitrine on test")
	if a := w.post(t, "/device/approve", url.Values{"code": {d.UserCode}}); a.Status != http.StatusOK {
		t.Fatalf("approving answers %d %s", a.Status, a.Body)
	}
	return w.token(t, deviceGrant("cli", d.DeviceCode))
}

// device begins a sign-in of the command on another device.
func (p *probe) device(t testing.TB, name string) (d contract.DeviceAuthorization) {
	t.Helper()
	if a := p.form(t, "/oauth2/device_authorization", url.Values{"client_id": {"cli"}, "device_name": {name}}, &d); a.Status != http.StatusOK {
		t.Fatalf("the device authorization answers %d %s", a.Status, a.Body)
	}
	return d
}

func deviceGrant(client, code string) url.Values {
	return url.Values{"grant_type": {contract.GrantDevice}, "client_id": {client}, "device_code": {code}}
}

func refreshGrant(client, token string) url.Values {
	return url.Values{"grant_type": {contract.GrantRefresh}, "client_id": {client}, "refresh_token": {token}}
}

// client is an app that registered itself.
type client struct {
	*probe
	id, redirect, verifier string
}

// registers registers an app.
func (p *probe) registers(t testing.TB, name string) client {
	t.Helper()
	c := client{p, "", "https://robot.example.com/callback", rand.Text() + rand.Text()}
	var made contract.RegisteredClient
	a := do(t, p.anyone, "POST", p.Origins.API+"/oauth2/register", contract.RegisterClient{ClientName: name, RedirectURIs: []string{c.redirect}})
	if succeed(t, json.Unmarshal(a.Body, &made)); a.Status != http.StatusCreated {
		t.Fatalf("registering answers %d %s", a.Status, a.Body)
	}
	c.id = string(made.ClientID)
	return c
}

// request is what the app sends a browser away with.
func (c client) request(scope string) url.Values {
	sum := sha256.Sum256([]byte(c.verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {c.redirect}, "state": {"the state"}, "scope": {scope},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

// authorize answers where the authorization endpoint sends the browser.
func (c client) authorize(t testing.TB, q url.Values) *url.URL {
	t.Helper()
	a := do(t, c.anyone, "GET", c.Origins.API+"/oauth2/authorize?"+q.Encode(), nil)
	if a.Status != http.StatusSeeOther {
		t.Fatalf("the authorization endpoint answers %d %s", a.Status, a.Body)
	}
	return must(url.Parse(a.Header.Get("Location")))(t)
}

var wayBack = regexp.MustCompile(`<a class="button" href="([^"]+)">Back to the app</a>`)

// allowed is what comes back to the app after the person of the window has said yes.
func (c client) allowed(t testing.TB, w *window, scope string) url.Values {
	t.Helper()
	at := c.authorize(t, c.request(scope))
	a := w.post(t, "/oauth/consent/allow", url.Values{"req": {at.Query().Get("req")}})
	found := wayBack.FindSubmatch(a.Body)
	if a.Status != http.StatusOK || found == nil {
		t.Fatalf("allowing answers %d %s", a.Status, a.Body)
	}
	back := must(url.Parse(html.UnescapeString(string(found[1]))))(t)
	if !strings.HasPrefix(back.String(), c.redirect+"?") {
		t.Fatalf("the answer goes to %s", back.Host)
	}
	return back.Query()
}

// exchange is the request for the token of a code.
func (c client) exchange(code string) url.Values {
	return url.Values{
		"grant_type": {contract.GrantCode}, "client_id": {c.id}, "redirect_uri": {c.redirect}, "code": {code}, "code_verifier": {c.verifier},
	}
}

// opensAttempt takes a window to the page of an agent that waits.
func (w *window) opensAttempt(t testing.TB, s contract.StartedClaim) wire.Answer {
	t.Helper()
	path, ours := strings.CutPrefix(s.Claim.VerificationURI, w.Origins.App)
	if !ours {
		t.Fatal("the agent's link leads elsewhere")
	}
	if a := w.get(t, path); a.Status != http.StatusSeeOther || w.cookies[attemptCookie] == "" {
		t.Fatalf("the agent's link answers %d %s", a.Status, a.Body)
	}
	return w.get(t, "/agent-auth/claim")
}

// types sends the code of an agent.
func (w *window) types(t testing.TB, code string) wire.Answer {
	t.Helper()
	return w.post(t, "/agent-auth/claim", w.answers(code))
}

// answers are the fields of the page that shows the agent of the window's cookie.
func (w *window) answers(code string) url.Values {
	sum := sha256.Sum256([]byte("page of an attempt\n" + w.cookies[attemptCookie]))
	return url.Values{"user_code": {code}, "attempt": {base64.RawURLEncoding.EncodeToString(sum[:16])}}
}

// anotherCode is six digits that are not these.
func anotherCode(code string) string {
	return string('0'+(code[0]-'0'+1)%10) + code[1:]
}

// says checks the status of a page and a part of its text.
func says(t testing.TB, what string, a wire.Answer, status int, part string) {
	t.Helper()
	if a.Status != status || !strings.Contains(html.UnescapeString(string(a.Body)), part) {
		t.Errorf("%s: answered %d %s; want %d and %q", what, a.Status, a.Body, status, part)
	}
}
