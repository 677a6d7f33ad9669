package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

var now = time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)

// fakeStore holds one key and one workspace, and counts its calls.
type fakeStore struct {
	found   access.Found
	source  *workspace.Workspace // the answer of Workspace
	reads   int
	touched []time.Time
	err     error
}

func (f *fakeStore) Find(context.Context, id.Public, id.Workspace, access.Request) (access.Found, error) {
	f.reads++
	return f.found, f.err
}

func (f *fakeStore) Touch(_ context.Context, _ credential.Key, _, since time.Time) error {
	f.touched = append(f.touched, since)
	return f.err
}

func (f *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	f.reads++
	return f.source, nil
}

func newPeppers(t *testing.T) keyring.Derived {
	t.Helper()
	peppers, err := keyring.New().Pepper.Derive("credential")
	expect.OK(t, err)
	return peppers
}

// keyEnv is a workspace of a member with one live API key.
type keyEnv struct {
	*access.Authenticator
	store  *fakeStore
	secret string
}

func newKeyEnv(t *testing.T) *keyEnv {
	t.Helper()
	peppers := newPeppers(t)
	ws := workspace.Workspace{ID: id.NewWorkspace(), Plan: workspace.FreePlan, ClaimedAt: now.Add(-limits.Day)}
	minted := credential.Mint(credential.APIKey, credential.Preview, ws.ID, "")
	l := limits.Default()
	e := &keyEnv{
		store:  &fakeStore{},
		secret: minted.Reveal(),
	}
	e.store.found = access.Found{
		Workspace: &ws,
		Key: &credential.Key{
			ID:        id.NewKey(minted.Public),
			Public:    minted.Public,
			Workspace: ws.ID,
			Hash:      minted.Hash(peppers),
			Scopes:    []credential.Scope{credential.Read},
			CreatedAt: now.Add(-time.Hour),
		},
	}
	e.Authenticator = &access.Authenticator{
		Store:       e.store,
		Peppers:     peppers,
		Limits:      &l,
		Environment: credential.Preview,
		Now:         func() time.Time { return now },
	}
	return e
}

func TestALiveKeyActsForItsWorkspace(t *testing.T) {
	e := newKeyEnv(t)
	got, err := e.Authenticate(t.Context(), e.secret, access.Request{}, "request-1")
	expect.OK(t, err)
	by := got.Actor
	if by.Key.ID != e.store.found.Key.ID || by.Workspace.ID != e.store.found.Workspace.ID || by.RequestID != "request-1" {
		t.Errorf("the actor is %+v", by)
	}
	if by.Require(credential.Read) != nil || by.Require(credential.Publish) == nil {
		t.Errorf("the scopes are %v, not those of the key", by.Scopes)
	}
	if want := e.Limits.Tiers[limits.Free]; by.Policy != want {
		t.Errorf("the policy is %+v, not that of the tier", by.Policy)
	}
	if e.store.reads != 1 {
		t.Errorf("%d reads, want one batch", e.store.reads)
	}
}

// refusal holds that every refusal is not_authenticated in the same words.
type refusal struct{ words string }

func (r *refusal) check(t *testing.T, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.NotAuthenticated {
		t.Fatalf("refused with %v", err)
	}
	words := fault.Of(err).Message
	if r.words == "" {
		r.words = words
	}
	if words != r.words {
		t.Errorf("it says %q, others %q", words, r.words)
	}
}

func TestEveryKeyThatIsNotLiveIsRefusedAlike(t *testing.T) {
	var same refusal
	for name, change := range map[string]func(e *keyEnv){
		"unknown":                         func(e *keyEnv) { e.store.found.Key = nil },
		"of a workspace that is gone":     func(e *keyEnv) { e.store.found.Workspace = nil },
		"another secret":                  func(e *keyEnv) { e.store.found.Key.Hash = credential.Hash{} },
		"stored for another workspace":    func(e *keyEnv) { e.store.found.Key.Workspace = id.NewWorkspace() },
		"revoked":                         func(e *keyEnv) { e.store.found.Key.RevokedAt = now.Add(-time.Second) },
		"expired in this millisecond":     func(e *keyEnv) { e.store.found.Key.ExpiresAt = now },
		"of an older epoch":               func(e *keyEnv) { e.store.found.Workspace.Epoch++ },
		"of a locked workspace":           func(e *keyEnv) { e.store.found.Workspace.Lock = id.NewLockdown() },
		"of a workspace that was claimed": func(e *keyEnv) { e.store.found.Workspace.ClaimedInto = id.NewWorkspace() },
		"made by a login that ended": func(e *keyEnv) {
			e.store.found.Key.Member = id.NewMember()
			e.store.found.Key.CLIGrant.At = now.Add(-time.Hour)
			e.store.found.Workspace.LoginsEndedAt = now.Add(-time.Minute)
		},
		"of a member who is not let in": func(e *keyEnv) {
			m := id.NewMember()
			e.store.found.Key.Member = m
			e.store.found.Workspace.SignIns = map[id.Member]workspace.SignIn{m: {Email: "bob@evil.example"}}
			e.Allowlist.People.Domains = []string{"example.com"}
		},
		"of a workspace without a sign-in": func(e *keyEnv) { e.Allowlist.People.Operators = true },
		"of a member who is not let in, of a workspace that is being deleted": func(e *keyEnv) {
			e.store.found.Workspace.DeletesAt = now.Add(time.Hour)
			e.Allowlist.People.Operators = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newKeyEnv(t)
			change(e)
			_, err := e.Authenticate(t.Context(), e.secret, access.Request{}, "")
			if same.check(t, err); e.store.reads != 1 {
				t.Errorf("T75: %d reads", e.store.reads)
			}
		})
	}
}

func TestAMalformedBearerCostsNoRead(t *testing.T) {
	e := newKeyEnv(t)
	production := credential.Mint(credential.APIKey, credential.Production, id.NewWorkspace(), "")
	token := credential.Mint(credential.AccessToken, credential.Preview, id.NewWorkspace(), "")
	for name, bearer := range map[string]string{
		"empty":                  "",
		"a word":                 "letmein",
		"cut":                    e.secret[:len(e.secret)-1],
		"of another kind":        token.Reveal(),
		"of another environment": production.Reveal(),
	} {
		if _, err := e.Authenticate(t.Context(), bearer, access.Request{}, ""); fault.CodeOf(err) != fault.NotAuthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e.store.reads != 0 {
		t.Errorf("%d reads", e.store.reads)
	}
}

func TestAFailedReadLetsNoCallerIn(t *testing.T) {
	e := newKeyEnv(t)
	e.store.err = fault.New(fault.DatabaseUnavailable, "down")
	_, err := e.Authenticate(t.Context(), e.secret, access.Request{}, "")
	if fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("answered %v", err)
	}
}

func TestAnArtifactOfAClaimedWorkspaceIsItsClaimers(t *testing.T) {
	e := newKeyEnv(t)
	owner := e.store.found.Workspace.ID
	e.store.source = &workspace.Workspace{ID: id.NewWorkspace(), ClaimedInto: owner}
	stored := artifact.Artifact{ID: id.NewArtifact(), Owner: e.store.source.ID, ExpiresAt: now.Add(time.Hour)}
	e.store.found.Artifact = &stored
	got, err := e.Authenticate(t.Context(), e.secret, access.Request{Artifact: stored.ID}, "")
	if err != nil || got.Artifact.Owner != owner || got.Artifact.ClaimedFrom != e.store.source.ID {
		t.Errorf("%+v, %v, want the owner that claimed it", got.Artifact, err)
	}
	if e.store.reads != 2 {
		t.Errorf("%d reads, want the batch and the source", e.store.reads)
	}
}

func TestAnArtifactThatIsNotThereCostsAsManyReads(t *testing.T) {
	e := newKeyEnv(t)
	if _, err := e.Authenticate(t.Context(), e.secret, access.Request{Artifact: id.NewArtifact()}, ""); err != nil ||
		e.store.reads != 2 {
		t.Errorf("%d reads, %v", e.store.reads, err)
	}
	e.store.reads = 0
	if _, err := e.Authenticate(t.Context(), e.secret, access.Request{Artifact: "no id"}, ""); err != nil ||
		e.store.reads != 1 {
		t.Errorf("%d reads for an id of the wrong form, %v", e.store.reads, err)
	}
}

func TestAKeysLastUseIsStampedOnceInAWhile(t *testing.T) {
	for name, c := range map[string]struct {
		last time.Time
		want int
	}{
		"never used":                {time.Time{}, 1},
		"stamped a moment ago":      {now.Add(-time.Second), 0},
		"stamped just under":        {now.Add(-limits.TouchEvery + time.Millisecond), 0},
		"stamped that long ago":     {now.Add(-limits.TouchEvery), 1},
		"stamped a long while back": {now.Add(-limits.Day), 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newKeyEnv(t)
			expect.OK(t, e.Touch(t.Context(), credential.Actor{Key: credential.Key{LastUsedAt: c.last}}))
			if len(e.store.touched) != c.want {
				t.Fatalf("%d stamps, want %d", len(e.store.touched), c.want)
			}
			if c.want == 1 && !e.store.touched[0].Equal(now.Add(-limits.TouchEvery)) {
				t.Errorf("stamped unless one is younger than %v", e.store.touched[0])
			}
		})
	}
}

func TestTheStoresErrorOfAStampIsReturned(t *testing.T) {
	e := newKeyEnv(t)
	e.store.err = errors.New("down")
	if err := e.Touch(t.Context(), credential.Actor{}); err == nil {
		t.Error("it is swallowed")
	}
}
