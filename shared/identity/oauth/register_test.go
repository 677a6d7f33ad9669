package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

func TestAClientThatRegistersGetsWhatThereIs(t *testing.T) {
	s := newEnv(t)
	uris := []string{"https://robot.example.com/callback", "cursor://oauth/callback", "http://localhost:33418/"}
	got, err := s.Register(ctx, contract.RegisterClient{
		RedirectURIs:  uris,
		ClientName:    "Robot\u202e <b>\n",
		AuthMethod:    "none",
		ResponseTypes: []string{"code"},
		Scope:         "openid admin read",
		GrantTypes:    []string{"authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"},
	}, from)
	expect.OK(t, err)
	want := contract.RegisterClient{
		RedirectURIs:  uris,
		ClientName:    "Robot <b>",
		AuthMethod:    "none",
		ResponseTypes: []string{"code"},
		Scope:         "read",
		GrantTypes:    []string{"authorization_code", "refresh_token"},
	}
	if !cmp.Equal(got.RegisterClient, want) || !got.ClientID.Valid() || got.IssuedAt != s.clock.Now().Unix() {
		t.Errorf("%+v, want an ID, the time and %+v", got, want)
	}
	for _, uri := range append(uris, "http://localhost:1/") {
		a := authorization()
		a.ClientID, a.RedirectURI = string(got.ClientID), uri
		s.consent(t, a)
	}
}

func TestAClientThatWouldNotBeSafeIsRefused(t *testing.T) {
	s := newEnv(t)
	s.limits.Registration.Limit = 100
	fine := contract.RegisterClient{RedirectURIs: []string{elsewhere}}
	for name, c := range map[string]struct {
		change func(*contract.RegisterClient)
		want   fault.OAuthCode
	}{
		"no redirect": {func(r *contract.RegisterClient) { r.RedirectURIs = nil }, fault.OAuthInvalidRedirect},
		"eleven": {
			func(r *contract.RegisterClient) { r.RedirectURIs = strings.Fields(strings.Repeat(elsewhere+" ", 11)) },
			fault.OAuthInvalidRedirect},
		"script": {func(r *contract.RegisterClient) { r.RedirectURIs = []string{elsewhere, "javascript://x"} },
			fault.OAuthInvalidRedirect},
		"http": {func(r *contract.RegisterClient) { r.RedirectURIs = []string{"http://robot.example.com/"} },
			fault.OAuthInvalidRedirect},
		"secret": {func(r *contract.RegisterClient) { r.AuthMethod = "client_secret_basic" },
			fault.OAuthInvalidMetadata},
		"other grants": {func(r *contract.RegisterClient) { r.GrantTypes = []string{"client_credentials"} },
			fault.OAuthInvalidMetadata},
		"implicit": {func(r *contract.RegisterClient) { r.ResponseTypes = []string{"token"} },
			fault.OAuthInvalidMetadata},
		"an endless name": {func(r *contract.RegisterClient) { r.ClientName = strings.Repeat("é", 81) },
			fault.OAuthInvalidMetadata},
	} {
		r := fine
		c.change(&r)
		_, err := s.Register(ctx, r, from)
		wantRefused(t, name, err, c.want)
	}
	fine.ClientName = strings.Repeat("é", 80)
	if _, err := s.Register(ctx, fine, from); err != nil {
		t.Error(err)
	}
}

// TestAClientMayCallTheServerByOurName has the name under which Claude Code registers where vitrine connect added it.
func TestAClientMayCallTheServerByOurName(t *testing.T) {
	s := newEnv(t)
	r := contract.RegisterClient{RedirectURIs: []string{elsewhere}, ClientName: "Claude Code (vitrine)"}
	if got, err := s.Register(ctx, r, from); err != nil || got.ClientName != "Claude Code" {
		t.Errorf("it is registered as %q, %v", got.ClientName, err)
	}
	r.ClientName = "Vitrine (vitrine)"
	_, err := s.Register(ctx, r, from)
	wantRefused(t, "our name", err, fault.OAuthInvalidMetadata)
}

func TestAnAddressRegistersSixtyClientsAnHour(t *testing.T) {
	s := newEnv(t)
	for range 60 {
		s.register(t, elsewhere)
	}
	_, err := s.Register(ctx, contract.RegisterClient{RedirectURIs: []string{elsewhere}}, from)
	wantRefused(t, "one more", err, fault.OAuthSlowDown)
	if r := fault.OAuthErrorOf(err); !r.Limited || r.RetryAfter <= 0 || r.RetryAfter > time.Hour {
		t.Errorf("%+v, want a wait of at most an hour", r)
	}
	r := contract.RegisterClient{RedirectURIs: []string{elsewhere}}
	if _, err := s.Register(ctx, r, from.Next().Next()); err != nil {
		t.Error("another address is refused too", err)
	}
}

func TestAllTogetherRegisterSoManyClientsAnHour(t *testing.T) {
	s := newEnv(t)
	s.limits.Clients.Limit = 3
	address := from
	ask := func(redirect string) error {
		address = address.Next()
		_, err := s.Register(ctx, contract.RegisterClient{RedirectURIs: []string{redirect}}, address)
		return err
	}
	for range 3 {
		wantRefused(t, "what is refused anyway", ask("http://robot.example.com/"), fault.OAuthInvalidRedirect)
		expect.OK(t, ask(elsewhere))
	}
	err := ask(elsewhere)
	wantRefused(t, "one more", err, fault.OAuthSlowDown)
	if r := fault.OAuthErrorOf(err); !r.Limited || r.RetryAfter <= 0 || r.RetryAfter > time.Hour {
		t.Errorf("%+v, want a wait of at most an hour", r)
	}
}

// TestAClientThatNobodyLetInLeavesSoon has one client that only asks, again and again, and one that was granted access
// once.
func TestAClientThatNobodyLetInLeavesSoon(t *testing.T) {
	s := newEnv(t)
	asking, let := s.robot(t), s.robot(t)
	s.clock.Advance(limits.NewClientLife - time.Minute)
	s.consent(t, asking)
	s.signIn(t, let)
	s.clock.Advance(time.Minute)
	if _, err := s.Authorize(ctx, asking); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a client that only asks is there after a week: %v", err)
	}
	s.consent(t, let)
}

// TestARegistrationThatNobodyUsesIsCollected reads the time at which the table deletes the item. OpenCode registers a
// client each time it lists its servers signed out.
func TestARegistrationThatNobodyUsesIsCollected(t *testing.T) {
	s := newEnv(t)
	asking := s.robot(t)
	wantEnd := func(what string, life time.Duration) {
		t.Helper()
		want := &types.AttributeValueMemberN{Value: fmt.Sprint(s.clock.Now().Add(life).Unix())}
		for _, i := range s.Items(t, s.Names.Core) {
			if pk, ok := i["pk"].(*types.AttributeValueMemberS); ok && pk.Value == "OCL#"+asking.ClientID {
				if diff := cmp.Diff(types.AttributeValue(want), i["ttl"], cmpopts.IgnoreUnexported(*want)); diff != "" {
					t.Errorf("%s, the client is deleted at another time (-want +got):\n%s", what, diff)
				}
				return
			}
		}
		t.Errorf("%s, the client is not stored", what)
	}
	wantEnd("at first", 7*limits.Day)
	s.consent(t, asking)
	wantEnd("after it only asked", 7*limits.Day)
	s.signIn(t, asking)
	wantEnd("once it was let in", 90*limits.Day)
}

func TestAClientInUseStays(t *testing.T) {
	s := newEnv(t)
	robot := s.robot(t)
	s.signIn(t, robot)
	for range 3 {
		s.clock.Advance(limits.UnusedClientLife - time.Hour)
		out := s.signIn(t, robot)
		s.clock.Advance(limits.RefreshIdle - time.Hour)
		s.token(t, refreshing(robot.ClientID, out)) // counts as use
	}
	s.clock.Advance(limits.UnusedClientLife - time.Hour)
	s.consent(t, robot)
}

// idToken returns a new ID token.
func idToken() string { return "id." + string(id.NewPublic()) + ".signature" }

// fakeProvider is an identity provider that a test controls.
type fakeProvider struct {
	who member.Identity
	err error
}

func (p *fakeProvider) Verify(_ context.Context, token string) (member.Identity, error) {
	if !strings.HasPrefix(token, "id.") {
		return member.Identity{}, fault.New(fault.NotAuthenticated, "no")
	}
	return p.who, p.err
}

func (e *env) withProvider() *fakeProvider {
	p := &fakeProvider{
		who: member.Identity{Issuer: "https://idp.example.com", Subject: "somebody", Email: "new@example.com"},
	}
	e.Provider, e.Registrar = p, &member.Service{Store: e.Stores.Members, Now: e.clock.Now}
	return p
}

func exchanging() oauth.TokenRequest {
	return oauth.TokenRequest{
		GrantType:        contract.GrantExchange,
		ClientID:         "dashboard",
		SubjectToken:     idToken(),
		SubjectTokenType: contract.TypeIDToken,
		Resource:         apiOrigin,
	}
}

func TestAnIDTokenBecomesAnAccessTokenAndNoRefreshToken(t *testing.T) {
	s := newEnv(t)
	s.withProvider()
	first := s.token(t, exchanging())
	if first.RefreshToken != "" || first.IssuedTokenType != contract.TypeAccessToken || first.ExpiresIn != 3600 ||
		!s.works(first.AccessToken, apiOrigin) {
		t.Errorf("%+v, want an access token for an hour, without refreshing", first)
	}
	if s.works(first.AccessToken, mcpOrigin) {
		t.Error("it works on the MCP host")
	}
	again := s.token(t, exchanging()) // from another ID token
	a, _ := credential.Parse(first.AccessToken, credential.AccessToken, credential.Preview)
	b, _ := credential.Parse(again.AccessToken, credential.AccessToken, credential.Preview)
	if a.Workspace != b.Workspace || a.Public == b.Public {
		t.Error("one person has two workspaces, or two exchanges one grant")
	}
	s.WantEvents(t, event.SessionStarted, 2)
	if listed, _, err := s.Grants(ctx, s.by, cursor.Page{}); err != nil || len(listed) != 0 {
		t.Error("what ends by itself within the hour is listed", listed, err)
	}
	if err := s.Revoke(ctx, first.AccessToken, request); err != nil || s.works(first.AccessToken, apiOrigin) {
		t.Error("a revoked token works", err)
	}
	s.clock.Advance(limits.AccessTokenLife)
	if s.works(again.AccessToken, apiOrigin) {
		t.Error("it works after its end")
	}
	s.checkSecrets(t)
}

func TestAnIDTokenIsExchangedOnce(t *testing.T) {
	s := newEnv(t)
	s.withProvider()
	r := exchanging()
	made := make([]contract.Token, 8)
	ends := parallel.Calls(len(made), func(n int) (err error) {
		made[n], err = s.Token(ctx, r, from, request)
		return err
	})
	won := slices.Index(ends, nil)
	for n, err := range ends {
		if n != won {
			wantRefused(t, "together", err, fault.OAuthInvalidRequest)
		}
	}
	if won < 0 {
		t.Fatal("no call succeeded")
	}
	signed := r.SubjectToken[:strings.LastIndexByte(r.SubjectToken, '.')]
	r.SubjectToken = signed + ".otherwise" // one signature has several spellings
	s.refuses(t, "with another spelling of its signature", r, fault.OAuthInvalidRequest)
	r.ClientID = "cli"
	s.refuses(t, "by another client", r, fault.OAuthInvalidRequest)
	if !s.works(made[won].AccessToken, apiOrigin) {
		t.Error("the first one does not work any more")
	}
}

func TestWhatIsWrongWithAnExchange(t *testing.T) {
	s := newEnv(t)
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
		"another type": {func(r *oauth.TokenRequest) { r.SubjectTokenType = contract.TypeAccessToken },
			fault.OAuthInvalidRequest},
		"another wish":     {func(r *oauth.TokenRequest) { r.WantedType = contract.TypeIDToken }, fault.OAuthInvalidRequest},
		"an actor":         {func(r *oauth.TokenRequest) { r.ActorToken = "x" }, fault.OAuthInvalidRequest},
		"another resource": {func(r *oauth.TokenRequest) { r.Resource = mcpOrigin }, fault.OAuthInvalidTarget},
	} {
		r := exchanging()
		c.change(&r)
		s.refuses(t, name, r, c.want)
	}
	for _, down := range []error{
		fault.New(fault.DatabaseUnavailable, "down"), context.DeadlineExceeded, errors.New("refused connection"),
	} {
		p.err = down
		_, err := s.Token(ctx, exchanging(), from, request)
		wantRefused(t, "a provider that is down", err, fault.OAuthServerError)
		if fault.OAuthErrorOf(err).RetryAfter <= 0 {
			t.Error("without Retry-After")
		}
	}
}

func TestAnAddressThatFailsOftenIsSlowedDown(t *testing.T) {
	s := newEnv(t)
	s.limits.TokenFailure.Limit = 3
	out := s.signIn(t, authorization())
	bad := refreshing("cli", contract.Token{RefreshToken: "x"})
	for range 3 {
		s.refuses(t, "few", bad, fault.OAuthInvalidGrant)
	}
	s.refuses(t, "many", bad, fault.OAuthSlowDown)
	d := s.device(t)
	before := s.Items(t, s.Names.Core)
	s.refuses(t, "then it is served no more", refreshing("cli", out), fault.OAuthSlowDown)
	s.refuses(t, "nor told to wait", polling("cli", d), fault.OAuthSlowDown)
	whole := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(before, s.Items(t, s.Names.Core), whole); diff != "" {
		t.Errorf("something changed (-before +after):\n%s", diff)
	}
	s.clock.Advance(s.limits.TokenFailure.Window)
	for range 4 {
		s.refuses(t, "waiting is no failure", polling("cli", d), fault.OAuthAuthorizationPending)
	}
	s.token(t, refreshing("cli", out))
}

func TestWhoPollsTooFastForLongIsRefusedAltogether(t *testing.T) {
	s := newEnv(t)
	s.limits.TokenFailure.Limit = 3
	d := s.device(t)
	for range limits.PollBurst {
		s.refuses(t, "at first", polling("cli", d), fault.OAuthAuthorizationPending)
	}
	for n := range 4 {
		_, err := s.Token(ctx, polling("cli", d), from, request)
		if r := fault.OAuthErrorOf(err); r.Code != fault.OAuthSlowDown || r.Limited != (n == 3) {
			t.Errorf("poll %d: %+v", limits.PollBurst+n+1, r)
		}
	}
}

func TestAnAddressIsServedSoOftenAndNoMore(t *testing.T) {
	s := newEnv(t)
	out := s.signIn(t, authorization())
	s.clock.Advance(s.limits.Guest.Window)
	s.limits.Guest.Limit = 3
	for range 3 {
		out = s.token(t, refreshing("cli", out))
	}
	_, err := s.Token(ctx, refreshing("cli", out), from, request)
	if r := fault.OAuthErrorOf(err); r.Code != fault.OAuthSlowDown || !r.Limited || r.RetryAfter <= 0 {
		t.Errorf("%+v, want slow_down with a wait", r)
	}
	other := netip.MustParseAddr("198.51.100.1")
	if _, err := s.Token(ctx, refreshing("cli", out), other, request); err != nil {
		t.Error("another address has to wait, or the token was used up by the refusal:", err)
	}
}

// TestCountingAnAddressTakesNoTime counts round trips, because the counters are read concurrently with the first read.
func TestCountingAnAddressTakesNoTime(t *testing.T) {
	s := newEnv(t)
	out := s.signIn(t, authorization())
	s.faults.On("").Always().Before(chaos.Delay(20 * time.Millisecond))
	ctx, counts := meter.With(ctx)
	if _, err := s.Token(ctx, refreshing("cli", out), from, request); err != nil {
		t.Fatal(err)
	}
	if counts.Calls() != 5 || counts.RoundTrips() != 3 {
		t.Errorf("%d calls in %d round trips, want the grant beside two counters, the member, and the rotation",
			counts.Calls(), counts.RoundTrips())
	}
}

func TestPeppersThatRotateLeaveTokensAndCodesAlive(t *testing.T) {
	s := newEnv(t)
	old := keyring.New().Pepper.Keys[0]
	turn := func(ring keyring.Ring) {
		peppers, err1 := ring.Derive("credential")
		chain, err2 := ring.Derive("refresh chain")
		expect.OK(t, err1, err2)
		s.Peppers, s.Chain = peppers, chain
	}
	turn(keyring.Ring{ActiveID: 1, Keys: []keyring.Key{old}})
	first, d := s.signIn(t, authorization()), s.device(t)
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
	if again := s.token(t, refreshing("cli", second)); again.RefreshToken != third.RefreshToken ||
		!s.works(again.AccessToken, apiOrigin) {
		t.Error("without the first key of the chain, the answer is lost")
	}
	s.clock.Advance(time.Minute)
	s.refuses(t, "reused", refreshing("cli", second), fault.OAuthInvalidGrant)
	s.refuses(t, "revoked", refreshing("cli", third), fault.OAuthInvalidGrant)
}

func TestT82AnIDTokenTakesOverNothingThatAgentsMade(t *testing.T) {
	s := newEnv(t)
	p := s.withProvider()
	made := member.New(member.Agents(id.DelegationOf("i", "s", "a"), p.who.Email), s.clock.Now(), "")
	expect.OK(t, s.Stores.Members.Add(ctx, made))
	_, err := s.Token(ctx, exchanging(), from, request)
	if refused := fault.OAuthErrorOf(err); refused.Code != fault.OAuthInvalidRequest ||
		!strings.Contains(refused.Description, "sign in with a browser first") {
		t.Error(refused)
	}
	if m, _, err := s.Stores.Members.ByIdentity(ctx, p.who.Issuer, p.who.Subject); m != nil || err != nil {
		t.Error("the person became a member", m, err)
	}
}
