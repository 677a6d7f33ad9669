package dynamo

import (
	"fmt"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// logins are members of a desk with what they make.
type logins struct {
	*desk
	*credential.Service
	keys *access.Authenticator
}

func newLogins(t *testing.T) (*logins, credential.Actor, *person) {
	t.Helper()
	d := newDesk(t)
	p := d.person(t)
	k := newKeeper(t, d)
	return &logins{d, k, &access.Authenticator{
		Store:       d.Access,
		Peppers:     d.peppers,
		Limits:      d.api.Limits,
		Environment: credential.Preview,
		Now:         k.Now,
	}}, d.actor(t, p), p
}

// made makes a key with a name, which has to succeed.
func (l *logins) made(t testing.TB, by credential.Actor, name string) credential.Created {
	t.Helper()
	return must(l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, name, 0))(t)
}

// key makes a key and returns its secret.
func (l *logins) key(t testing.TB, by credential.Actor) string {
	t.Helper()
	return l.made(t, by, "K").Secret
}

// revoke ends a key, which has to succeed.
func (l *logins) revoke(t testing.TB, by credential.Actor, which id.Key) credential.Key {
	t.Helper()
	return must(l.Revoke(ctx, by, wish(by, idempotency.RevokeKey, string(which)), nil, which))(t)
}

// agentKey stores the API key of an agent that is registered in the workspace of a person.
func (l *logins) agentKey(t testing.TB, p *person, life time.Duration) credential.Token {
	t.Helper()
	token := credential.Mint(credential.APIKey, credential.Preview, p.home.ID, "")
	store(t, l.Stores, apiKeyItem(credential.Key{
		ID:           id.NewKey(token.Public),
		Public:       token.Public,
		Workspace:    p.home.ID,
		Hash:         token.Hash(l.peppers),
		Name:         "Agent auth",
		Scopes:       []credential.Scope{credential.Publish, credential.Read},
		Epoch:        p.home.Epoch,
		Registration: id.RegistrationOf(id.NewPublic()),
		CreatedAt:    l.clock,
		ExpiresAt:    l.clock.Add(life),
	}))
	return token
}

// deeds are the events of members, newest first.
func (l *logins) deeds(t testing.TB, by credential.Actor) []event.Event {
	t.Helper()
	f := account.Filter{Workspace: by.Workspace.ID, Actors: []string{"member"}}
	events, _, _, err := l.Events.List(ctx, f, l.clock, noPosition, 10)
	noError(t, err)
	return events
}

func (l *logins) works(secret string) bool {
	_, err := l.keys.Authenticate(ctx, secret, access.Request{}, "")
	return err == nil
}

// elsewhere is the same member in a browser; its keys belong to no login.
func elsewhere(by credential.Actor) credential.Actor {
	by.Client, by.CLIGrant.Grant = "", ""
	return by
}

func TestTheKeysOfALoginEndWithIt(t *testing.T) {
	l, by, p := newLogins(t)
	one := l.key(t, by)
	two := l.key(t, by)
	own := l.key(t, elsewhere(by))
	other := l.person(t, func(q *person) {
		q.member, q.home = p.member, p.home
		q.grant.Member, q.grant.Workspace = p.member.ID, p.home.ID
	})
	second := by
	second.CLIGrant = credential.CLIGrant{Grant: other.grant.Public, At: other.grant.CreatedAt}
	kept := l.key(t, second)
	first := now()
	for _, at := range []time.Time{first, first.Add(time.Hour)} {
		noError(t, l.Grants.Revoke(ctx, p.grant.Public, at, record(p.home.ID, at)))
	}
	if l.works(one) || l.works(two) || !l.works(own) || !l.works(kept) {
		t.Errorf("work: %t %t, in a browser %t, by another login %t", l.works(one), l.works(two), l.works(own), l.works(kept))
	}
	if k, err := l.Keys.Key(ctx, parsedKey(t, one).Public); err != nil || !k.RevokedAt.Equal(first) ||
		len(k.Hash.MAC) == 0 {
		t.Errorf("%+v %v, want it revoked at the first logout", k, err)
	}
	_, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "late", 0)
	if fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("a login that ended makes a key: %v", err)
	}
}

// TestAKeyIsMadeWhileItsLoginEnds lets both race: in either order no key outlives its login.
func TestAKeyIsMadeWhileItsLoginEnds(t *testing.T) {
	l, _, p := newLogins(t)
	for range 10 {
		q := l.person(t, func(q *person) {
			q.member, q.home = p.member, p.home
			q.grant.Member, q.grant.Workspace = p.member.ID, p.home.ID
		})
		by := l.actor(t, p)
		by.CLIGrant = credential.CLIGrant{Grant: q.grant.Public, At: q.grant.CreatedAt}
		secrets := make([]string, 4)
		errs := parallel.Calls(4, func(n int) error {
			if n == 3 {
				return l.Grants.Revoke(ctx, q.grant.Public, now(), record(p.home.ID, now()))
			}
			made, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, fmt.Sprint(n), 0)
			if err == nil {
				secrets[n] = made.Secret
			}
			return nil // the login may have ended already
		})
		if errs[3] != nil {
			t.Fatal(errs[3])
		}
		for _, s := range secrets {
			if l.works(s) {
				t.Fatal("a key outlives its login")
			}
		}
	}
}

func TestALoginMakesAFewKeysOnly(t *testing.T) {
	l, by, p := newLogins(t)
	var all []string
	for range limits.LoginKeys {
		all = append(all, l.key(t, by))
	}
	if _, err := l.Create(
		ctx, by, wish(by, idempotency.CreateKey, ""), nil, "more", 0,
	); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("one more: %v", err)
	}
	l.key(t, elsewhere(by))
	noError(t, l.Grants.Revoke(ctx, p.grant.Public, now(), record(p.home.ID, now())))
	for n, s := range all {
		if l.works(s) {
			t.Errorf("key %d outlives the login", n)
		}
	}
}

func parsedKey(t testing.TB, secret string) credential.Token {
	t.Helper()
	token := must(credential.Parse(secret, credential.APIKey, credential.Preview))(t)
	return token
}
