package dynamo

import (
	"fmt"
	"testing"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
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
	k, by, p := newKeeper(t, d)
	return &logins{d, k, &access.Authenticator{
		Store:       d.Access,
		Peppers:     d.peppers,
		Limits:      d.api.Limits,
		Environment: credential.Preview,
		Now:         k.Now,
	}}, by, p
}

func (l *logins) key(t testing.TB, by credential.Actor) string {
	t.Helper()
	made, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "K", 0)
	if err != nil {
		t.Fatal(err)
	}
	return made.Secret
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
		if err := l.Grants.Revoke(ctx, p.grant.Public, at, record(p.home.ID, at)); err != nil {
			t.Fatal(err)
		}
	}
	if l.works(one) || l.works(two) || !l.works(own) || !l.works(kept) {
		t.Errorf("work: %t %t, in a browser %t, by another login %t", l.works(one), l.works(two), l.works(own), l.works(kept))
	}
	if k, err := l.Keys.Key(ctx, parsedKey(t, one).Public); err != nil || !k.RevokedAt.Equal(first) ||
		len(k.Hash.MAC) == 0 {
		t.Errorf("%+v %v", k, err)
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
		errs := parallel(4, func(n int) error {
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
	if err := l.Grants.Revoke(ctx, p.grant.Public, now(), record(p.home.ID, now())); err != nil {
		t.Fatal(err)
	}
	for n, s := range all {
		if l.works(s) {
			t.Errorf("key %d outlives the login", n)
		}
	}
}

// TestKeysEndWithGrantsOfTheCLIAlone tries every credential.
func TestKeysEndWithGrantsOfTheCLIAlone(t *testing.T) {
	d := newDesk(t)
	for client, login := range map[id.Client]bool{oauth.CLI: true, oauth.Dashboard: false} {
		p := d.person(t, func(p *person) { p.grant.Client = client })
		want := credential.CLIGrant{At: p.grant.CreatedAt}
		if login {
			want.Grant = p.grant.Public
		}
		if by := d.actor(t, p); by.CLIGrant != want {
			t.Errorf("%s: %+v", client, by.CLIGrant)
		}
	}
}

func parsedKey(t testing.TB, secret string) credential.Token {
	t.Helper()
	token, err := credential.Parse(secret, credential.APIKey, credential.Preview)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
