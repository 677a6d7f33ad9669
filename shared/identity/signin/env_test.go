package signin_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/adapter/oidc"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

var (
	ctx   = context.Background()
	from  = netip.MustParseAddr("203.0.113.7")
	about = session.Client{Browser: "Browser/1", Network: "203.0.113.0/24"}
)

const (
	callback  = "http://localhost:8704/api/auth/callback"
	signedOut = "http://localhost:8704/"

	clientSecret = "a secret of the client, long enough for HS256"
)

// env is a Service on tables of its own, with the development provider on the loopback interface.
type env struct {
	*signin.Service
	tables.Tables
	idp    *provider.Provider
	limits limits.Limits
	clock  *clock.Clock
}

func newEnv(t testing.TB) *env {
	t.Helper()
	s := &env{
		Tables: tables.New(t),
		clock:  clock.New(time.Now().UTC().Truncate(time.Millisecond)),
		limits: limits.Default(),
	}
	store := s.Stores
	peppers, err := keyring.New().Pepper.Derive("credential")
	expect.OK(t, err)
	s.Service = &signin.Service{
		Store:     store.SignIns,
		Registrar: &member.Service{Store: store.Members, Now: s.clock.Now},
		Sessions: &session.Service{
			Store:   store.Sessions,
			Members: store.Members,
			Limits:  &s.limits,
			Now:     s.clock.Now,
		},
		Limiter: &rate.Limiter{Counters: store.Counters, Limits: &s.limits, Now: s.clock.Now},
		Limits:  &s.limits,
		Peppers: peppers,
		Now:     s.clock.Now,
	}
	s.startProvider(t)
	return s
}

// startProvider starts the identity provider and connects the service to it.
func (e *env) startProvider(t testing.TB) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.idp.ServeHTTP(w, r)
	}))
	e.Issuer = "http://" + server.Listener.Addr().String()
	var err error
	e.idp, err = provider.Open(provider.Options{Issuer: e.Issuer, Now: e.clock.Now, Client: provider.Client{
		ID:        "vitrine",
		Secret:    clientSecret,
		Callbacks: []string{callback},
		SignedOut: []string{signedOut},
	}})
	expect.OK(t, err)
	server.Start()
	t.Cleanup(server.Close)
	e.Provider, err = oidc.New(oidc.Config{
		Issuer:       e.Issuer,
		ClientID:     "vitrine",
		ClientSecret: clientSecret,
		Logout:       oidc.RPInitiatedLogout,
		Callback:     callback,
		SignedOut:    signedOut,
		Loopback:     true,
		Now:          e.clock.Now,

		OperatorClaim: "cognito:groups",
		OperatorValue: "operators",
	})
	expect.OK(t, err)
}

// begin begins a sign-in, and returns where the browser is sent too.
func (e *env) begin(t testing.TB, to string) (signin.Begun, *url.URL) {
	t.Helper()
	begun, err := e.Begin(ctx, signin.Destination{Path: to}, from)
	expect.OK(t, err)
	u, err := url.Parse(begun.URL)
	expect.OK(t, err)
	return begun, u
}

// authorize begins a sign-in and signs a person in at the provider, as a browser would; extra are parameters for the
// provider.
func (e *env) authorize(t testing.TB, email string, extra ...string) signin.Callback {
	t.Helper()
	begun, u := e.begin(t, "/artifacts?a=b")
	q := u.Query()
	q.Set("login_hint", email)
	for n := 0; n < len(extra); n += 2 {
		q.Set(extra[n], extra[n+1])
	}
	u.RawQuery = q.Encode()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(u.String())
	expect.OK(t, err)
	response.Body.Close()
	back, err := response.Location()
	if err != nil || response.StatusCode != http.StatusSeeOther || back.Scheme+"://"+back.Host+back.Path != callback {
		t.Fatalf("the provider answers %s, %v, %v", response.Status, back, err)
	}
	a := back.Query()
	return signin.Callback{
		State:  a.Get("state"),
		Code:   a.Get("code"),
		Error:  a.Get("error"),
		Issuer: a.Get("iss"),
		Cookie: begun.Cookie,
	}
}

// signIn signs a person in.
func (e *env) signIn(t testing.TB, email string, extra ...string) signin.Finished {
	t.Helper()
	done, err := e.Finish(ctx, e.authorize(t, email, extra...), about, "req")
	expect.OK(t, err)
	return done
}

// printed returns a stored item as text.
func printed(i map[string]types.AttributeValue) string {
	var b strings.Builder
	for name, v := range i {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			fmt.Fprintln(&b, name, v.Value)
		case *types.AttributeValueMemberB:
			fmt.Fprintln(&b, name, string(v.Value), base64.RawURLEncoding.EncodeToString(v.Value))
		}
	}
	return b.String()
}
