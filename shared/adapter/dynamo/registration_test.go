package dynamo

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// enrolled is a registration that is stored, with its claim token.
func enrolled(t testing.TB, s Stores) (agentauth.Registration, claim.Token) {
	t.Helper()
	at := now()
	public := id.NewPublic()
	ws := id.NewWorkspace()
	r := agentauth.Registration{
		ID:         id.RegistrationOf(public),
		Kind:       agentauth.Anonymous,
		State:      agentauth.Unclaimed,
		Generation: 1,
		Version:    1,
		Workspace:  ws,
		Claim:      public,
		CreatedAt:  at,
		ExpiresAt:  at.Add(time.Hour),
		Network:    "203.0.113.0/24",
		Vouched: agentauth.Vouched{
			Principal: delegation.Principal{Issuer: "https://idp.example", Subject: "s", Audience: "https://api.example"},
			Provider:  "Agents Inc",
			Email:     "ada@example.org",
			Scopes:    []credential.Scope{credential.Read},
		},
	}
	token := claim.Token{
		ID:           id.NewClaimToken(),
		Public:       public,
		Workspace:    ws,
		Registration: r.ID,
		Hash:         credential.Hash{Pepper: 1, MAC: []byte("claim")},
		CreatedAt:    at,
		ExpiresAt:    r.ExpiresAt,
	}
	noError(t, s.Registrations.Add(ctx, agentauth.NewRegistration{
		Workspace: workspace.Workspace{
			ID:        ws,
			Name:      "W",
			Plan:      workspace.FreePlan,
			CreatedAt: at,
		},
		Registration: r,
		Token:        token,
		Event:        record(ws, at),
	}))
	return r, token
}

// full has a value in every field that changes over a registration's life.
func full(r agentauth.Registration) agentauth.Registration {
	at := now()
	r.State = agentauth.Verified
	r.Generation = 7
	r.Workspace = id.NewWorkspace()
	r.Member = id.NewMember()
	r.Attempt = agentauth.Attempt{
		Number:    3,
		Failures:  2,
		ExpiresAt: at.Add(time.Minute),
		Token:     credential.Hash{Pepper: 1, MAC: []byte("token")},
		Code:      credential.Hash{Pepper: 2, MAC: []byte("code")},
	}
	r.Starts = 4
	r.Started = agentauth.Window{Since: at, Count: 2}
	r.Wrong = 5
	r.Locked = true
	r.Refused = true
	r.CompletedAt = at.Add(time.Second)
	r.Redeemed = 2
	r.RedeemedKey = id.NewPublic()
	r.PollTokens = 3
	r.PolledAt = at.Add(2 * time.Second)
	r.Exchanged = agentauth.Window{Since: at.Add(3 * time.Second), Count: 9}
	r.Keys = []id.Public{id.NewPublic(), id.NewPublic()}
	r.Link = 11
	return r
}

// tokenOf is the API key that an agent gets for its registration.
func tokenOf(r agentauth.Registration, public id.Public, at time.Time) credential.Key {
	return credential.Key{
		ID:           id.NewKey(public),
		Public:       public,
		Workspace:    r.Workspace,
		Hash:         credential.Hash{Pepper: 1, MAC: []byte("k")},
		CreatedAt:    at,
		ExpiresAt:    at.Add(time.Hour),
		Registration: r.ID,
	}
}

func TestARegistrationIsReadAsItWasWritten(t *testing.T) {
	s := newStore(t)
	was, token := enrolled(t, s)
	stored, r, err := s.Registrations.ByClaimToken(ctx, was.Claim)
	if err != nil || !cmp.Equal(*r, was) || !cmp.Equal(*stored, token) {
		t.Fatalf("%+v %+v %v, want %+v %+v", r, stored, err, was, token)
	}
	to := full(was)
	v := reflect.ValueOf(to)
	for n := range v.NumField() {
		if v.Field(n).IsZero() {
			t.Fatalf("%s is not set, so that nobody would notice its loss", v.Type().Field(n).Name)
		}
	}
	noError(t, s.Registrations.Change(ctx, agentauth.Change{Was: was, To: to, At: now()}))
	to.Version++
	if r, _, err := s.Registrations.Registration(ctx, was.ID, was.Workspace); err != nil || !cmp.Equal(*r, to) {
		t.Fatalf("%+v %v, want %+v", r, err, to)
	}
	bare := was
	bare.Version = to.Version
	noError(t, s.Registrations.Change(ctx, agentauth.Change{Was: to, To: bare, At: now()}))
	bare.Version++
	r, w, err := s.Registrations.Registration(ctx, was.ID, was.Workspace)
	if err != nil || !cmp.Equal(*r, bare) || w == nil || w.ID != was.Workspace {
		t.Errorf("%+v %+v %v, want %+v", r, w, err, bare)
	}
}

func TestWhatIsNotThereIsNil(t *testing.T) {
	s := newStore(t)
	token, r, err := s.Registrations.ByClaimToken(ctx, id.NewPublic())
	if err != nil || token != nil || r != nil {
		t.Error(token, r, err)
	}
	r, w, err := s.Registrations.Registration(ctx, id.RegistrationOf(id.NewPublic()), id.NewWorkspace())
	if err != nil || r != nil || w != nil {
		t.Error(r, w, err)
	}
	if all, _, err := s.Registrations.List(ctx, listed(id.NewWorkspace())); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}

func TestOfChangesThatReadTheSameOneIsMade(t *testing.T) {
	s := newStore(t)
	was, _ := enrolled(t, s)
	errs := parallel.Calls(12, func(n int) error {
		c := agentauth.Change{Was: was, To: was, At: now()}
		c.To.Wrong = n + 1
		if n%2 == 0 { // a transaction
			c.Events = []event.Event{record(was.Workspace, now())}
		}
		return s.Registrations.Change(ctx, c)
	})
	r, _, err := s.Registrations.Registration(ctx, was.ID, was.Workspace)
	noError(t, err)
	for n, err := range errs {
		if won := r.Wrong == n+1; won != (err == nil) || !won && !errors.Is(err, agentauth.ErrMoved) {
			t.Errorf("change %d: %v, and stored is %d", n+1, err, r.Wrong)
		}
	}
	if r.Version != was.Version+1 {
		t.Errorf("version %d", r.Version)
	}
}

func TestAChangeThatLosesToAClaimMakesNoToken(t *testing.T) {
	s := newStore(t)
	was, token := enrolled(t, s)
	home, _ := tenant(t, s)
	home.ClaimedAt = now()
	store(t, s, workspaceItem(home))
	at := now()
	m := id.NewMember()
	asked := was
	asked.State, asked.Attempt = agentauth.ClaimPending, agentauth.Attempt{Number: 1, ExpiresAt: was.ExpiresAt}
	noError(t, s.Registrations.Change(ctx, agentauth.Change{Was: was, To: asked, At: at}))
	was = asked
	was.Version = 2
	noError(t, s.Claims.Move(ctx, claim.Move{
		Source:       was.Workspace,
		Destination:  home.ID,
		Token:        token,
		Member:       m,
		Registration: was.ID,
		Attempt:      1,
		MinExpiry:    at,
		At:           at,
	}))
	k := tokenOf(was, was.Claim, at)
	late := agentauth.Change{Was: was, To: was, At: at}
	late.Key = &k
	if err := s.Registrations.Change(ctx, late); !errors.Is(err, agentauth.ErrMoved) {
		t.Error(err)
	}
	if i, err := s.get(ctx, apiKeyKey(k.Public)); err != nil || i != nil {
		t.Error("a token was made in a consumed workspace", i, err)
	}
	want := was
	want.State = agentauth.Verified
	want.Generation = 2
	want.Version = 3
	want.Workspace = home.ID
	want.Member = m
	want.CompletedAt = at
	r, _, err := s.Registrations.Registration(ctx, was.ID, home.ID)
	if diff := cmp.Diff(&want, r); err != nil || diff != "" {
		t.Errorf("%v, the registration (-want +got):\n%s", err, diff)
	}
	all, _, err := s.Registrations.List(ctx, listed(home.ID))
	if err != nil || len(all) != 1 || all[0].ID != was.ID {
		t.Fatal(all, err)
	}
	gone := *r
	gone.State = agentauth.Revoked
	noError(t, s.Registrations.Change(ctx, agentauth.Change{Was: *r, To: gone, At: at}))
	if all, _, err := s.Registrations.List(ctx, listed(home.ID)); err != nil || len(all) != 0 {
		t.Error("a revoked registration is listed", all, err)
	}
}

func TestTokensThatEndKeepTheirFirstStampAndLeaveNothingBehind(t *testing.T) {
	s := newStore(t)
	was, _ := enrolled(t, s)
	at, public := now(), id.NewPublic()
	k := tokenOf(was, public, at)
	lost := id.NewPublic()
	for n, c := range []agentauth.Change{{Key: &k}, {Ends: []id.Public{public, lost}}, {Ends: []id.Public{public}}} {
		c.Was = was
		c.To = was
		c.At = at.Add(time.Duration(n) * time.Minute)
		noError(t, s.Registrations.Change(ctx, c))
		was.Version++
	}
	b := batch{strong: true}
	b.want(apiKeyKey(public))
	b.want(apiKeyKey(lost))
	f := must(s.read(ctx, b))(t)
	got := readAPIKey(f.at(apiKeyKey(public)), public)
	if got == nil || !got.RevokedAt.Equal(at.Add(time.Minute)) || !slices.Equal(got.Hash.MAC, k.Hash.MAC) ||
		got.Registration != was.ID {
		t.Errorf("%+v, want it revoked, with its hash", got)
	}
	for _, p := range []id.Public{public, lost} {
		if f.at(apiKeyKey(p)).getSeconds("ttl").Before(at) {
			t.Error("a token of an agent stays for good")
		}
	}
}

// listed asks for all registrations of a workspace.
func listed(w id.Workspace) cursor.Query[agentauth.Registration] {
	return cursor.Query[agentauth.Registration]{Workspace: w, Limit: 100, Live: func(agentauth.Registration) bool { return true }}
}

// TestAgentsThatEndedHideNoneThatWorks has more of them than one read takes before those that work.
func TestAgentsThatEndedHideNoneThatWorks(t *testing.T) {
	s := newStore(t)
	home, at := id.NewWorkspace(), now()
	tx := s.begin()
	for n := range maxBatch - 1 {
		public := id.NewPublic()
		r := agentauth.Registration{
			ID:          id.RegistrationOf(public),
			State:       agentauth.Verified,
			Generation:  1,
			Version:     1,
			Workspace:   home,
			Claim:       public,
			Locked:      n > 1,
			CompletedAt: at.Add(time.Duration(n) * time.Second),
			ExpiresAt:   at.Add(time.Hour),
		}
		tx.create(registrationItem(r))
	}
	noError(t, s.commit(ctx, tx))
	q := listed(home)
	q.Limit, q.Live = 1, func(r agentauth.Registration) bool { return !r.Locked }
	for n := range 2 {
		one, next, err := s.Registrations.List(ctx, q)
		if err != nil || len(one) != 1 || !one[0].CompletedAt.Equal(at.Add(time.Duration(1-n)*time.Second)) ||
			(next == "") != (n == 1) {
			t.Fatal(n, one, next, err)
		}
		q.After = next
	}
}
