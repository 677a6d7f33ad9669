package oidc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

var ctx = context.Background()

const clientSecret = "a secret of the client, long enough for HS256"

var ada = provider.Person{Email: "ada@example.org"}

// env is the development provider on the loopback interface, and a Provider for it.
type env struct {
	*Provider
	idp   *provider.Provider
	clock *clock.Clock

	mu    sync.Mutex
	asked map[string]int // by path
}

func newEnv(t testing.TB, change ...func(*Config)) *env {
	t.Helper()
	s := &env{clock: clock.New(time.Now()), asked: map[string]int{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		s.mu.Unlock()
		s.idp.ServeHTTP(w, r)
	}))
	issuer := "http://" + server.Listener.Addr().String()
	var err error
	s.idp, err = provider.Open(provider.Options{Issuer: issuer, Now: s.clock.Now, Client: provider.Client{
		ID:        "vitrine",
		Secret:    clientSecret,
		Callbacks: []string{"http://localhost:1/callback"},
		SignedOut: []string{"http://localhost:1/"},
	}})
	expect.OK(t, err)
	server.Start()
	t.Cleanup(server.Close)
	c := Config{
		Issuer:       issuer,
		ClientID:     "vitrine",
		ClientSecret: clientSecret,
		Logout:       RPInitiatedLogout,
		Callback:     "http://localhost:1/callback",
		SignedOut:    "http://localhost:1/",
		Loopback:     true,
		Now:          s.clock.Now,
	}
	for _, f := range change {
		f(&c)
	}
	if s.Provider, err = New(c); err != nil {
		t.Fatal(err)
	}
	return s
}

func (e *env) times(path string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[path]
}

func (e *env) mint(t testing.TB, h provider.Hostile) string {
	t.Helper()
	token := expect.Value(e.idp.Mint(ada, "", "", h))(t)
	return token
}

func TestAnIDTokenTellsWhoSomebodyIs(t *testing.T) {
	s := newEnv(t)
	for _, algorithm := range []string{"RS256", "ES256"} {
		token, err := s.idp.Mint(provider.Person{Email: "ada@example.org", Subject: "one"}, "n", algorithm, provider.Honest)
		expect.OK(t, err)
		who, err := s.Verify(ctx, token)
		if err != nil || who.Subject != "one" || who.Email != "ada@example.org" || who.Issuer != s.config.Issuer ||
			who.AuthenticatedAt.Unix() != s.clock.Now().Unix() {
			t.Errorf("%s: %+v, %v", algorithm, who, err)
		}
	}
}

func TestT45FalseIDTokensAreRefused(t *testing.T) {
	s := newEnv(t)
	// A token by itself has no nonce to compare, and the other cases fail at the token endpoint
	// only.
	fine := map[provider.Hostile]bool{
		provider.WrongNonce:  true,
		provider.NoNonce:     true,
		provider.NoToken:     true,
		provider.Denied:      true,
		provider.TokenStalls: true,
		provider.TokenFails:  true,
	}
	unverified := map[provider.Hostile]bool{provider.Unverified: true, provider.VerifiedText: true,
		provider.Unsaid: true, provider.NoEmail: true}
	for _, h := range provider.Hostilities {
		_, err := s.Verify(ctx, s.mint(t, h))
		switch {
		case fine[h]:
			if err != nil {
				t.Errorf("%s: %v", h, err)
			}
		case unverified[h]:
			if fault.CodeOf(err) != fault.Forbidden || !errors.Is(err, signin.ErrUnverified) {
				t.Errorf("%s: %v", h, err)
			}
		case fault.CodeOf(err) != fault.InvalidRequest:
			t.Errorf("%s: %v", h, err)
		}
	}
	for _, text := range []string{"", "x", "a.b.c", "..", strings.Repeat("a", maxToken+1),
		s.mint(t, provider.Honest) + "x"} {
		if _, err := s.Verify(ctx, text); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestAnIssuerMayVouchForAddressesWithoutTheClaim(t *testing.T) {
	s := newEnv(t, func(c *Config) { c.EmailVerified = true })
	for h, verified := range map[provider.Hostile]bool{
		provider.Honest:       true,
		provider.Unsaid:       true,
		provider.Unverified:   false,
		provider.VerifiedText: false,
		provider.NoEmail:      false,
	} {
		if _, err := s.Verify(ctx, s.mint(t, h)); errors.Is(err, signin.ErrUnverified) == verified {
			t.Errorf("%q: %v", h, err)
		}
	}
}

func TestClocksMayDifferALittle(t *testing.T) {
	s := newEnv(t)
	token := s.mint(t, provider.Honest)
	for _, c := range []struct {
		pass time.Duration
		fine bool
	}{
		{-limits.AssertionLeeway + time.Second, true},
		{-limits.AssertionLeeway - 2*time.Second, false},
		{limits.ProviderTokenLife - time.Second, true},
		{limits.ProviderTokenLife + 2*time.Second, false},
	} {
		s.clock.Advance(c.pass)
		if _, err := s.Verify(ctx, token); (err == nil) != c.fine {
			t.Errorf("%s after it was issued: %v", c.pass, err)
		}
		s.clock.Advance(-c.pass)
	}
}

func TestKeysAreAskedForOnceAndAgainForANewOne(t *testing.T) {
	s := newEnv(t)
	verify := func(token string) error { _, err := s.Verify(ctx, token); return err }
	for range 3 {
		expect.OK(t, verify(s.mint(t, provider.Honest)))
		for _, h := range []provider.Hostile{provider.OtherKey, provider.UnknownKey} {
			if verify(s.mint(t, h)) == nil {
				t.Fatal("a false signature counts")
			}
		}
	}
	if n := s.times("/jwks"); n != 1 {
		t.Errorf("false tokens made us ask for keys %d times", n)
	}
	old := s.mint(t, provider.Honest)
	expect.OK(t, s.idp.First.Rotate())
	s.clock.Advance(retryEvery)
	if err := verify(s.mint(t, provider.Honest)); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	if verify(old) == nil {
		t.Error("a key that the provider withdrew counts")
	}
	if n := s.times("/jwks"); n != 2 {
		t.Errorf("keys were asked for %d times", n)
	}
}

func TestOldKeysServeWhileTheProviderHasNoAnswer(t *testing.T) {
	t.Parallel() // waits for a provider that stalls
	s := newEnv(t)
	expect.Value(s.Verify(ctx, s.mint(t, provider.Honest)))(t)
	for _, how := range []provider.Break{provider.Fails, provider.Long, provider.Redirects, provider.Babbles,
		provider.Stalls} {
		s.idp.Break("/jwks", how)
		s.idp.Break("/.well-known/openid-configuration", how)
		s.clock.Advance(minFresh)
		if _, err := s.Verify(ctx, s.mint(t, provider.Honest)); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
	if n := s.times("/jwks"); n != 6 {
		t.Errorf("keys were asked for %d times", n)
	}
	s.idp.Break("/jwks", provider.Fails)
	s.clock.Advance(maxStale + maxFresh)
	if _, err := s.Verify(ctx, s.mint(t, provider.Honest)); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("keys serve for ever: %v", err)
	}
}

func TestAProviderThatMisbehavesIsDownNotBelieved(t *testing.T) {
	t.Parallel() // waits for a provider that stalls
	for _, path := range []string{"/.well-known/openid-configuration", "/jwks"} {
		for _, how := range []provider.Break{provider.Fails, provider.Long, provider.Redirects, provider.Babbles,
			provider.Stalls} {
			s := newEnv(t)
			s.idp.Break(path, how)
			bounded, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			_, err := s.Verify(bounded, s.mint(t, provider.Honest))
			cancel()
			if fault.CodeOf(err) != fault.DatabaseUnavailable || fault.Of(err).RetryAfter <= 0 {
				t.Errorf("%s %s: %v", path, how, err)
			}
			s.idp.Heal()
			if _, err := s.Verify(ctx, s.mint(t, provider.Honest)); err != nil {
				t.Errorf("%s healed from %s: %v", path, how, err)
			}
		}
	}
}

func TestASlowProviderIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.idp.Break("/jwks", provider.Slow)
	if _, err := s.Verify(ctx, s.mint(t, provider.Honest)); err != nil {
		t.Error(err)
	}
}

func TestEveryCallEndsWithoutADeadlineOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Config{
			Issuer:   "http://127.0.0.1",
			ClientID: "vitrine",
			Logout:   RPInitiatedLogout,
			Loopback: true,
			Now:      time.Now,
		})
		expect.OK(t, err)
		p.client.Transport.(limitedTransport).next.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs) // takes requests and never answers
			return ours, nil
		}
		began := time.Now()
		_, err = p.Begin(ctx, signin.Transaction{State: "s", Nonce: "n", Verifier: "v"})
		if took := time.Since(began); fault.CodeOf(err) != fault.DatabaseUnavailable || took > limits.ProviderTimeout {
			t.Errorf("%v after %s", err, took)
		}
		if p.SignOut() != "" {
			t.Error("a silent provider signs people out")
		}
	})
}

func TestACodeIsRefusedAndTheProvidersWordsGoNowhere(t *testing.T) {
	s := newEnv(t)
	t1 := signin.Transaction{State: "s", Nonce: "n", Verifier: strings.Repeat("v", 43)}
	if _, err := s.Finish(ctx, "unknown", t1); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error(err)
	}
	for _, how := range []provider.Break{provider.Fails, provider.Long, provider.Redirects, provider.Babbles} {
		s.idp.Break("/token", how)
		_, err := s.Finish(ctx, "secret-code", t1)
		if fault.CodeOf(err) != fault.DatabaseUnavailable || strings.Contains(err.Error(), "broken") ||
			strings.Contains(err.Error(), "secret-code") {
			t.Errorf("%s: %v", how, err)
		}
	}
	wrong := newEnv(t, func(c *Config) { c.ClientSecret = "another" })
	if _, err := wrong.Finish(ctx, "code", t1); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("our own mistake is the person's: %v", err)
	}
}

func TestSigningOutIsSaidInTheProvidersWay(t *testing.T) {
	for style, want := range map[Logout]string{
		NoLogout: "", "": "", CognitoLogout: "/logout?client_id=vitrine&logout_uri=http%3A%2F%2Flocalhost%3A1%2F",
		RPInitiatedLogout: "/logout?client_id=vitrine&post_logout_redirect_uri=http%3A%2F%2Flocalhost%3A1%2F",
	} {
		s := newEnv(t, func(c *Config) { c.Logout = style })
		if want != "" {
			want = s.config.Issuer + want
		}
		got := s.SignOut()
		if got != want {
			t.Errorf("%q: %s", style, got)
		}
		if got == "" {
			continue
		}
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		response := expect.Value(client.Get(got))(t)
		response.Body.Close()
		if response.StatusCode != http.StatusSeeOther || response.Header.Get("Location") != "http://localhost:1/" {
			t.Errorf("%q: the provider answers %s", style, response.Status)
		}
	}
}

func TestT79AnIssuerWithoutTLSOrOnThisMachineIsRefused(t *testing.T) {
	for _, c := range []struct {
		issuer         string
		away, loopback bool // whether it is accepted in production and in preview
	}{
		{"https://id.example.org", true, true},
		{"https://id.example.org/pool", true, true},
		{"http://id.example.org", false, false},
		{"http://localhost:8706", false, true},
		{"https://localhost:8706", false, true},
		{"http://127.0.0.1:8706", false, true},
		{"http://[::1]:8706", false, true},
		{"https://[::ffff:127.0.0.1]", false, true},
		{"https://LOCALHOST./", false, true},
		{"https://user@id.example.org", false, false},
		{"id.example.org", false, false},
		{"", false, false},
		{"ftp://localhost", false, false},
	} {
		config := Config{Issuer: c.issuer, ClientID: "x", Now: time.Now}
		_, away := New(config)
		config.Loopback = true
		_, near := New(config)
		if (away == nil) != c.away || (near == nil) != c.loopback {
			t.Errorf("%q: %v, %v", c.issuer, away, near)
		}
	}
	for name, c := range map[string]Config{
		"no client":              {Issuer: "https://id.example.org"},
		"an odd way to sign out": {Issuer: "https://id.example.org", ClientID: "x", Logout: "odd"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s is fine", name)
		}
	}
}

func TestOperatorsAreThoseWhomTheClaimNames(t *testing.T) {
	s := newEnv(t, func(c *Config) { c.OperatorClaim, c.OperatorValue = "cognito:groups", "operators" })
	off := newEnv(t)
	for name, c := range map[string]struct {
		groups   []string
		operator bool
	}{
		"none":       {nil, false},
		"others":     {[]string{"staff", "operators-2", "Operators"}, false},
		"one of two": {[]string{"staff", "operators"}, true},
	} {
		token, err := s.idp.Mint(provider.Person{Email: "ada@example.org", Groups: c.groups}, "", "", provider.Honest)
		expect.OK(t, err)
		who, err := s.Verify(ctx, token)
		if err != nil || who.Operator != c.operator || who.OperatorAt().IsZero() == c.operator {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	token, err := off.idp.Mint(provider.Person{Email: "ada@example.org", Groups: []string{"operators", ""}}, "", "",
		provider.Honest)
	expect.OK(t, err)
	if who, err := off.Verify(ctx, token); err != nil || who.Operator {
		t.Errorf("without a claim: %+v, %v", who, err)
	}
	for claim, want := range map[any]bool{"operators": true, "x operators": false, 1.0: false, true: false, nil: false} {
		if claimContains(claim, "operators") != want {
			t.Errorf("%v: %t", claim, !want)
		}
	}
	if claimContains(map[string]any{"operators": true}, "operators") ||
		claimContains([]any{map[string]any{}, 1.0, nil}, "operators") {
		t.Error("a claim of another shape names somebody")
	}
}
