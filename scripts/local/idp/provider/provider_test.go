package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

const (
	callback = "http://localhost:1/callback"
	verifier = "a-verifier-of-the-client-that-is-long-enough-0123"
)

// env is a provider on the loopback interface with a browser that follows no redirects.
type env struct {
	*Provider
	url    string
	client http.Client
	at     time.Time
}

func newEnv(t testing.TB, data string) *env {
	t.Helper()
	s := &env{
		at:     time.Now(),
		client: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { s.Provider.ServeHTTP(w, r) }))
	s.url = "http://" + server.Listener.Addr().String()
	var err error
	s.Provider, err = Open(Options{
		Issuer:   s.url,
		Audience: audience,
		Data:     data,
		Now:      func() time.Time { return s.at },
		Client: Client{
			ID:        "vitrine",
			Secret:    strings.Repeat("s", 40),
			Callbacks: []string{callback},
			SignedOut: []string{"http://localhost:1/"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

func (e *env) request() url.Values {
	challenge := sha256.Sum256([]byte(verifier))
	return url.Values{
		"client_id":             {"vitrine"},
		"redirect_uri":          {callback},
		"response_type":         {"code"},
		"scope":                 {"openid email"},
		"state":                 {"st"},
		"nonce":                 {"n"},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}
}

func (e *env) do(t testing.TB, r *http.Request) (*http.Response, string) {
	t.Helper()
	response, err := e.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return response, expect.Body(t, response)
}

func (e *env) get(t testing.TB, path string, q url.Values) (*http.Response, string) {
	t.Helper()
	return e.ask(t, http.MethodGet, path+"?"+q.Encode(), "")
}

func (e *env) post(t testing.TB, path string, q url.Values) (*http.Response, string) {
	t.Helper()
	return e.ask(t, http.MethodPost, path, q.Encode())
}

func (e *env) ask(t testing.TB, method, target, form string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, e.url+target, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return e.do(t, r)
}

// back returns where the provider sent the browser.
func back(t testing.TB, response *http.Response) url.Values {
	t.Helper()
	u, err := response.Location()
	if err != nil || response.StatusCode != http.StatusSeeOther || !strings.HasPrefix(u.String(), callback+"?") {
		t.Fatalf("%s to %v, %v", response.Status, u, err)
	}
	return u.Query()
}

func redemption(code string) url.Values {
	return url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {callback},
		"code_verifier": {verifier},
		"client_id":     {"vitrine"},
		"client_secret": {strings.Repeat("s", 40)},
	}
}

func TestAPersonTypesAnAddressAndIsSignedIn(t *testing.T) {
	s := newEnv(t, "")
	q := s.request()
	q.Set("state", `"><script>x</script>`)
	response, form := s.get(t, "/authorize", q)
	for _, part := range []string{`<label for="email">`, `id="email"`, `type="email"`, `<html lang="en">`,
		"&lt;script&gt;", `<form method="post"`} {
		if response.StatusCode != http.StatusOK || !strings.Contains(form, part) {
			t.Errorf("%s: the form lacks %s", response.Status, part)
		}
	}
	if strings.Contains(form, "<script") {
		t.Error("the page needs a script, or runs a foreign one")
	}
	q.Set("email", "nobody")
	if response, form = s.post(t, "/authorize", q); response.StatusCode != http.StatusBadRequest ||
		!strings.Contains(form, `role="alert"`) {
		t.Errorf("a name is an address: %s", response.Status)
	}
	q.Set("email", "Ada@example.org")
	response, _ = s.post(t, "/authorize", q)
	a := back(t, response)
	if a.Get("state") != q.Get("state") || a.Get("iss") != s.url {
		t.Errorf("came back with %v", a)
	}
	response, body := s.post(t, "/token", redemption(a.Get("code")))
	var tokens struct {
		IDToken string `json:"id_token"`
	}
	if err := json.Unmarshal([]byte(body), &tokens); err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, body)
	}
	claims := s.verified(t, tokens.IDToken)
	if claims["nonce"] != "n" || claims["email"] != "Ada@example.org" || claims["email_verified"] != true ||
		claims["sub"] != (Person{Email: "ada@example.org"}).subject() {
		t.Errorf("claims %v", claims)
	}
}

// verified checks a token against the published keys.
func (e *env) verified(t testing.TB, token string) map[string]any {
	t.Helper()
	_, claims, err := checked(token, e.set(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestACodeIsForItsClientOnce(t *testing.T) {
	s := newEnv(t, "")
	q := s.request()
	q.Set("login_hint", "ada@example.org")
	for name, c := range map[string]struct {
		change func(url.Values)
		status int
	}{
		"as it should be":   {func(url.Values) {}, 200},
		"another verifier":  {func(v url.Values) { v.Set("code_verifier", "x") }, 400},
		"no verifier":       {func(v url.Values) { v.Del("code_verifier") }, 400},
		"another callback":  {func(v url.Values) { v.Set("redirect_uri", callback+"/") }, 400},
		"another secret":    {func(v url.Values) { v.Set("client_secret", "x") }, 401},
		"another client":    {func(v url.Values) { v.Set("client_id", "x") }, 401},
		"an invented code":  {func(v url.Values) { v.Set("code", "x") }, 400},
		"another grant":     {func(v url.Values) { v.Set("grant_type", "password") }, 400},
		"later than it may": {func(url.Values) { s.at = s.at.Add(codeLife) }, 400},
	} {
		response, _ := s.get(t, "/authorize", q)
		v := redemption(back(t, response).Get("code"))
		c.change(v)
		if response, body := s.post(t, "/token", v); response.StatusCode != c.status {
			t.Errorf("%s: %s %s", name, response.Status, body)
		}
		if response, _ := s.post(t, "/token", v); response.StatusCode == http.StatusOK {
			t.Errorf("%s: a code serves twice", name)
		}
	}
}

func TestNobodyIsSentWhereTheClientIsNot(t *testing.T) {
	s := newEnv(t, "")
	for name, change := range map[string]func(url.Values){
		"another callback": func(v url.Values) { v.Set("redirect_uri", "https://evil.example/") },
		"no callback":      func(v url.Values) { v.Del("redirect_uri") },
		"another client":   func(v url.Values) { v.Set("client_id", "x") },
	} {
		q := s.request()
		change(q)
		q.Set("login_hint", "ada@example.org")
		if response, _ := s.get(t, "/authorize", q); response.StatusCode != http.StatusBadRequest ||
			response.Header.Get("Location") != "" {
			t.Errorf("%s: %s", name, response.Status)
		}
	}
	for name, c := range map[string]struct{ field, value, want string }{
		"without PKCE":    {"code_challenge", "", "invalid_request"},
		"plain PKCE":      {"code_challenge_method", "plain", "invalid_request"},
		"another answer":  {"response_type", "token", "invalid_request"},
		"no OpenID":       {"scope", "email", "invalid_request"},
		"an odd mistake":  {"hostile", "odd", "invalid_request"},
		"a second though": {"cancel", "1", "access_denied"},
	} {
		q := s.request()
		q.Set(c.field, c.value)
		response, _ := s.get(t, "/authorize", q)
		if got := back(t, response).Get("error"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	out := url.Values{"client_id": {"vitrine"}, "logout_uri": {"https://evil.example/"}}
	if response, _ := s.get(t, "/logout", out); response.StatusCode != http.StatusBadRequest {
		t.Error(response.Status)
	}
	if response, _ := s.get(t, "/logout", nil); response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
}

func TestMintPrintsATokenThatLastsOverARestart(t *testing.T) {
	data := t.TempDir()
	first := newEnv(t, data)
	response, token := first.get(t, "/mint", url.Values{"email": {"ada@example.org"}})
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		t.Fatal(response.Status, token)
	}
	again := newEnv(t, data)
	other, err := first.Mint(Person{Email: "ADA@example.org"}, "", "ES256", Honest)
	if err != nil {
		t.Fatal(err)
	}
	a, b := again.verified(t, token), again.verified(t, other)
	if a["sub"] == nil || a["sub"] != b["sub"] {
		t.Errorf("the same address is %v and %v", a["sub"], b["sub"])
	}
	info, err := os.Stat(filepath.Join(data, keysFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the keys are open to others: %v, %v", info, err)
	}
	for _, q := range []url.Values{{}, {"email": {"x"}}, {"email": {"a@b"}, "hostile": {"odd"}},
		{"email": {"a@b"}, "alg": {"HS256"}}} {
		if response, _ := first.get(t, "/mint", q); response.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: %s", q, response.Status)
		}
	}
	secret, file, err := Secret(data)
	if again, _, _ := Secret(data); err != nil || secret != again || len(secret) < 32 || !filepath.IsAbs(file) {
		t.Errorf("the secret is %q, then %q, in %s: %v", secret, again, file, err)
	}
}

func TestADamagedKeyFileIsNotReplaced(t *testing.T) {
	data := t.TempDir()
	for _, text := range []string{"", "{}", "x"} {
		if err := os.WriteFile(filepath.Join(data, keysFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openKeys(data, keysFile, fresh); err == nil || !strings.Contains(err.Error(), keysFile) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOnlyThisMachineIsServed(t *testing.T) {
	s := newEnv(t, "")
	for name, change := range map[string]func(*http.Request){
		"a page of another site": func(r *http.Request) { r.Host = "evil.example" },
		"another machine":        func(r *http.Request) { r.RemoteAddr = "192.0.2.1:1" },
		"a name that looks so":   func(r *http.Request) { r.Host = "localhost.evil.example" },
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/mint?email=a@b", nil)
		r.RemoteAddr = "127.0.0.1:1"
		change(r)
		w := httptest.NewRecorder()
		if s.Provider.ServeHTTP(w, r); w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for _, issuer := range []string{"https://id.example", "http://id.example", "http://0.0.0.0:1", "http://localhost:1/x",
		""} {
		_, err := Open(Options{
			Issuer: issuer,
			Now:    time.Now,
			Client: Client{ID: "x", Secret: "y", Callbacks: []string{callback}},
		})
		if err == nil {
			t.Errorf("%q is an issuer", issuer)
		}
	}
}

func TestKeptGrantsStayFew(t *testing.T) {
	s := newEnv(t, "")
	for range maxGrants + 10 {
		s.keep(grant{ends: s.at.Add(time.Hour)})
	}
	if n := len(s.codes); n > maxGrants {
		t.Errorf("%d are kept", n)
	}
}
