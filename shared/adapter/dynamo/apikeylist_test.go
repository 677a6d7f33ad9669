package dynamo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// oldKeys stores n keys of a member as code wrote them that knew no count, no list of revoked keys and no sign-ins.
// They are made after the clock of the desk, each a millisecond after the one before.
func (d *desk) oldKeys(t testing.TB, p *person, n int, change func(*credential.Key)) []credential.Key {
	t.Helper()
	keys, items := make([]credential.Key, n), make([]item, n)
	for i := range keys {
		public := id.NewPublic()
		keys[i] = credential.Key{
			ID:        id.NewKey(public),
			Public:    public,
			Workspace: p.home.ID,
			Name:      fmt.Sprintf("old %d", i),
			Member:    p.member.ID,
			Epoch:     p.home.Epoch,
			Scopes:    []credential.Scope{credential.Publish, credential.Read},
			CreatedAt: d.clock.Add(time.Duration(i+1) * time.Millisecond),
		}
		change(&keys[i])
		items[i] = apiKeyItem(keys[i])
	}
	for some := range slices.Chunk(items, maxBatch) {
		store(t, d.Stores, some...)
	}
	return keys
}

func asTheyAre(*credential.Key) {}

// browser is a member of a desk signed in to the app host, with what the workspace says now.
func (l *logins) browser(t testing.TB, p *person) credential.Actor {
	t.Helper()
	w := must(l.Workspaces.Workspace(ctx, p.home.ID))(t)
	return credential.Actor{
		Member:    p.member.ID,
		CLIGrant:  credential.CLIGrant{At: l.clock},
		Scopes:    p.member.Scopes,
		Workspace: *w,
	}
}

// stored is the key of a secret.
func (l *logins) stored(t testing.TB, secret string) credential.Key {
	t.Helper()
	k, err := l.Keys.Key(ctx, parsedKey(t, secret).Public)
	if err != nil || k == nil {
		t.Fatal(k, err)
	}
	return *k
}

// walk reads a list to its end, page by page.
func (l *logins) walk(t testing.TB, by credential.Actor, which credential.Which, limit int) (rows []credential.Key) {
	t.Helper()
	for page := (cursor.Page{Limit: limit}); ; {
		list, next, err := l.List(ctx, by, which, page)
		noError(t, err)
		rows = append(rows, list...)
		if next != "" && len(list) != limit || len(list) > limit {
			t.Fatalf("%d keys, %+v", len(list), next)
		}
		if next == "" {
			return rows
		}
		page.Cursor = next
	}
}

func (l *logins) signOut(t testing.TB, p *person) {
	t.Helper()
	l.clock = l.clock.Add(time.Minute)
	noError(t, l.Members.SignOut(ctx, p.home.ID, p.member.ID, l.clock, record(p.home.ID, l.clock)))
}

// TestALiveKeyIsListedHoweverManyWereRevoked hides a key behind a thousand others, some revoked by older code.
func TestALiveKeyIsListedHoweverManyWereRevoked(t *testing.T) {
	l, _, p := newLogins(t)
	by := l.browser(t, p)
	secret := l.key(t, by)
	hidden := parsedKey(t, secret).Public
	l.oldKeys(t, p, 970, func(k *credential.Key) { k.RevokedAt = k.CreatedAt })
	l.clock = l.clock.Add(time.Minute)
	for range 30 {
		l.revoke(t, by, l.stored(t, l.key(t, by)).ID)
	}
	if rows := l.walk(t, by, credential.LiveKeys, 50); len(rows) != 1 || rows[0].Public != hidden ||
		!rows[0].RevokedAt.IsZero() {
		t.Errorf("live: %+v", rows)
	}
	rows := l.walk(t, by, credential.AllKeys, 100)
	seen := map[id.Public]bool{}
	for n, k := range rows {
		seen[k.Public] = true
		if k.RevokedAt.IsZero() != (k.Public == hidden) || n > 0 && k.CreatedAt.After(rows[n-1].CreatedAt) {
			t.Errorf("row %d: %+v", n, k)
		}
	}
	if len(rows) != 1001 || len(seen) != 1001 {
		t.Errorf("%d rows, %d keys", len(rows), len(seen))
	}
	if ended := l.walk(t, by, credential.EndedKeys, 100); len(ended) != 1000 {
		t.Errorf("%d ended", len(ended))
	}
	one, err := l.Key(ctx, by, l.stored(t, secret).ID)
	if err != nil || one.Public != hidden || !one.RevokedAt.IsZero() || !l.works(secret) {
		t.Errorf("by its id: %+v %v", one, err)
	}
	l.revoke(t, by, one.ID)
	if one, err = l.Key(ctx, by, one.ID); err != nil || one.RevokedAt.IsZero() || l.works(secret) {
		t.Errorf("revoked: %+v %v", one, err)
	}
}

func TestSigningOutEverywhereEndsAllKeysThatTheMemberMade(t *testing.T) {
	l, cli, p := newLogins(t)
	token := cli
	token.CLIGrant.Grant = "" // of the dashboard client
	by := l.browser(t, p)
	secrets := []string{l.key(t, by), l.key(t, token), l.key(t, cli)}
	agents := l.agentKey(t, p, time.Hour)
	old := l.oldKeys(t, p, 3, asTheyAre)
	l.signOut(t, p)
	secrets = append(secrets, l.key(t, by)) // it was let in before, and is late
	for n, s := range secrets {
		if l.works(s) {
			t.Errorf("key %d works", n)
		}
	}
	if !l.works(agents.Reveal()) {
		t.Error("the agent was signed out")
	}
	now := l.browser(t, p)
	for _, k := range old {
		if stored, err := l.Keys.Key(ctx, k.Public); err != nil || stored.Live(l.clock, now.Workspace) {
			t.Errorf("%+v %v still lives", stored, err)
		}
	}
	if rows := l.walk(t, now, credential.LiveKeys, 50); len(rows) != 1 || rows[0].Public != agents.Public {
		t.Errorf("live: %+v", rows)
	}
	for _, k := range l.walk(t, now, credential.AllKeys, 2) {
		if k.RevokedAt.IsZero() != (k.Public == agents.Public) {
			t.Errorf("the list says %+v", k)
		}
	}
	l.clock = l.clock.Add(time.Second)
	if !l.works(l.key(t, l.browser(t, p))) {
		t.Error("the key of a later session does not work")
	}
}

// TestASignOutOfBeforeEndsNoKeysThatWereToLive has a sign-out that older code wrote, which ended logins of the CLI
// only.
func TestASignOutOfBeforeEndsNoKeysThatWereToLive(t *testing.T) {
	l, _, p := newLogins(t)
	k := l.oldKeys(t, p, 1, asTheyAre)[0]
	l.clock = l.clock.Add(time.Minute)
	if _, _, err := l.change(
		ctx, workspaceKey(p.home.ID), "SET #logins_out = :now", "attribute_exists(#pk)", values{"now": l.clock},
	); err != nil {
		t.Fatal(err)
	}
	if rows := l.walk(t, l.browser(t, p), credential.LiveKeys, 50); len(rows) != 1 || rows[0].ID != k.ID {
		t.Errorf("%+v, want the new key alone", rows)
	}
}

func TestCursorsOfKeysOpenTheirListAlone(t *testing.T) {
	l, _, p := newLogins(t)
	by, other := l.browser(t, p), l.browser(t, l.person(t))
	l.oldKeys(t, p, 3, asTheyAre)
	list := func(by credential.Actor, which credential.Which, page cursor.Page) (string, error) {
		_, next, err := l.List(ctx, by, which, page)
		return next, err
	}
	first := must(list(by, credential.AllKeys, cursor.Page{Limit: 2}))(t)
	next := cursor.Page{Cursor: first}
	for name, try := range map[string]func() (string, error){
		"another workspace": func() (string, error) { return list(other, credential.AllKeys, next) },
		"another list":      func() (string, error) { return list(by, credential.LiveKeys, next) },
		"tampered": func() (string, error) {
			return list(by, credential.AllKeys, cursor.Page{Cursor: next.Cursor + "A"})
		},
		"a day later": func() (string, error) {
			defer func(at time.Time) { l.clock = at }(l.clock)
			l.clock = l.clock.Add(limits.CursorLife)
			return list(by, credential.AllKeys, next)
		},
	} {
		if _, err := try(); fault.CodeOf(err) != fault.InvalidCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := list(by, credential.AllKeys, cursor.Page{Limit: limits.MaxPage + 1})
	if fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("a limit that no page has: %v", err)
	}
}

// full refuses one more key, and says what to do.
func (l *logins) full(t testing.TB, by credential.Actor) {
	t.Helper()
	_, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "one more", 0)
	if fault.CodeOf(err) != fault.Forbidden || !strings.Contains(fault.Of(err).Message, "revoke one") {
		t.Errorf("one more: %v", err)
	}
}

// TestAThousandKeysLiveInAWorkspace begins with keys that are not counted.
func TestAThousandKeysLiveInAWorkspace(t *testing.T) {
	l, cli, p := newLogins(t)
	by := l.browser(t, p)
	l.oldKeys(t, p, 5, func(k *credential.Key) { k.RevokedAt = k.CreatedAt })
	l.oldKeys(t, p, 5, func(k *credential.Key) { k.ExpiresAt = l.clock })
	l.oldKeys(t, p, 5, func(k *credential.Key) { k.Member, k.Registration = "", id.RegistrationOf(id.NewPublic()) })
	old := l.oldKeys(t, p, limits.LiveKeys-2, asTheyAre)
	own, login := l.key(t, by), l.key(t, cli)
	l.full(t, by)
	l.full(t, cli)

	l.revoke(t, by, old[0].ID)
	l.revoke(t, by, old[0].ID)
	l.key(t, by)
	l.full(t, by)

	for range 2 {
		must(l.Keys.Revoke(ctx, l.stored(t, own), l.clock, record(p.home.ID, l.clock)))(t)
	}
	l.key(t, by)
	l.full(t, by)

	for range 2 {
		noError(t, l.Grants.Revoke(ctx, p.grant.Public, l.clock, record(p.home.ID, l.clock)))
	}
	if l.works(login) {
		t.Error("a key outlives its login")
	}
	l.key(t, by)
	l.full(t, by)

	l.signOut(t, p)
	l.clock = l.clock.Add(time.Second)
	again := l.browser(t, p)
	if !l.works(l.key(t, again)) {
		t.Error("the key of a later session does not work")
	}
	if live := l.counted(t, p); len(live) != 1 {
		t.Errorf("%d are counted", len(live))
	}
}

// counted are the keys that the workspace of a person counts.
func (d *desk) counted(t testing.TB, p *person) []string {
	t.Helper()
	i := must(d.get(ctx, liveKeysKey(p.home.ID)))(t)
	return i.getSet("live")
}

// create stores a key of a workspace that has at most so many; a life of 0 has no end.
func (l *logins) create(by credential.Actor, most int, life time.Duration) error {
	public := id.NewPublic()
	k := credential.Key{
		ID:        id.NewKey(public),
		Public:    public,
		Workspace: by.Workspace.ID,
		Member:    by.Member,
		CLIGrant:  by.CLIGrant,
		Epoch:     by.Workspace.Epoch,
		CreatedAt: l.clock,
	}
	if life > 0 {
		k.ExpiresAt = l.clock.Add(life)
	}
	return l.Keys.Create(ctx, credential.Creation{
		Command: wish(by, idempotency.CreateKey, ""),
		Key:     k,
		Most:    most,
		Event:   record(by.Workspace.ID, l.clock),
	})
}

func TestKeysThatExpiredMakeRoom(t *testing.T) {
	l, _, p := newLogins(t)
	by := l.browser(t, p)
	noError(t, errors.Join(l.create(by, 2, time.Minute), l.create(by, 2, 0)))
	if err := l.create(by, 2, 0); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("a third one: %v", err)
	}
	l.clock = l.clock.Add(time.Minute)
	if err := l.create(by, 2, 0); err != nil {
		t.Errorf("after one has expired: %v", err)
	}
	if err := l.create(by, 2, 0); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("another one: %v", err)
	}
}

// TestKeysAreNotCountedWithoutTheirList makes a key in a workspace that is full of keys of before the count.
func TestKeysAreNotCountedWithoutTheirList(t *testing.T) {
	l, _, p := newLogins(t)
	by := l.browser(t, p)
	l.oldKeys(t, p, 2, asTheyAre)
	faults := chaos.For(t)
	faults.On("Query").Before(chaos.Fail(errors.New("no list")))
	l.Keys = New(newClient(t, faults.Add), l.tables).Keys
	for _, want := range []fault.Code{fault.DatabaseUnavailable, fault.Forbidden} {
		if err := l.create(by, 2, 0); fault.CodeOf(err) != want {
			t.Errorf("a third key: %v, want %s", err, want)
		}
	}
}

// TestKeysThatAreMadeAtOnceStayWithinTheLimit lets new keys race with each other and with a revocation.
func TestKeysThatAreMadeAtOnceStayWithinTheLimit(t *testing.T) {
	l, _, p := newLogins(t)
	by := l.browser(t, p)
	const most, tries = 3, 8
	first := l.oldKeys(t, p, most-1, asTheyAre)
	n := winners(t, parallel.Calls(tries+1, func(n int) error {
		if n < tries {
			return l.create(by, most, 0)
		}
		_, err := l.Revoke(ctx, by, wish(by, idempotency.RevokeKey, string(first[0].ID)), nil, first[0].ID)
		return err
	}), func(err error) bool { // too many there are, or it met too many others
		return fault.CodeOf(err) == fault.Forbidden || fault.CodeOf(err) == fault.DatabaseUnavailable
	}) - 1
	rows := l.walk(t, by, credential.LiveKeys, 50)
	if n < 1 || len(rows) > most || len(rows) != n+most-2 || len(l.counted(t, p)) != len(rows) {
		t.Errorf("%d were made, %d live, %d are counted", n, len(rows), len(l.counted(t, p)))
	}
}

func TestAKeyThatEndedLeavesTheListWhenNobodyMissesIt(t *testing.T) {
	l, _, p := newLogins(t)
	by := l.browser(t, p)
	leaves := func(of id.Public) time.Time {
		i := must(l.get(ctx, apiKeyKey(of)))(t)
		return i.getSeconds("ttl")
	}
	forGood := l.stored(t, l.key(t, by))
	made := must(l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "for an hour", time.Hour))(t)
	got := leaves(made.Key.Public)
	want := l.clock.Add(time.Hour + limits.EndedKeyLife).Truncate(time.Second)
	if !leaves(forGood.Public).IsZero() || !got.Equal(want) {
		t.Errorf("they leave %s and %s, want never and %s", leaves(forGood.Public), got, want)
	}
	l.revoke(t, by, forGood.ID)
	if got, want := leaves(forGood.Public), l.clock.Add(limits.EndedKeyLife).Truncate(time.Second); !got.Equal(want) {
		t.Errorf("it leaves %s, want %s", got, want)
	}
}
