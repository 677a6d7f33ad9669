package dynamo

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/account"
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

// newKeeper makes a keeper over the store of a desk, and an actor for a member.
func newKeeper(t *testing.T, d *desk) (*credential.Service, credential.Actor, *person) {
	t.Helper()
	box, err := seal.New(keyring.New().Seal, "record")
	if err != nil {
		t.Fatal(err)
	}
	codec, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	p := d.person(t)
	k := &credential.Service{
		Store:       d.Keys,
		Peppers:     d.peppers,
		Box:         box,
		Cursors:     codec,
		Environment: credential.Preview,
		Now:         func() time.Time { return d.clock },
	}
	return k, d.actor(t, p), p
}

func (d *desk) actor(t *testing.T, p *person) credential.Actor {
	t.Helper()
	opened, err := d.api.Authenticate(ctx, p.token.Reveal(), access.Request{}, "request-1")
	if err != nil {
		t.Fatal(err)
	}
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
	d := newDesk(t)
	k, by, p := newKeeper(t, d)
	made, err := k.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "  laptop ", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	keys := &access.Authenticator{
		Store:       d.Access,
		Peppers:     d.peppers,
		Limits:      d.api.Limits,
		Environment: credential.Preview,
		Now:         k.Now,
	}
	opened, err := keys.Authenticate(ctx, made.Secret, access.Request{}, "")
	if err != nil {
		t.Fatal(err)
	}
	key := opened.Actor.Key
	if key.ID != made.APIKey.ID || key.Name != "laptop" || key.Member != p.member.ID || key.Epoch != p.home.Epoch ||
		!key.ExpiresAt.Equal(d.clock.Add(time.Hour)) {
		t.Errorf("%+v", key)
	}
	if key.Has(credential.Admin) || !key.Has(credential.Publish) || !key.Has(credential.Read) {
		t.Errorf("T36: the key may %v", key.Scopes)
	}
	d.clock = d.clock.Add(time.Millisecond)
	ended, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, string(key.ID)), nil, key.ID)
	if err != nil || !ended.RevokedAt.Equal(d.clock) || ended.APIKey.RevokedAt == nil {
		t.Errorf("%+v %v", ended, err)
	}
	if _, err := keys.Authenticate(ctx, made.Secret, access.Request{}, ""); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Error("the key works on", err)
	}
	d.clock = d.clock.Add(time.Minute)
	again, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, string(key.ID)), nil, key.ID)
	if err != nil || !again.RevokedAt.Equal(ended.RevokedAt.Time) {
		t.Errorf("revoked at %s, then at %s (%v)", ended.RevokedAt, again.RevokedAt, err)
	}
	events, _, _, err := d.Events.List(ctx, account.Filter{Workspace: by.Workspace.ID, Actors: []string{"member"}},
		d.clock, noPosition, 10)
	if err != nil || len(events) != 2 || events[0].Action != event.KeyRevoked || events[1].Action != event.KeyCreated ||
		events[0].Actor.ID != string(p.member.ID) {
		t.Errorf("%+v %v", events, err)
	}
}

func TestARepeatedCreationMakesOneKeyAndShowsTheSameSecret(t *testing.T) {
	d := newDesk(t)
	k, by, _ := newKeeper(t, d)
	c := wish(by, idempotency.CreateKey, "")
	var mu sync.Mutex
	secrets := map[string]bool{}
	errs := parallel(6, func(int) error {
		made, err := k.Create(ctx, by, c, nil, "one", 0)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			secrets[made.Secret] = true
		}
		return err
	})
	for _, err := range errs {
		if err != nil && fault.CodeOf(err) != fault.IdempotencyInFlight {
			t.Error(err)
		}
	}
	if made, err := k.Create(ctx, by, c, nil, "one", 0); err != nil || !secrets[made.Secret] {
		t.Errorf("a repetition when all are done shows another secret (%v)", err)
	}
	rows, next, err := d.Keys.List(ctx, credential.KeyQuery{Workspace: by.Workspace, Which: credential.AllKeys, Limit: 10})
	if len(secrets) != 1 || len(rows) != 1 || next != "" || err != nil {
		t.Errorf("%d secrets of %d keys (%v)", len(secrets), len(rows), err)
	}
	other := c
	other.Fingerprint[0]++
	if _, err := k.Create(ctx, by, other, nil, "two", 0); fault.CodeOf(err) != fault.InvalidIdempotencyKey {
		t.Error("T50: another body passes", err)
	}
}

func TestAKeyIsRevokedOnceHoweverManyAskForIt(t *testing.T) {
	d := newDesk(t)
	k, by, _ := newKeeper(t, d)
	made, err := k.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "raced", 0)
	if err != nil {
		t.Fatal(err)
	}
	start := d.clock
	var calls atomic.Int64
	k.Now = func() time.Time { return start.Add(time.Duration(calls.Add(1)) * time.Millisecond) } // a time for each
	var mu sync.Mutex
	times := map[string]bool{}
	for _, err := range parallel(6, func(int) error {
		ended, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, made.APIKey.ID)
		mu.Lock()
		defer mu.Unlock()
		times[ended.RevokedAt.String()] = true
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	events, _, _, err := d.Events.List(ctx, account.Filter{Workspace: by.Workspace.ID, Actors: []string{"member"}},
		start.Add(time.Minute), noPosition, 10)
	if err != nil || len(times) != 1 || len(events) != 2 {
		t.Errorf("revoked at %v, %d events (%v)", times, len(events), err)
	}
}

func TestARecordThatWasMovedShowsNoSecret(t *testing.T) {
	d := newDesk(t)
	k, by, _ := newKeeper(t, d)
	c := wish(by, idempotency.CreateKey, "")
	if _, err := k.Create(ctx, by, c, nil, "one", 0); err != nil {
		t.Fatal(err)
	}
	i, err := d.getIn(ctx, d.tables.Hot, key{pk: recordKey(c.Key)}, true)
	if err != nil {
		t.Fatal(err)
	}
	stolen := readRecord(i)
	elsewhere := wish(by, idempotency.CreateKey, "")
	if made, err := k.Create(ctx, by, elsewhere, stolen, "one", 0); !errors.Is(err, seal.ErrBroken) || made.Secret != "" {
		t.Error("it opens in another record", err)
	}
}

func TestT48KeysOfOthersAreNotThere(t *testing.T) {
	d := newDesk(t)
	k, by, _ := newKeeper(t, d)
	_, stranger, _ := newKeeper(t, d)
	made, err := k.Create(ctx, stranger, wish(stranger, idempotency.CreateKey, ""), nil, "theirs", 0)
	if err != nil {
		t.Fatal(err)
	}
	public, err := made.APIKey.ID.Public()
	if err != nil || public != made.APIKey.PublicID {
		t.Fatal(public, err)
	}
	_, want := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, "key_")
	for _, which := range []id.Key{made.APIKey.ID, id.NewKey(id.NewPublic()), id.NewKey(public), "", "art_1"} {
		_, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, string(which)), nil, which)
		if fault.CodeOf(err) != fault.NotFound || err.Error() != want.Error() {
			t.Errorf("%s: %v", which, err)
		}
	}
	if key, err := d.Keys.Key(ctx, public); err != nil || !key.RevokedAt.IsZero() {
		t.Errorf("%+v %v", key, err)
	}
}

func TestAClosedWorkspaceGetsNoKeysAndNoSettings(t *testing.T) {
	d := newDesk(t)
	k, by, p := newKeeper(t, d)
	p.home.ClaimedInto = id.NewWorkspace()
	d.store(t, workspaceItem(p.home))
	for n := range fences {
		d.store(t, newItem(fenceKey(p.home.ID, n)).str("into", string(p.home.ClaimedInto)))
	}
	if _, err := k.Create(
		ctx, by, wish(by, idempotency.CreateKey, ""), nil, "late", 0,
	); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Error(err)
	}
	if _, err := newSteward(d).UpdateSettings(ctx, by, wish(by, idempotency.UpdateSettings, ""), nil, asked("late", 3)); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Error(err)
	}
	if rows, _, err := d.Keys.List(
		ctx, credential.KeyQuery{Workspace: p.home, Which: credential.AllKeys, Limit: 10},
	); err != nil || len(rows) != 0 {
		t.Error(rows, err)
	}
}

func TestKeysAreListedNewestFirstWithThoseThatAreDead(t *testing.T) {
	d := newDesk(t)
	k, by, p := newKeeper(t, d)
	var want []string
	for n := range 3 {
		d.clock = d.clock.Add(time.Millisecond)
		name := fmt.Sprintf("key %d", n)
		made, err := k.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			if _, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, made.APIKey.ID); err != nil {
				t.Fatal(err)
			}
		}
		want = append([]string{fmt.Sprint(name, n == 1)}, want...)
	}
	d.clock = d.clock.Add(time.Millisecond)
	agents := credential.Mint(credential.APIKey, credential.Preview, p.home.ID, "")
	d.store(t, apiKeyItem(credential.Key{
		ID:           id.NewKey(agents.Public),
		Public:       agents.Public,
		Workspace:    p.home.ID,
		Hash:         agents.Hash(d.peppers),
		Name:         "Agent auth",
		Scopes:       []credential.Scope{credential.Publish, credential.Read},
		Registration: id.RegistrationOf(id.NewPublic()),
		CreatedAt:    d.clock,
		ExpiresAt:    d.clock,
	}))
	want = append([]string{"Agent authfalse"}, want...)
	list, info, err := k.List(ctx, by, credential.AllKeys, cursor.Page{})
	if err != nil || info.HasMore || info.NextCursor != nil {
		t.Fatal(info, err)
	}
	var got []string
	for _, row := range list {
		got = append(got, fmt.Sprint(row.Name, !row.RevokedAt.IsZero()))
		if row.Workspace != p.home.ID || len(row.Scopes) != 2 || len(row.Public) != 16 {
			t.Errorf("%+v", row)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if ended, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, list[0].ID); err != nil ||
		ended.APIKey.Name != "Agent auth" {
		t.Errorf("an agent's key is not revoked: %+v %v", ended, err)
	}
}

func TestOnlyAdministratorsKeepKeysSettingsAndTheRecord(t *testing.T) {
	d := newDesk(t)
	k, by, _ := newKeeper(t, d)
	by.Scopes = []credential.Scope{credential.Publish, credential.Read}
	for name, try := range map[string]func() error{
		"create": func() error {
			_, err := k.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "x", 0)
			return err
		},
		"revoke": func() error {
			_, err := k.Revoke(ctx, by, wish(by, idempotency.RevokeKey, ""), nil, id.NewKey(id.NewPublic()))
			return err
		},
		"list":     func() error { _, _, err := k.List(ctx, by, credential.AllKeys, cursor.Page{}); return err },
		"settings": func() error { _, err := newSteward(d).Settings(by); return err },
		"update": func() error {
			_, err := newSteward(d).UpdateSettings(ctx, by, wish(by, idempotency.UpdateSettings, ""), nil, asked("x", 3))
			return err
		},
		"audit": func() error { _, err := newAuditor(t, d).AuditLog(ctx, by, noPage); return err },
	} {
		if err := try(); fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAKeyHasANameOfItsOwn(t *testing.T) {
	d := newDesk(t)
	k, by, _ := newKeeper(t, d)
	long := strings.Repeat("ü", limits.KeyNameRunes)
	for name, ok := range map[string]bool{"": false, " \t": false, long: true, long + "x": false, " " + long + " ": true} {
		_, err := k.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, name, 0)
		if (err == nil) != ok || err != nil && fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestACommandThatIsUnderWayIsNotDoneTwice(t *testing.T) {
	d := newDesk(t)
	k, by, p := newKeeper(t, d)
	made, err := k.Create(ctx, by, wish(by, idempotency.CreateKey, ""), nil, "here", 0)
	if err != nil {
		t.Fatal(err)
	}
	for op, do := range map[idempotency.Operation]func(idempotency.Command) error{
		idempotency.CreateKey: func(c idempotency.Command) error {
			_, err := k.Create(ctx, by, c, nil, "late", 0)
			return err
		},
		idempotency.RevokeKey: func(c idempotency.Command) error {
			_, err := k.Revoke(ctx, by, c, nil, made.APIKey.ID)
			return err
		},
		idempotency.UpdateSettings: func(c idempotency.Command) error {
			_, err := newSteward(d).UpdateSettings(ctx, by, c, nil, asked("late", 3))
			return err
		},
	} {
		c := wish(by, op, "")
		if err := d.Uploads.Claim(ctx, c, "another", d.clock, d.clock.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := do(c); fault.CodeOf(err) != fault.IdempotencyInFlight {
			t.Errorf("%s: %v", op, err)
		}
	}
	key, err := d.Keys.Key(ctx, made.APIKey.PublicID)
	if now := d.actor(t, p); err != nil || !key.RevokedAt.IsZero() || now.Workspace.Name != "Home" {
		t.Errorf("%+v %q %v", key, now.Workspace.Name, err)
	}
	if rows, _, err := d.Keys.List(
		ctx, credential.KeyQuery{Workspace: p.home, Which: credential.AllKeys, Limit: 10},
	); err != nil || len(rows) != 1 {
		t.Error(len(rows), err)
	}
}
