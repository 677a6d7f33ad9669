package harness

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// Cookies of the app host.
const (
	SessionCookie = "__Host-session"
	SignInCookie  = "__Host-signin"
	AttemptCookie = "__Host-aclaim"
)

// FakeBrowser is a browser without scripts. It keeps the cookies of the app host, Secure ones too, and sends the
// headers by which browsers say where a request comes from.
type FakeBrowser struct {
	*BackendEnv
	Cookies map[string]string
	Given   []string // every value that a cookie ever had
}

// NewFakeBrowser returns a browser without cookies.
func (e *BackendEnv) NewFakeBrowser() *FakeBrowser {
	return &FakeBrowser{BackendEnv: e, Cookies: map[string]string{}}
}

// Send sends a request to the app host and keeps the cookies of the answer.
func (b *FakeBrowser) Send(t testing.TB, method, path string, body any, headers ...string) wire.Answer {
	t.Helper()
	a := Must(b.Try(method, path, body, headers...))(t)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("%s %.60s sets the cookie %s without what protects it", method, path, c.Name)
		}
		if delete(b.Cookies, c.Name); c.MaxAge >= 0 {
			b.Cookies[c.Name] = c.Value
			b.Given = append(b.Given, c.Value)
		}
	}
	return a
}

// Try sends a request to the app host. It may run in a goroutine, because it leaves the cookies as they are.
func (b *FakeBrowser) Try(method, path string, body any, headers ...string) (wire.Answer, error) {
	var cookies []string
	for _, name := range slices.Sorted(maps.Keys(b.Cookies)) {
		cookies = append(cookies, name+"="+b.Cookies[name])
	}
	if len(cookies) > 0 {
		headers = append([]string{"Cookie", strings.Join(cookies, "; ")}, headers...)
	}
	return b.Anyone.Do(ctx, method, b.Origins.App+path, body, headers...)
}

// Get opens a page of the app host from another one.
func (b *FakeBrowser) Get(t testing.TB, path string) wire.Answer {
	t.Helper()
	return b.Send(t, "GET", path, nil, "Sec-Fetch-Site", "same-origin")
}

// FormHeaders are the headers of a form that a page of the app host sends.
func (b *FakeBrowser) FormHeaders() []string {
	return []string{
		"Content-Type", "application/x-www-form-urlencoded", "Origin", b.Origins.App, "Sec-Fetch-Site", "same-origin",
	}
}

// Post sends a form as a page of the app host does.
func (b *FakeBrowser) Post(t testing.TB, path string, fields url.Values) wire.Answer {
	t.Helper()
	return b.Send(t, "POST", path, fields.Encode(), b.FormHeaders()...)
}

// BeginSignIn starts a sign-in and returns the URL at the identity provider.
func (b *FakeBrowser) BeginSignIn(t testing.TB, back string) *url.URL {
	t.Helper()
	a := b.Get(t, "/api/auth/sign-in?"+url.Values{"returnPathname": {back}}.Encode())
	if a.Status != http.StatusSeeOther || b.Cookies[SignInCookie] == "" {
		t.Fatalf("the sign-in answers %d %s", a.Status, a.Body)
	}
	return Must(url.Parse(a.Header.Get("Location")))(t)
}

// Authenticate lets the identity provider authenticate a person and returns the path of the callback.
func (b *FakeBrowser) Authenticate(t testing.TB, at *url.URL, email string) string {
	t.Helper()
	q := at.Query()
	q.Set("login_hint", email)
	u := *at
	u.RawQuery = q.Encode()
	a := Must(b.Anyone.Do(ctx, "GET", u.String(), nil))(t)
	path, ours := strings.CutPrefix(a.Header.Get("Location"), b.Origins.App)
	if a.Status != http.StatusSeeOther || !ours {
		t.Fatalf("the provider answers %d %s", a.Status, a.Body)
	}
	return path
}

// SignIn goes through the identity provider and returns the answer of the callback.
func (b *FakeBrowser) SignIn(t testing.TB, back, email string) wire.Answer {
	t.Helper()
	return b.Get(t, b.Authenticate(t, b.BeginSignIn(t, back), email))
}

// SignedIn returns a browser in which a person is signed in.
func (e *BackendEnv) SignedIn(t testing.TB, email string) *FakeBrowser {
	t.Helper()
	w := e.NewFakeBrowser()
	a := w.SignIn(t, "/dashboard", email)
	if a.Status != http.StatusSeeOther || w.Cookies[SessionCookie] == "" {
		t.Fatalf("the callback answers %d %s", a.Status, a.Body)
	}
	return w
}

// CLIToken signs the command in by a device code, which the person of this browser approves.
func (b *FakeBrowser) CLIToken(t testing.TB) contract.Token {
	t.Helper()
	d := b.StartDevice(t, "vitrine on test")
	if a := b.Post(t, "/device/approve", url.Values{"code": {d.UserCode}}); a.Status != http.StatusOK {
		t.Fatalf("approving answers %d %s", a.Status, a.Body)
	}
	return b.Token(t, DeviceGrant("cli", d.DeviceCode))
}

var backToApp = regexp.MustCompile(`<a class="button" href="([^"]+)">Back to the app</a>`)

// AllowApp lets an app in that asks for consent, and returns where the browser goes back to it.
func (b *FakeBrowser) AllowApp(t testing.TB, request string) *url.URL {
	t.Helper()
	a := b.Post(t, "/oauth/consent/allow", url.Values{"req": {request}})
	found := backToApp.FindSubmatch(a.Body)
	if a.Status != http.StatusOK || found == nil {
		t.Fatalf("allowing answers %d %s", a.Status, a.Body)
	}
	return Must(url.Parse(html.UnescapeString(string(found[1]))))(t)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)"`)

// HiddenFields are the fields that a page sends beside those that a person fills in.
func HiddenFields(page wire.Answer) url.Values {
	fields := url.Values{}
	for _, found := range hiddenField.FindAllSubmatch(page.Body, -1) {
		fields.Add(string(found[1]), html.UnescapeString(string(found[2])))
	}
	return fields
}

// OpenAgentLink opens the link that an agent shows, and returns the page that asks for the agent's code.
func (b *FakeBrowser) OpenAgentLink(t testing.TB, link string) wire.Answer {
	t.Helper()
	path, ours := strings.CutPrefix(link, b.Origins.App)
	if !ours {
		t.Fatal("the agent's link leads elsewhere")
	}
	if a := b.Get(t, path); a.Status != http.StatusSeeOther || b.Cookies[AttemptCookie] == "" {
		t.Fatalf("the agent's link answers %d %s", a.Status, a.Body)
	}
	return b.Get(t, "/agent-auth/claim")
}

// EnterAgentCode types a code into the page of an agent's link.
func (b *FakeBrowser) EnterAgentCode(t testing.TB, page wire.Answer, code string) wire.Answer {
	t.Helper()
	fields := HiddenFields(page)
	fields.Set("user_code", code)
	return b.Post(t, "/agent-auth/claim", fields)
}

// OtherCode returns six digits that are not these.
func OtherCode(code string) string { return string('0'+(code[0]-'0'+1)%10) + code[1:] }

// StartDevice starts a sign-in of the command on another device.
func (e *BackendEnv) StartDevice(t testing.TB, name string) (d contract.DeviceAuthorization) {
	t.Helper()
	a := e.PostForm(t, "/oauth2/device_authorization", url.Values{"client_id": {"cli"}, "device_name": {name}}, &d)
	if a.Status != http.StatusOK {
		t.Fatalf("the device authorization answers %d %s", a.Status, a.Body)
	}
	return d
}

// DeviceGrant is the token request of a device that waits for its approval.
func DeviceGrant(client, code string) url.Values {
	return url.Values{"grant_type": {contract.GrantDevice}, "client_id": {client}, "device_code": {code}}
}

// WantPage checks the status of a page and that its text holds a part.
func WantPage(t testing.TB, what string, a wire.Answer, status int, part string) {
	t.Helper()
	if a.Status != status || !strings.Contains(html.UnescapeString(string(a.Body)), part) {
		t.Errorf("%s: answered %d %s; want %d and %q", what, a.Status, a.Body, status, part)
	}
}
