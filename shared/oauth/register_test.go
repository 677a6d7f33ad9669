package oauth_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/event"
	"vitrine/shared/fault"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
	"vitrine/shared/member"
	"vitrine/shared/oauth"
)

func TestAClientThatRegistersGetsWhatThereIs(t *testing.T) {
	s := newStand(t)
	uris := []string{"https://robot.example.com/callback", "cursor://oauth/callback", "http://localhost:33418/"}
	got, err := s.Register(ctx, contract.RegisterClient{
		RedirectURIs: uris, ClientName: "Robot\u202e <b>\n", AuthMethod: "none", ResponseTypes: []string{"code"}, Scope: "openid admin read",
		GrantTypes: []string{"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"},
	}, from)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.RegisterClient{
		RedirectURIs: uris, ClientName: "Robot <b>", AuthMethod: "none", ResponseTypes: []string{"code"}, Scope: "read",
		GrantTypes: []string{"authorization_code", "refresh_token"},
	}
	if !reflect.DeepEqual(got.RegisterClient, want) || !got.ClientID.Valid() || got.IssuedAt != s.now().Unix() {
		t.Errorf("%+v", got)
	}
	for _, uri := range append(uris, "http://localhost:1/") {
		a := asks()
		a.ClientID, a.RedirectURI = string(got.ClientID), uri
		s.consent(t, a)
	}
}

func TestAClientThatWouldNotBeSafeIsRefused(t *testing.T) {
	s := newStand(t)
	s.limits.Registration.Limit = 100
	fine := contract.RegisterClient{RedirectURIs: []string{elsewhere}}
	for name, c := range map[string]struct {
		change func(*contract.RegisterClient)
		want   fault.OAuthCode
	}{
		"no redirect":     {func(r *contract.RegisterClient) { r.RedirectURIs = nil }, fault.OAuthInvalidRedirect},
		"eleven":          {func(r *contract.RegisterClient) { r.RedirectURIs = strings.Fields(strings.Repeat(elsewhere+" ", 11)) }, fault.OAuthInvalidRedirect},
		"script":          {func(r *contract.RegisterClient) { r.RedirectURIs = []string{elsewhere, "javascript://x"} }, fault.OAuthInvalidRedirect},
		"http":            {func(r *contract.RegisterClient) { r.RedirectURIs = []string{"http://robot.example.com/"} }, fault.OAuthInvalidRedirect},
		"secret":          {func(r *contract.RegisterClient) { r.AuthMethod = "client_secret_basic" }, fault.OAuthInvalidMetadata},
		"other grants":    {func(r *contract.RegisterClient) { r.GrantTypes = []string{"client_credentials"} }, fault.OAuthInvalidMetadata},
		"implicit":        {func(r *contract.RegisterClient) { r.ResponseTypes = []string{"token"} }, fault.OAuthInvalidMetadata},
		"an endless name": {func(r *contract.RegisterClient) { r.ClientName = strings.Repeat("é", 81) }, fault.OAuthInvalidMetadata},
	} {
		r := fine
		c.change(&r)
		_, err := s.Register(ctx, r, from)
		refused(t, name, err, c.want)
	}
	fine.ClientName = strings.Repeat("é", 80)
	if _, err := s.Register(ctx, fine, from); err != nil {
		t.Error(err)
	}
}

func TestAnAddressRegistersTenClientsAnHour(t *testing.T) {
	s := newStand(t)
	for range s.limits.Registration.Limit {
		s.register(t, elsewhere)
	}
	_, err := s.Register(ctx, contract.RegisterClient{RedirectURIs: []string{elsewhere}}, from)
	refused(t, "one more", err, fault.OAuthSlowDown)
	if r := fault.RefusalOf(err); !r.Limited || r.RetryAfter <= 0 || r.RetryAfter > time.Hour {
		t.Errorf("%+v", r)
	}
	if _, err := s.Register(ctx, contract.RegisterClient{RedirectURIs: []string{elsewhere}}, from.Next().Next()); err != nil {
		t.Error("another address is refused too", err)
	}
}

func TestAClientInUseStays(t *testing.T) {
	s := newStand(t)
	robot := s.robot(t)
	for range 3 {
		s.later(limits.UnusedClientLife - time.Hour)
		out := s.signIn(t, robot)
		s.later(limits.RefreshIdle - time.Hour)
		s.token(t, refreshing(robot.ClientID, out)) // counts as use
	}
	s.later(limits.UnusedClientLife - time.Hour)
	s.consent(t, robot)
}

// provider is an identity provider in the test's hand.
type provider struct {
	who member.Identity
	err error
}

func (p *provider) Verify(_ context.Context, token string) (member.Identity, error) {
	if token != "id-token" {
		return member.Identity{}, fault.New(fault.NotAuthenticated, "no")
	}
	return p.who, p.err
}

func (s *stand) withProvider() *provider {
	p := &provider{who: member.Identity{Issuer: "https://idp.example.com", Subject: "somebody", Email: "new@example.com"}}
	s.Provider, s.Registrar = p, &member.Registrar{Store: s.store, Now: s.now}
	return p
}

func exchanging() oauth.TokenRequest {
	return oauth.TokenRequest{
		GrantType: contract.GrantExchange, ClientID: "dashboard", SubjectToken: "id-token", SubjectTokenType: contract.TypeIDToken, Resource: apiOrigin,
	}
}

func TestAnIDTokenBecomesAnAccessTokenAndNoRefreshToken(t *testing.T) {
	s := newStand(t)
	s.withProvider()
	first := s.token(t, exchanging())
	if first.RefreshToken != "" || first.IssuedTokenType != contract.TypeAccessToken || first.ExpiresIn != 3600 || !s.works(first.AccessToken, apiOrigin) {
		t.Errorf("%+v", first)
	}
	if s.works(first.AccessToken, mcpOrigin) {
		t.Error("it works on the MCP host")
	}
	again := s.token(t, exchanging())
	a, _ := credential.Parse(first.AccessToken, credential.AccessToken, credential.Preview)
	b, _ := credential.Parse(again.AccessToken, credential.AccessToken, credential.Preview)
	if a.Workspace != b.Workspace || a.Public == b.Public {
		t.Error("one person has two workspaces, or two exchanges one grant")
	}
	if n := s.events(t, event.SessionStarted); n != 2 {
		t.Errorf("%d exchanges on record", n)
	}
	if listed, err := s.Grants(ctx, s.by); err != nil || len(listed) != 0 {
		t.Error("what ends by itself within the hour is listed", listed, err)
	}
	if err := s.Revoke(ctx, first.AccessToken, request); err != nil || s.works(first.AccessToken, apiOrigin) {
		t.Error("a revoked token works", err)
	}
	s.later(limits.AccessTokenLife)
	if s.works(again.AccessToken, apiOrigin) {
		t.Error("it works after its end")
	}
	s.keepsSecrets(t)
}

func TestWhatIsWrongWithAnExchange(t *testing.T) {
	s := newStand(t)
	s.refuses(t, "no provider", exchanging(), fault.OAuthUnsupportedGrant)
	p := s.withProvider()
	robot := s.register(t, elsewhere)
	for name, c := range map[string]struct {
		change func(*oauth.TokenRequest)
		want   fault.OAuthCode
	}{
		"stranger's client": {func(r *oauth.TokenRequest) { r.ClientID = robot }, fault.OAuthUnauthorizedClient},
		"unknown client":    {func(r *oauth.TokenRequest) { r.ClientID = "x" }, fault.OAuthInvalidClient},
		"no client":         {func(r *oauth.TokenRequest) { r.ClientID = "" }, fault.OAuthInvalidRequest},
		"no token":          {func(r *oauth.TokenRequest) { r.SubjectToken = "" }, fault.OAuthInvalidRequest},
		"another token":     {func(r *oauth.TokenRequest) { r.SubjectToken = "x" }, fault.OAuthInvalidRequest},
		"another type":      {func(r *oauth.TokenRequest) { r.SubjectTokenType = contract.TypeAccessToken }, fault.OAuthInvalidRequest},
		"another wish":      {func(r *oauth.TokenRequest) { r.WantedType = contract.TypeIDToken }, fault.OAuthInvalidRequest},
		"an actor":          {func(r *oauth.TokenRequest) { r.ActorToken = "x" }, fault.OAuthInvalidRequest},
		"another resource":  {func(r *oauth.TokenRequest) { r.Resource = mcpOrigin }, fault.OAuthInvalidTarget},
	} {
		r := exchanging()
		c.change(&r)
		s.refuses(t, name, r, c.want)
	}
	for _, down := range []error{fault.New(fault.DatabaseUnavailable, "down"), context.DeadlineExceeded, errors.New("refused connection")} {
		p.err = down
		_, err := s.Token(ctx, exchanging(), from, request)
		refused(t, "a provider that is down", err, fault.OAuthServerError)
		if fault.RefusalOf(err).RetryAfter <= 0 {
			t.Error("without Retry-After")
		}
	}
}

func TestAnAddressThatFailsOftenIsSlowedDown(t *testing.T) {
	s := newStand(t)
	s.limits.TokenFailure.Limit = 3
	out := s.signIn(t, asks())
	bad := refreshing("cli", contract.Token{RefreshToken: "x"})
	for range 3 {
		s.refuses(t, "few", bad, fault.OAuthInvalidGrant)
	}
	s.refuses(t, "many", bad, fault.OAuthSlowDown)
	d := s.device(t)
	s.refuses(t, "waiting is no failure", polling("cli", d), fault.OAuthAuthorizationPending)
	s.token(t, refreshing("cli", out))
	s.refuses(t, "unknown grant", oauth.TokenRequest{GrantType: "password", ClientID: "cli"}, fault.OAuthUnsupportedGrant)
}

func TestPeppersThatRotateLeaveTokensAndCodesAlive(t *testing.T) {
	s := newStand(t)
	old := keyring.New().Pepper.Keys[0]
	turn := func(ring keyring.Ring) {
		peppers, err1 := ring.Derive("credential")
		chain, err2 := ring.Derive("refresh chain")
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		s.Peppers, s.Chain = peppers, chain
	}
	turn(keyring.Ring{ActiveID: 1, Keys: []keyring.Key{old}})
	first, d := s.signIn(t, asks()), s.device(t)
	fresh := keyring.New().Pepper.Keys[0]
	fresh.ID, old.State = 2, keyring.Verify
	turn(keyring.Ring{ActiveID: 2, Keys: []keyring.Key{old, fresh}})
	if err := s.ApproveDevice(ctx, s.by, d.UserCode); err != nil {
		t.Error("a code of the pepper before is not found", err)
	}
	s.token(t, polling("cli", d))
	second := s.token(t, refreshing("cli", first))
	if again := s.token(t, refreshing("cli", first)); again.RefreshToken != second.RefreshToken {
		t.Error("asked again, another answer comes")
	}
	turn(keyring.Ring{ActiveID: 2, Keys: []keyring.Key{fresh}})
	third := s.token(t, refreshing("cli", second))
	if again := s.token(t, refreshing("cli", second)); again.RefreshToken != third.RefreshToken || !s.works(again.AccessToken, apiOrigin) {
		t.Error("without the first key of the chain, the answer is lost")
	}
	s.later(time.Minute)
	s.refuses(t, "reused", refreshing("cli", second), fault.OAuthInvalidGrant)
	s.refuses(t, "revoked", refreshing("cli", third), fault.OAuthInvalidGrant)
}
