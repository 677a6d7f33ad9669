package dynamo

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func newcomer(subject string) member.NewMember {
	w := freeWorkspace("W")
	at := w.CreatedAt
	w.ClaimedAt = at
	return member.NewMember{
		Workspace: w, Event: record(w.ID, at),
		Member: member.Member{
			ID:        id.NewMember(),
			Workspace: w.ID,
			Issuer:    "https://id.example",
			Subject:   subject,
			Email:     "ada@example.org",
			Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
			CreatedAt: at,
			SeenAt:    at,
		},
	}
}

func TestAPersonIsAdmittedOnce(t *testing.T) {
	s := newStore(t)
	if m, w, err := s.Members.ByIdentity(ctx, "https://id.example", "one"); m != nil || w != nil || err != nil {
		t.Fatal(m, w, err)
	}
	tries := make([]member.NewMember, 6)
	for i := range tries {
		tries[i] = newcomer("one")
	}
	errs := parallel.Calls(len(tries), func(i int) error { return s.Members.Add(ctx, tries[i]) })
	m, w, err := s.Members.ByIdentity(ctx, "https://id.example", "one")
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	won := 0
	for i, err := range errs {
		other, _, readErr := s.Members.Member(ctx, tries[i].Workspace.ID, tries[i].Member.ID)
		if readErr != nil || (other != nil) != (err == nil) {
			t.Error("a loser left something behind", readErr)
		}
		switch {
		case err == nil:
			won++
			tries[i].Workspace.SignIns = map[id.Member]workspace.SignIn{m.ID: {Email: m.Email}}
			if m.ID != tries[i].Member.ID || !cmp.Equal(*w, tries[i].Workspace) || len(m.Scopes) != 3 ||
				m.Email != "ada@example.org" {
				t.Errorf("read %+v %+v, want %+v", m, w, tries[i])
			}
		case !errors.Is(err, member.ErrKnown):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d were admitted", won)
	}
	if other, _, err := s.Members.ByIdentity(ctx, "https://id.example\none", ""); other != nil || err != nil {
		t.Error("issuer and subject run together", err)
	}
}

func TestALateStampDoesNotUndoANewerOne(t *testing.T) {
	s := newStore(t)
	a := newcomer("one")
	noError(t, s.Members.Add(ctx, a))
	stored := func() member.Member {
		m, _, err := s.Members.Member(ctx, a.Workspace.ID, a.Member.ID)
		noError(t, err)
		return *m
	}
	began := a.Member.SeenAt
	saw := func(email string, after time.Duration) {
		m := a.Member
		m.Email, m.SeenAt = email, began.Add(after)
		noError(t, s.Members.Touch(ctx, m, m.SeenAt.Add(-limits.SessionSeenEvery)))
	}
	saw("new@example.org", 2*time.Second) // another address counts at once
	saw("old@example.org", time.Second)   // unless it comes late
	if m := stored(); m.Email != "new@example.org" || !m.SeenAt.Equal(began.Add(2*time.Second)) {
		t.Errorf("%+v, want the newer address and time", m)
	}
	saw("new@example.org", time.Minute)
	if m := stored(); !m.SeenAt.Equal(began.Add(2 * time.Second)) {
		t.Errorf("stamped at %s", m.SeenAt)
	}
	a.Member.ID = id.NewMember()
	saw("x@example.org", time.Hour)
	if m, _, err := s.Members.Member(ctx, a.Workspace.ID, a.Member.ID); m != nil || err != nil {
		t.Error("a stamp made a member", err)
	}
}

func TestASignInIsTakenOnceByItsBrowser(t *testing.T) {
	s := newStore(t)
	a := signin.Attempt{
		State:     "state",
		Browser:   sha256.Sum256([]byte("cookie")),
		ReturnTo:  "/x",
		ExpiresAt: now().Add(time.Minute),
	}
	noError(t, s.SignIns.Add(ctx, a))
	for name, c := range map[string]struct {
		state   string
		browser signin.Hash
		at      time.Time
	}{
		"another browser": {a.State, sha256.Sum256([]byte("other")), now()},
		"another state":   {"x", a.Browser, now()},
		"late":            {a.State, a.Browser, a.ExpiresAt},
	} {
		if got, err := s.SignIns.Take(ctx, c.state, c.browser, c.at); got != nil || err != nil {
			t.Error(name, got, err)
		}
	}
	takers := make([]*signin.Attempt, 4)
	for _, err := range parallel.Calls(len(takers), func(i int) (err error) {
		takers[i], err = s.SignIns.Take(ctx, a.State, a.Browser, now())
		return err
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	taken := 0
	for _, got := range takers {
		if got != nil {
			taken++
			if *got != a {
				t.Errorf("%+v, want what was added", got)
			}
		}
	}
	if taken != 1 {
		t.Errorf("taken %d times", taken)
	}
}

func TestSessionsAreWrittenAndReadBack(t *testing.T) {
	s := newStore(t)
	b := session.Session{
		Hash:      sha256.Sum256([]byte("x")),
		Member:    id.NewMember(),
		Workspace: id.NewWorkspace(),
		Epoch:     2,
		Operator:  now().Add(-time.Minute),
		CreatedAt: now(),
		SeenAt:    now(),
		Browser:   "B",
		Network:   "N",
	}
	noError(t, s.Sessions.Add(ctx, b, record(b.Workspace, now())))
	got, err := s.Sessions.Session(ctx, b.Hash)
	if err != nil || *got != b {
		t.Errorf("%+v, %v, want what was added", got, err)
	}
	if err := s.Sessions.Add(ctx, b, record(b.Workspace, now())); err == nil {
		t.Error("a session was replaced")
	}
}
