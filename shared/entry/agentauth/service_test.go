package agentauth_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/entry/access"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

var ctx = context.Background()

const origin = "https://api.vitrine.test"

// env is the service on tables of its own, with a clock that tests move.
type env struct {
	testing.TB
	*agentauth.Service
	tables.Tables
	rings   keyring.Set
	claimer *claim.Service
	keys    *access.Authenticator
	links   *delegation.Service

	providers *fakeProviders
	clock     *clock.Clock
	limits    limits.Limits
	from      netip.Addr
}

// newEnv passes the requests to the tables through options.
func newEnv(t testing.TB, options ...func(*middleware.Stack) error) *env {
	t.Helper()
	w := &env{
		TB:     t,
		Tables: tables.New(t, options...),
		rings:  keyring.New(),
		limits: limits.Default(),
		from:   netip.MustParseAddr("203.0.113.9"),
		clock:  clock.New(time.Now().UTC().Truncate(time.Millisecond)),

		providers: newProviders(),
	}
	if err := w.Stores.Workspaces.InitQuota(ctx, ephemeral.Quota{PerMinute: limits.ProvisionQuota}, w.now()); err != nil {
		t.Fatal(err)
	}
	w.assemble()
	return w
}

func (e *env) assemble() {
	e.Helper()
	peppers, err1 := e.rings.Pepper.Derive("credential")
	nonces, err2 := e.rings.Pepper.Derive("pow")
	signer, err3 := assertion.New(e.rings.Assertion, origin)
	cursors, err4 := cursor.New(e.rings.Seal)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			e.Fatal(err)
		}
	}
	limiter := &rate.Limiter{Counters: e.Stores.Counters, Limits: &e.limits, Now: e.now}
	e.links = &delegation.Service{Store: e.Stores.Delegations, Cursors: cursors, Now: e.now}
	e.Service = &agentauth.Service{
		Providers:   e.providers,
		Delegations: e.Stores.Delegations,
		Revocations: e.links,
		Store:       e.Stores.Registrations,
		Mover:       e.Stores.Claims,
		Artifacts:   e.Stores.Artifacts,
		Counters:    e.Stores.Counters,
		Failures:    e.Stores.Counters,
		Limiter:     limiter,
		Limits:      &e.limits,
		Signer:      signer,
		Peppers:     peppers,
		Cursors:     cursors,
		Environment: credential.Preview,
		Origins:     address.Origins{API: origin, App: "https://app.vitrine.test"},
		Now:         e.now,
		Admission: &ephemeral.Provisioner{
			Store:       e.Stores.Workspaces,
			Limiter:     limiter,
			Counters:    e.Stores.Counters,
			Limits:      &e.limits,
			Pow:         &pow.Service{Keys: nonces, Store: e.Stores.Counters, Now: e.now},
			Peppers:     peppers,
			Environment: credential.Preview,
			Now:         e.now,
		},
	}
	e.claimer = &claim.Service{
		Store:       e.Stores.Claims,
		Artifacts:   e.Stores.Artifacts,
		Peppers:     peppers,
		Environment: credential.Preview,
		Now:         e.now,
	}
	e.keys = &access.Authenticator{
		Store:       e.Stores.Access,
		Peppers:     peppers,
		Limits:      &e.limits,
		Environment: credential.Preview,
		Now:         e.now,
	}
}

func (e *env) now() time.Time { return e.clock.Now() }

func (e *env) wait(d time.Duration) { e.clock.Advance(d) }

// ok ends the test unless err is nil.
func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// wantCode checks the code of a failure, of either kind; "" is none.
func (e *env) wantCode(err error, code string) {
	e.Helper()
	if got := codeOf(err); got != code {
		e.Errorf("answers %q (%v), want %q", got, err, code)
	}
}

func codeOf(err error) string {
	if r, ok := errors.AsType[*fault.OAuthError](err); ok {
		return string(r.Code)
	}
	return string(fault.CodeOf(err))
}

// agent registers an agent, beyond the rate limits of the agents before.
func (e *env) agent() contract.RegisteredAgent {
	e.Helper()
	a, err := e.Register(ctx, contract.RegisterAgent{Type: contract.AnonymousType}, e.from, "test-request")
	e.ok(err)
	return a
}

// person creates a member with a workspace.
func (e *env) person() credential.Actor {
	e.Helper()
	p := e.Join(e, e.now())
	p.Policy = e.limits.Tiers[p.Workspace.Tier()]
	p.RequestID = "test-request"
	return p
}

func (e *env) start(claimToken string) contract.StartedClaim {
	e.Helper()
	s, err := e.StartClaim(ctx, contract.StartClaim{ClaimToken: claimToken}, admitAll, "test-request")
	e.ok(err)
	return s
}

func (e *env) complete(by credential.Actor, attempt, code string) error {
	_, err := e.Complete(ctx, by, contract.CompleteClaim{AttemptToken: attempt, UserCode: code})
	return err
}

// claimed registers an agent that a person accepts.
func (e *env) claimed() (contract.RegisteredAgent, credential.Actor) {
	e.Helper()
	a, p := e.agent(), e.person()
	s := e.start(a.ClaimToken)
	e.ok(e.complete(p, s.AttemptToken, s.UserCode))
	return a, p
}

// admitAll admits every address.
func admitAll() error { return nil }

func (e *env) poll(claimToken string) (contract.Token, error) {
	return e.Redeem(ctx, claimToken, admitAll, "test-request")
}

func (e *env) exchange(text string) (contract.Token, error) {
	return e.Exchange(ctx, agentauth.Exchange{Assertion: text}, admitAll)
}

// works returns the workspace in which a bearer secret authenticates; empty: it does not.
func (e *env) works(secret string) id.Workspace {
	e.Helper()
	o, err := e.keys.Authenticate(ctx, secret, access.Request{}, "test-request")
	if fault.CodeOf(err) == fault.NotAuthenticated {
		return ""
	}
	e.ok(err)
	return o.Actor.Workspace.ID
}

// registration reads the stored registration of an agent.
func (e *env) registration(r id.Registration) agentauth.Registration {
	e.Helper()
	found, _, err := e.Stores.Registrations.Registration(ctx, r, id.NoWorkspace)
	e.ok(err)
	if found == nil {
		e.Fatal("no registration", r)
	}
	return *found
}

// otherCode returns a code of six digits that is not code.
func otherCode(code string) string { return string('0'+(code[0]-'0'+1)%10) + code[1:] }

func command() idempotency.Command {
	return idempotency.Command{
		Key:         idempotency.Key{Actor: string(id.NewMember()), Operation: "test", Client: string(id.NewPublic())},
		Fingerprint: sha256.Sum256([]byte("body")),
	}
}

func TestAnAgentPublishesUnclaimedThenInItsPersonsWorkspace(t *testing.T) {
	w := newEnv(t)
	a, p := w.agent(), w.person()
	before, err := w.exchange(a.IdentityAssertion)
	w.ok(err)
	source := w.registration(a.RegistrationID).Workspace
	if before.TokenType != "Bearer" || before.ExpiresIn != 3600 || before.Scope != "read publish" ||
		before.IdentityAssertion != "" || w.works(before.AccessToken) != source {
		t.Fatalf("%+v in %s, want a token for an hour without an assertion", before, w.works(before.AccessToken))
	}
	_, err = w.poll(a.ClaimToken)
	w.wantCode(err, "authorization_pending")
	s := w.start(a.ClaimToken)
	seen, err := w.Preview(ctx, p, s.AttemptToken)
	w.ok(err)
	if seen.Registration != a.RegistrationID || seen.Network != "203.0.113.0/24" || seen.Count != 0 ||
		len(seen.Artifacts) != 0 {
		t.Errorf("%+v, want the registration and no artifacts", seen)
	}
	w.ok(w.complete(p, s.AttemptToken, " "+s.UserCode+" "))
	after, err := w.poll(a.ClaimToken)
	w.ok(err)
	if w.works(after.AccessToken) != p.Workspace.ID || w.works(before.AccessToken) != "" {
		t.Error("the claim did not move the agent's access")
	}
	if !time.Time(after.AssertionExpires.Time).Equal(a.AssertionExpires.Time) {
		t.Error("the new assertion ends", after.AssertionExpires)
	}
	again, err := w.exchange(after.IdentityAssertion)
	w.ok(err)
	if w.works(again.AccessToken) != p.Workspace.ID {
		t.Error("the new assertion gives no access")
	}
	if key, _ := w.keys.Authenticate(ctx, again.AccessToken, access.Request{}, ""); key.Actor.Key.FromAgent ||
		key.Actor.Key.Registration != a.RegistrationID || key.Actor.Key.Name != "Agent auth" {
		t.Errorf("%+v, want the key of the registration", key.Actor.Key)
	}
}

func TestWhatARegistrationAnswers(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	if a.RegistrationType != "anonymous" || a.ClaimURL != origin+"/agent/identity/claim" ||
		!a.ClaimTokenExpires.Equal(a.AssertionExpires.Time) {
		t.Errorf("%+v, want an anonymous registration that can be claimed", a)
	}
	if got := a.AssertionExpires.Sub(w.now()); got > limits.RegistrationLife || got < limits.RegistrationLife-time.Second {
		t.Error("the assertion lives", got)
	}
	c, err := w.Signer.Verify(a.IdentityAssertion, w.now())
	w.ok(err)
	if c.Registration != a.RegistrationID || c.Type != "anonymous" || c.Phase != assertion.PreClaim ||
		!c.ExpiresAt.Equal(a.AssertionExpires.Time) {
		t.Errorf("%+v, want claims of before the claim", c)
	}
	s := w.start(a.ClaimToken)
	if s.UserCode != s.Claim.UserCode || len(s.UserCode) != 6 || s.Claim.ExpiresIn != 600 || s.Claim.Interval != 5 ||
		s.Claim.VerificationURI != "https://app.vitrine.test/agent-auth/claim?claim_attempt_token="+s.AttemptToken ||
		s.ClaimToken != a.ClaimToken {
		t.Errorf("%+v, want a code of six characters for ten minutes", s)
	}
}

func TestOnlyAnonymousRegistrationsAreTaken(t *testing.T) {
	w := newEnv(t)
	w.Providers = nil
	jag := "urn:ietf:params:oauth:token-type:id-jag"
	for _, tt := range []struct {
		asked contract.RegisterAgent
		code  string
	}{
		{contract.RegisterAgent{}, "invalid_request"},
		{contract.RegisterAgent{Type: "service_auth"}, "invalid_request"},
		{contract.RegisterAgent{Type: "Anonymous"}, "invalid_request"},
		{contract.RegisterAgent{Type: "identity_assertion"}, "invalid_request"},
		{contract.RegisterAgent{Type: "identity_assertion", AssertionType: jag}, "invalid_request"},
		{contract.RegisterAgent{Type: "identity_assertion", AssertionType: "jwt", Assertion: "x"}, "invalid_request"},
		{contract.RegisterAgent{Type: "identity_assertion", AssertionType: jag, Assertion: "x"}, "temporarily_unavailable"},
	} {
		_, err := w.Register(ctx, tt.asked, w.from, "")
		w.wantCode(err, tt.code)
	}
}

func TestWhereNoAgentRegistersWithoutAPersonTheOthersGoOn(t *testing.T) {
	w := newEnv(t)
	a, p := w.agent(), w.person()
	w.NoAnonymous = true
	admission, limiter, signer := w.Admission, w.Limiter, w.Signer
	for name, change := range map[string]func(){
		"as it is":        func() {},
		"without signing": func() { w.Signer = nil },
	} {
		w.Admission, w.Limiter = nil, nil // whoever counts panics
		change()
		_, err := w.Register(ctx, contract.RegisterAgent{Type: contract.AnonymousType}, w.from, "")
		w.wantCode(err, "access_denied")
		if said := fault.OAuthErrorOf(err).Description; !strings.Contains(said, "vitrine login") ||
			!strings.Contains(said, "https://app.vitrine.test") {
			t.Errorf("%s: %q does not say how to sign in", name, said)
		}
		w.Admission, w.Limiter, w.Signer = admission, limiter, signer
	}
	_, err := w.Register(ctx, contract.RegisterAgent{Type: "service_auth"}, w.from, "")
	w.wantCode(err, "invalid_request")
	if said := fault.OAuthErrorOf(err).Description; strings.Contains(said, "anonymous") {
		t.Errorf("%q offers what is refused", said)
	}
	_, err = w.Register(ctx, contract.RegisterAgent{
		Type:          contract.AssertionIdentity,
		AssertionType: contract.TypeIDJAG,
		Assertion:     w.sign("ada", "ada@example.com"),
	}, w.from, "")
	w.ok(err)
	before, err := w.exchange(a.IdentityAssertion)
	w.ok(err)
	if w.works(before.AccessToken) == "" {
		t.Error("an agent that registered before gets no access")
	}
	s := w.start(a.ClaimToken)
	w.ok(w.complete(p, s.AttemptToken, s.UserCode))
	after, err := w.poll(a.ClaimToken)
	w.ok(err)
	if w.works(after.AccessToken) != p.Workspace.ID {
		t.Error("an agent that registered before cannot be claimed")
	}
}

func TestWithoutASigningKeyEveryRouteSaysSo(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	w.Signer = nil
	_, err1 := w.Register(ctx, contract.RegisterAgent{Type: "anonymous"}, w.from, "")
	_, err2 := w.StartClaim(ctx, contract.StartClaim{ClaimToken: a.ClaimToken}, admitAll, "")
	_, err3 := w.exchange(a.IdentityAssertion)
	_, err4 := w.poll(a.ClaimToken)
	for _, err := range []error{err1, err2, err3, err4} {
		w.wantCode(err, "temporarily_unavailable")
	}
}

func TestRegistrationsPassAGateOfTheirOwn(t *testing.T) {
	w := newEnv(t)
	w.wait(w.now().Truncate(time.Minute).Add(time.Minute).Sub(w.now())) // the start of a minute of the rate limit
	register := func(n int) error {
		_, err := w.Register(ctx, contract.RegisterAgent{Type: "anonymous"},
			netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}), "")
		return err
	}
	for n := range limits.ProvisionQuota {
		w.ok(register(n))
	}
	full, isRefusal := errors.AsType[*fault.OAuthError](register(100))
	if !isRefusal || full.Code != fault.OAuthProvisionRateLimited || !full.Limited || full.RetryAfter != time.Minute {
		t.Error(full)
	}
	w.wait(time.Minute)
	w.ok(register(101))
}

func TestOneAddressRegistersTenAgentsAMinute(t *testing.T) {
	w := newEnv(t)
	for range w.limits.ProvisionAddress.Limit {
		w.agent()
	}
	_, err := w.Register(ctx, contract.RegisterAgent{Type: "anonymous"}, w.from, "")
	w.wantCode(err, "ephemeral_provision_rate_limited")
	_, err = w.Register(ctx, contract.RegisterAgent{Type: "anonymous"}, netip.Addr{}, "")
	r, isRefusal := errors.AsType[*fault.OAuthError](err)
	if !isRefusal || r.Code != fault.OAuthProvisionUnavailable || !r.Limited || r.RetryAfter <= 0 {
		t.Error("an unknown address:", err)
	}
}
