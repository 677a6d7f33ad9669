package dynamo

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/seal"
)

// newKeeper makes a keeper over the store of a desk.
func newKeeper(t *testing.T, d *desk) *credential.Service {
	t.Helper()
	return &credential.Service{
		Store:       d.Keys,
		Peppers:     d.peppers,
		Box:         must(seal.New(keyring.New().Seal, "record"))(t),
		Cursors:     must(cursor.New(keyring.New().Seal))(t),
		Environment: credential.Preview,
		Now:         func() time.Time { return d.clock },
	}
}

func (d *desk) actor(t *testing.T, p *person) credential.Actor {
	t.Helper()
	opened := must(d.api.Authenticate(ctx, p.token.Reveal(), access.Request{}, "request-1"))(t)
	return opened.Actor
}

// wish is a fresh command of a member.
func wish(by credential.Actor, op idempotency.Operation, target string) idempotency.Command {
	return idempotency.Command{Key: idempotency.Key{
		Actor:     by.Subject(),
		Operation: op,
		Target:    target,
		Client:    string(id.NewPublic()),
	}}
}

func TestAKeyThatAMemberMakesWorksAtOnceUntilItIsRevoked(t *testing.T) {
	l, by, p := newLogins(t)
	made := must(l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "  laptop ", time.Hour))(t)
	key := must(l.keys.Authenticate(ctx, made.Secret, access.Request{}, ""))(t).Actor.Key
	if key.ID != made.Key.ID || key.Name != "laptop" || key.Member != p.member.ID || key.Epoch != p.home.Epoch ||
		!key.ExpiresAt.Equal(l.clock.Add(time.Hour)) {
		t.Errorf("%+v, want the member's key for an hour", key)
	}
	if key.Has(credential.Admin) || !key.Has(credential.Publish) || !key.Has(credential.Read) {
		t.Errorf("T36: the key may %v", key.Scopes)
	}
	l.clock = l.clock.Add(time.Millisecond)
	ended := l.revoke(t, by, key.ID)
	if !ended.RevokedAt.Equal(l.clock) || l.works(made.Secret) {
		t.Errorf("%+v, works: %t, want it revoked now", ended, l.works(made.Secret))
	}
	l.clock = l.clock.Add(time.Minute)
	if again := l.revoke(t, by, key.ID); !again.RevokedAt.Equal(ended.RevokedAt) {
		t.Errorf("revoked at %s, then at %s", ended.RevokedAt, again.RevokedAt)
	}
	events := l.deeds(t, by)
	if len(events) != 2 || events[0].Action != event.KeyRevoked || events[1].Action != event.KeyCreated ||
		events[0].Actor.ID != string(p.member.ID) {
		t.Errorf("%+v, want creation and revocation by the member", events)
	}
}

func TestARepeatedCreationMakesOneKeyAndShowsTheSameSecret(t *testing.T) {
	l, by, _ := newLogins(t)
	c := wish(by, idempotency.CreateKey, "")
	made := make([]credential.Created, 6)
	secrets := map[string]bool{}
	for n, err := range parallel.Calls(len(made), func(n int) (err error) {
		made[n], err = l.Create(ctx, by, c, nil, "one", 0)
		return err
	}) {
		if err == nil {
			secrets[made[n].Secret] = true
		} else if fault.CodeOf(err) != fault.IdempotencyInFlight {
			t.Error(err)
		}
	}
	if made, err := l.Create(ctx, by, c, nil, "one", 0); err != nil || !secrets[made.Secret] {
		t.Errorf("a repetition when all are done shows another secret (%v)", err)
	}
	rows, next, err := l.Keys.List(ctx, credential.KeyQuery{Workspace: by.Workspace, Which: credential.AllKeys, Limit: 10})
	if len(secrets) != 1 || len(rows) != 1 || next != "" || err != nil {
		t.Errorf("%d secrets of %d keys (%v)", len(secrets), len(rows), err)
	}
	other := c
	other.Fingerprint[0]++
	if _, err := l.Create(ctx, by, other, nil, "two", 0); fault.CodeOf(err) != fault.InvalidIdempotencyKey {
		t.Error("T50: another body passes", err)
	}
}

func TestAKeyIsRevokedOnceHoweverManyAskForIt(t *testing.T) {
	l, by, _ := newLogins(t)
	made := l.made(t, by, "raced")
	start := l.clock
	var calls atomic.Int64
	l.Now = func() time.Time { return start.Add(time.Duration(calls.Add(1)) * time.Millisecond) } // a time for each
	ended := make([]credential.Key, 6)
	noError(t, errors.Join(parallel.Calls(len(ended), func(n int) (err error) {
		ended[n], err = l.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, made.Key.ID)
		return err
	})...))
	for _, e := range ended {
		if !e.RevokedAt.Equal(ended[0].RevokedAt) {
			t.Errorf("revoked at %s, and at %s", e.RevokedAt, ended[0].RevokedAt)
		}
	}
	l.clock = start.Add(time.Minute)
	if events := l.deeds(t, by); len(events) != 2 {
		t.Errorf("%+v, want two events", events)
	}
}

func TestARecordThatWasMovedShowsNoSecret(t *testing.T) {
	l, by, _ := newLogins(t)
	c := wish(by, idempotency.CreateKey, "")
	must(l.Create(ctx, by, c, nil, "one", 0))(t)
	i := must(l.getIn(ctx, l.tables.Hot, key{pk: recordKey(c.Key)}, true))(t)
	stolen := readRecord(i)
	elsewhere := wish(by, idempotency.CreateKey, "")
	if made, err := l.Create(ctx, by, elsewhere, stolen, "one", 0); !errors.Is(err, seal.ErrBroken) || made.Secret != "" {
		t.Error("it opens in another record", err)
	}
}

func TestT48KeysOfOthersAreNotThere(t *testing.T) {
	l, by, _ := newLogins(t)
	stranger := l.actor(t, l.person(t))
	made := l.made(t, stranger, "theirs")
	public, err := made.Key.ID.Public()
	if err != nil || public != made.Key.Public {
		t.Fatal(public, err)
	}
	_, want := l.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, "key_")
	for _, which := range []id.Key{made.Key.ID, id.NewKey(id.NewPublic()), id.NewKey(public), "", "art_1"} {
		_, err := l.Revoke(ctx, by, wish(by, idempotency.RevokeKey, string(which)), nil, which)
		if fault.CodeOf(err) != fault.NotFound || err.Error() != want.Error() {
			t.Errorf("%s: %v", which, err)
		}
	}
	if key, err := l.Keys.Key(ctx, public); err != nil || !key.RevokedAt.IsZero() {
		t.Errorf("%+v %v, want a key that is not revoked", key, err)
	}
}

func TestAClosedWorkspaceTakesNoWrites(t *testing.T) {
	l, by, p := newLogins(t)
	e := newExportEnv(t)
	r := draft(t, e.Stores, e.w, e.k, "")
	p.home.ClaimedInto = id.NewWorkspace()
	store(t, l.Stores, workspaceItem(p.home))
	closeWorkspace(t, l.Stores, p.home.ID)
	closeWorkspace(t, e.Stores, e.w.ID)
	for name, write := range map[string]func() error{
		"a publication": func() error { return e.Artifacts.Publish(ctx, publication(e.k, r, 1)) },
		"an export":     func() error { return e.Exports.Create(ctx, e.creation(nil)) },
		"a key": func() error {
			_, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "late", 0)
			return err
		},
		"settings": func() error {
			_, err := newSteward(l.desk).UpdateSettings(ctx, by, wish(by, idempotency.UpdateSettings, ""), nil, asked("late", 3))
			return err
		},
	} {
		if err := write(); fault.CodeOf(err) != fault.NotAuthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := credential.KeyQuery{Workspace: p.home, Which: credential.AllKeys, Limit: 10}
	if rows, _, err := l.Keys.List(ctx, q); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
}

func TestKeysAreListedNewestFirstWithThoseThatAreDead(t *testing.T) {
	l, by, p := newLogins(t)
	var want []string
	for n := range 3 {
		l.clock = l.clock.Add(time.Millisecond)
		name := fmt.Sprintf("key %d", n)
		made := l.made(t, by, name)
		if n == 1 {
			l.revoke(t, by, made.Key.ID)
		}
		want = append([]string{fmt.Sprint(name, n == 1)}, want...)
	}
	l.clock = l.clock.Add(time.Millisecond)
	l.agentKey(t, p, 0)
	want = append([]string{"Agent authfalse"}, want...)
	list, next, err := l.List(ctx, by, credential.AllKeys, cursor.Page{})
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	var got []string
	for _, row := range list {
		got = append(got, fmt.Sprint(row.Name, !row.RevokedAt.IsZero()))
		if row.Workspace != p.home.ID || len(row.Scopes) != 2 || len(row.Public) != 16 {
			t.Errorf("%+v, want the workspace's, with two scopes", row)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if ended := l.revoke(t, by, list[0].ID); ended.Name != "Agent auth" {
		t.Errorf("an agent's key is not revoked: %+v", ended)
	}
}

func TestOnlyAdministratorsKeepKeysSettingsAndTheRecord(t *testing.T) {
	l, by, _ := newLogins(t)
	by.Scopes = []credential.Scope{credential.Publish, credential.Read}
	for name, try := range map[string]func() error{
		"create": func() error {
			_, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "x", 0)
			return err
		},
		"revoke": func() error {
			_, err := l.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, id.NewKey(id.NewPublic()))
			return err
		},
		"list":     func() error { _, _, err := l.List(ctx, by, credential.AllKeys, cursor.Page{}); return err },
		"settings": func() error { _, err := newSteward(l.desk).Settings(by); return err },
		"update": func() error {
			_, err := newSteward(l.desk).UpdateSettings(ctx, by, wish(by, idempotency.UpdateSettings, ""), nil, asked("x", 3))
			return err
		},
		"audit": func() error { _, err := newAuditor(t, l.desk).AuditLog(ctx, by, noPage); return err },
	} {
		if err := try(); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAKeyHasANameOfItsOwn(t *testing.T) {
	l, by, _ := newLogins(t)
	long := strings.Repeat("ü", limits.KeyNameRunes)
	for name, ok := range map[string]bool{"": false, " \t": false, long: true, long + "x": false, " " + long + " ": true} {
		_, err := l.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, name, 0)
		if (err == nil) != ok || err != nil && fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestACommandThatIsUnderWayIsNotDoneTwice(t *testing.T) {
	l, by, p := newLogins(t)
	made := l.made(t, by, "here")
	for op, do := range map[idempotency.Operation]func(idempotency.Command) error{
		idempotency.CreateKey: func(c idempotency.Command) error {
			_, err := l.Create(ctx, by, c, nil, "late", 0)
			return err
		},
		idempotency.RevokeKey: func(c idempotency.Command) error {
			_, err := l.Revoke(ctx, by, c, nil, made.Key.ID)
			return err
		},
		idempotency.UpdateSettings: func(c idempotency.Command) error {
			_, err := newSteward(l.desk).UpdateSettings(ctx, by, c, nil, asked("late", 3))
			return err
		},
	} {
		c := wish(by, op, "")
		noError(t, l.Uploads.Claim(ctx, c, "another", l.clock, l.clock.Add(time.Minute)))
		if err := do(c); fault.CodeOf(err) != fault.IdempotencyInFlight {
			t.Errorf("%s: %v", op, err)
		}
	}
	key, err := l.Keys.Key(ctx, made.Key.Public)
	if now := l.actor(t, p); err != nil || !key.RevokedAt.IsZero() || now.Workspace.Name != "Home" {
		t.Errorf("%+v %q %v, want nothing changed", key, now.Workspace.Name, err)
	}
	if rows, _, err := l.Keys.List(
		ctx, credential.KeyQuery{Workspace: p.home, Which: credential.AllKeys, Limit: 10},
	); err != nil || len(rows) != 1 {
		t.Error(len(rows), err)
	}
}
