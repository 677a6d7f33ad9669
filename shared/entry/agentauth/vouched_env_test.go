package agentauth_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/provider"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

const idp = "https://agents.example"

// fakeProviders verifies the tokens that it made. Tests of shared/identity/provider verify real ones.
type fakeProviders struct {
	mu         sync.Mutex
	untrusted  map[string]bool
	assertions map[string]provider.Identity
	events     map[string]provider.Event
}

func newProviders() *fakeProviders {
	return &fakeProviders{
		untrusted:  map[string]bool{},
		assertions: map[string]provider.Identity{},
		events:     map[string]provider.Event{},
	}
}

func (p *fakeProviders) Trusts(issuer string) bool { return !p.untrusted[issuer] }

var errForged = fault.NewOAuth(fault.OAuthInvalidSignature, "forged")

func (p *fakeProviders) Assertion(_ context.Context, token string) (provider.Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who, known := p.assertions[token]
	if !known {
		return who, errForged
	}
	if p.untrusted[who.Issuer] {
		return who, fault.NewOAuth(fault.OAuthInvalidIssuer, "not trusted")
	}
	return who, nil
}

func (p *fakeProviders) Event(_ context.Context, token string) (provider.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, known := p.events[token]
	if !known {
		return e, errForged
	}
	return e, nil
}

// sign returns a new assertion about a person.
func (e *env) sign(subject, email string, edits ...func(*provider.Identity)) string {
	who := provider.Identity{
		Issuer:    idp,
		Name:      "Agents Inc",
		Subject:   subject,
		Audience:  origin,
		ClientID:  "client",
		ID:        string(id.NewPublic()),
		KeyID:     "key-1",
		Email:     email,
		Scopes:    []credential.Scope{credential.Read, credential.Publish},
		AuthTime:  e.now(),
		IssuedAt:  e.now(),
		Expires:   e.now().Add(5 * time.Minute),
		Provision: true,
	}
	for _, edit := range edits {
		edit(&who)
	}
	token := string(id.NewPublic())
	e.providers.mu.Lock()
	defer e.providers.mu.Unlock()
	e.providers.assertions[token] = who
	return token
}

// revocation returns an event that revokes what the provider vouched for.
func (e *env) revocation(subject string, edits ...func(*provider.Event)) string {
	token := string(id.NewPublic())
	revoked := provider.Event{
		Issuer:   idp,
		Subject:  subject,
		Audience: origin,
		ID:       string(id.NewPublic()),
		Digest:   sha256.Sum256([]byte(token)),
		Revoked:  true,
		IssuedAt: e.now(),
		Expires:  e.now().Add(time.Hour),
	}
	for _, edit := range edits {
		edit(&revoked)
	}
	e.providers.mu.Lock()
	defer e.providers.mu.Unlock()
	e.providers.events[token] = revoked
	return token
}

func withIssuer(issuer string) func(*provider.Identity) {
	return func(i *provider.Identity) { i.Issuer, i.Name = issuer, "Other Inc" }
}

func denied(i *provider.Identity) { i.Provision = false }

// vouch sends an assertion.
func (e *env) vouch(token string) (contract.RegisteredAgent, error) {
	return e.Register(ctx, contract.RegisterAgent{
		Type:          contract.AssertionIdentity,
		AssertionType: contract.TypeIDJAG,
		Assertion:     token,
	}, e.from, "test-request")
}

// admitted registers an agent whose person is let in at once.
func (e *env) admitted(subject, email string, edits ...func(*provider.Identity)) contract.RegisteredAgent {
	e.Helper()
	a, err := e.vouch(e.sign(subject, email, edits...))
	e.ok(err)
	return a
}

// asked registers an agent whose person has to agree first.
func (e *env) asked(subject, email string, edits ...func(*provider.Identity)) contract.InteractionRequired {
	e.Helper()
	_, err := e.vouch(e.sign(subject, email, edits...))
	asked, ok := interaction(err)
	if !ok {
		e.Fatal("the person is not asked", err)
	}
	return asked
}

// interaction returns what a person is asked, if err asks one.
func interaction(err error) (contract.InteractionRequired, bool) {
	asked, ok := errors.AsType[*agentauth.Interaction](err)
	if !ok {
		return contract.InteractionRequired{}, false
	}
	return asked.Answer, true
}

// attemptOf returns the token that a verification URI holds.
func attemptOf(a contract.ClaimPrompt) string {
	const before = "https://app.vitrine.test/agent-auth/claim?claim_attempt_token="
	return a.VerificationURI[len(before):]
}

// agree types the code that an agent shows.
func (e *env) agree(by credential.Actor, a contract.InteractionRequired) error {
	return e.complete(by, attemptOf(a.Claim), a.Claim.UserCode)
}

// agreed registers an agent that a member lets in, and redeems its claim token.
func (e *env) agreed(by credential.Actor, subject, email string) (contract.InteractionRequired, contract.Token) {
	e.Helper()
	asked := e.asked(subject, email)
	e.ok(e.agree(by, asked))
	got, err := e.poll(asked.ClaimToken)
	e.ok(err)
	return asked, got
}

// human signs a person in.
func (e *env) human(subject, email string) credential.Actor {
	e.Helper()
	in, err := e.people().SignIn(ctx, e.identity(subject, email), "test-request")
	e.ok(err)
	return e.actor(in)
}

func (e *env) people() *member.Service { return &member.Service{Store: e.Stores.Members, Now: e.now} }

func (e *env) identity(subject, email string) member.Identity {
	return member.Identity{
		Issuer:          "https://people.example",
		Subject:         subject,
		Email:           email,
		AuthenticatedAt: e.now(),
	}
}

func (e *env) actor(in member.SignedIn) credential.Actor {
	return credential.Actor{
		Member:    in.Member.ID,
		Scopes:    in.Member.Scopes,
		Workspace: in.Workspace,
		Policy:    e.limits.Tiers[in.Workspace.Tier()],
		RequestID: "test-request",
	}
}

// takeOver signs in a person whose address only agents used, who keeps some of the delegations.
func (e *env) takeOver(subject, email string, keep ...id.Delegation) credential.Actor {
	e.Helper()
	_, err := e.people().SignIn(ctx, e.identity(subject, email), "test-request")
	asked, ok := errors.AsType[*member.Unconfirmed](err)
	if !ok {
		e.Fatal("the person is not asked", err)
	}
	in, err := (&signin.Takeovers{Store: e.Stores.Takeovers, Now: e.now}).Answer(ctx,
		signin.Question{Who: asked.Who, Member: asked.Member.ID, Workspace: asked.Member.Workspace}, keep, "test-request")
	e.ok(err)
	return e.actor(in)
}

// notify sends a security event.
func (e *env) notify(token string) error { return e.Notify(ctx, token, e.from, "test-request") }

// token exchanges an assertion of ours, which has to succeed.
func (e *env) token(text string) string {
	e.Helper()
	got, err := e.exchange(text)
	e.ok(err)
	return got.AccessToken
}

// wantDead checks that neither the access token nor the assertion of an agent holds.
func (e *env) wantDead(what, access, text string) {
	e.Helper()
	if at := e.works(access); at != "" {
		e.Errorf("%s: the access token works in %s", what, at)
	}
	if _, err := e.exchange(text); codeOf(err) != "invalid_grant" {
		e.Errorf("%s: the assertion is answered %v", what, err)
	}
}

func (e *env) delegation(subject string) delegation.Delegation {
	e.Helper()
	p := delegation.Principal{Issuer: idp, Subject: subject, Audience: origin}
	d, err := e.Stores.Delegations.Delegation(ctx, p.ID())
	e.ok(err)
	if d == nil {
		e.Fatal("no delegation of", subject)
	}
	return *d
}

func idOf(subject string) id.Delegation {
	return delegation.Principal{Issuer: idp, Subject: subject, Audience: origin}.ID()
}

// codes counts the codes of calls that were made at once.
func codes(ends []error) map[string]int {
	counts := map[string]int{}
	for _, err := range ends {
		counts[codeOf(err)]++
	}
	return counts
}
