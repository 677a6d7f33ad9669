package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var ctx = context.Background()

// env keeps sessions of one member on tables of its own, with a clock that a test moves.
type env struct {
	*session.Service
	tables.Tables
	limits limits.Limits
	who    member.SignedIn
	at     time.Time
}

func newEnv(t testing.TB) *env {
	t.Helper()
	s := &env{
		Tables: tables.New(t),
		limits: limits.Default(),
		at:     time.Now().UTC().Truncate(time.Millisecond),
	}
	now := func() time.Time { return s.at }
	s.Service = &session.Service{
		Store:   s.Stores.Sessions,
		Members: s.Stores.Members,
		Limits:  &s.limits,
		Now:     now,
	}
	s.who = s.join(t, "one")
	return s
}

func (e *env) join(t testing.TB, subject string) member.SignedIn {
	t.Helper()
	r := member.Service{Store: e.Members.(member.Store), Now: e.Now}
	in, err := r.SignIn(ctx, member.Identity{Issuer: "https://id.example", Subject: subject, Email: "ada@example.org"},
		"req")
	expect.OK(t, err)
	return in
}

func (e *env) start(t testing.TB) string {
	t.Helper()
	secret, err := e.Start(ctx, e.who, session.Client{Browser: "B", Network: "N"}, "req")
	expect.OK(t, err)
	return secret
}

// opens reports whether a secret authenticates.
func (e *env) opens(t testing.TB, secret string) bool {
	t.Helper()
	_, err := e.Authenticate(ctx, secret, "req")
	if err != nil && fault.CodeOf(err) != fault.NotAuthenticated {
		t.Fatal(err)
	}
	return err == nil
}

func TestASessionIsItsMember(t *testing.T) {
	s := newEnv(t)
	secret := s.start(t)
	o, err := s.Authenticate(ctx, secret, "req-1")
	expect.OK(t, err)
	by := o.Actor
	if by.CLIGrant != (credential.CLIGrant{At: s.at}) {
		t.Errorf("the keys that it makes are as old as %+v", by.CLIGrant)
	}
	if by.Member != s.who.Member.ID || by.Workspace.ID != s.who.Workspace.ID || by.RequestID != "req-1" ||
		by.Client != "" || by.Key.ID != "" {
		t.Errorf("actor %+v", by)
	}
	for _, scope := range []credential.Scope{credential.Publish, credential.Read, credential.Admin} {
		if err := by.Require(scope); err != nil {
			t.Error(err)
		}
	}
	if by.Policy != s.limits.Tiers[limits.Free] || o.Session.Browser != "B" || o.Session.Network != "N" ||
		!o.Session.CreatedAt.Equal(s.at) {
		t.Errorf("opened %+v", o)
	}
}

func TestWhatIsNoSessionOpensNothing(t *testing.T) {
	s := newEnv(t)
	secret := s.start(t)
	for _, bad := range []string{
		"",
		"x",
		secret[1:],
		secret + "A",
		strings.Repeat("A", 43),
		secret[:42] + "!",
		secret[:20] + "\n" + secret[21:],
		strings.ToLower(secret),
	} {
		if s.opens(t, bad) {
			t.Errorf("%q opens a session", bad)
		}
		if err := s.End(ctx, bad, "req"); err != nil {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if !s.opens(t, secret) {
		t.Error("the real one does not")
	}
}

func TestASessionEndsWhenNobodyUsesIt(t *testing.T) {
	s := newEnv(t)
	used, idle := s.start(t), s.start(t)
	s.at = s.at.Add(limits.SessionIdle - time.Second)
	if !s.opens(t, used) {
		t.Fatal("a session ends early")
	}
	s.at = s.at.Add(time.Second)
	if s.opens(t, idle) {
		t.Error("an idle session lives on")
	}
	if !s.opens(t, used) {
		t.Error("a session that was used ends")
	}
}

func TestASessionEndsHoweverMuchItIsUsed(t *testing.T) {
	s := newEnv(t)
	secret := s.start(t)
	end := s.at.Add(limits.MaxSessionLife)
	for step := limits.SessionIdle / 2; s.at.Add(step).Before(end); s.at = s.at.Add(step) {
		if !s.opens(t, secret) {
			t.Fatalf("it ends at %s", s.at)
		}
	}
	s.at = end.Add(-time.Millisecond)
	if !s.opens(t, secret) {
		t.Error("it ends early")
	}
	s.at = end
	if s.opens(t, secret) {
		t.Error("it lives on")
	}
}

func TestTheLastUseIsStampedNowAndThen(t *testing.T) {
	s := newEnv(t)
	secret := s.start(t)
	seen := func() time.Time {
		o, err := s.Authenticate(ctx, secret, "req")
		expect.OK(t, err)
		stored, err := s.Store.Session(ctx, o.Session.Hash)
		expect.OK(t, err)
		return stored.SeenAt
	}
	began := s.at
	s.at = began.Add(limits.SessionSeenEvery - time.Second)
	if got := seen(); !got.Equal(began) {
		t.Errorf("stamped early, at %s", got)
	}
	s.at = began.Add(limits.SessionSeenEvery + time.Second)
	if got := seen(); !got.Equal(s.at) {
		t.Errorf("stamped %s, not %s", got, s.at)
	}
}

func TestSigningOutEndsOneSessionOnce(t *testing.T) {
	s := newEnv(t)
	one, other := s.start(t), s.start(t)
	opened, err := s.Authenticate(ctx, one, "req")
	expect.OK(t, err)
	for range 2 {
		expect.OK(t, s.End(ctx, one, "req"))
	}
	if s.opens(t, one) || !s.opens(t, other) {
		t.Error("the wrong session ended")
	}
	// A late update of the last use must not bring the session back.
	if err := s.Store.Touch(ctx, opened.Session.Hash, s.at, s.at.Add(time.Hour)); err != nil || s.opens(t, one) {
		t.Error("a stamp revives a session", err)
	}
	if started, ended := s.CountEvents(t, event.SessionStarted), s.CountEvents(t, event.SessionEnded); started != 2 ||
		ended != 1 {
		t.Errorf("%d started, %d ended", started, ended)
	}
}

func TestSigningOutEverywhereEndsWhatWasThere(t *testing.T) {
	s := newEnv(t)
	one, other := s.start(t), s.start(t)
	o, err := s.Authenticate(ctx, one, "req")
	expect.OK(t, err)
	expect.OK(t, s.EndAll(ctx, o.Actor))
	if s.opens(t, one) || s.opens(t, other) {
		t.Error("a session lives on")
	}
	again, _, err := s.Members.Member(ctx, s.who.Workspace.ID, s.who.Member.ID)
	if err != nil || again.Live(s.at) || !again.Live(s.at.Add(time.Millisecond)) {
		t.Fatal(again, err)
	}
	s.who.Member = *again
	back := s.start(t) // in the same millisecond
	if !s.opens(t, back) {
		t.Error("who signs in again is out")
	}
	s.at = s.at.Add(-time.Minute) // another host with a slow clock
	expect.OK(t, s.EndAll(ctx, o.Actor))
	s.at = s.at.Add(time.Minute)
	if s.opens(t, one) || !s.opens(t, back) {
		t.Error("signing out went back in time")
	}
	s.WantEvents(t, event.SessionsEnded, 1)
	if err := s.EndAll(ctx, credential.Actor{Workspace: s.who.Workspace}); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("an API key signs people out: %v", err)
	}
}

func TestASessionOfOneMemberIsNotAnothers(t *testing.T) {
	s := newEnv(t)
	mine := s.start(t)
	o, err := s.Authenticate(ctx, mine, "req")
	expect.OK(t, err)
	s.who = s.join(t, "two")
	theirs := s.start(t)
	expect.OK(t, s.EndAll(ctx, o.Actor))
	if s.opens(t, mine) || !s.opens(t, theirs) {
		t.Error("the wrong person was signed out")
	}
}

func TestWhatABrowserSaysIsCutAndCleaned(t *testing.T) {
	s := newEnv(t)
	about := session.Client{Browser: strings.Repeat("ä\r\n\x00\u202e", 300) + "\xff", Network: "10.0.0.0/24"}
	secret, err := s.Start(ctx, s.who, about, "req")
	expect.OK(t, err)
	o, err := s.Authenticate(ctx, secret, "req")
	if err != nil || o.Session.Browser != strings.Repeat("ä", 200) {
		t.Errorf("%q, %v", o.Session.Browser, err)
	}
}

func TestASessionRemembersWhenItsMemberSignedInAndWhetherAsAnOperator(t *testing.T) {
	s := newEnv(t)
	if o, err := s.Authenticate(ctx, s.start(t), "req"); err != nil || !o.Actor.Operator.IsZero() {
		t.Errorf("a member: %+v, %v", o.Actor, err)
	}
	s.who.Operator, s.who.AuthenticatedAt = s.at, s.at.Add(-time.Minute)
	secret := s.start(t)
	o, err := s.Authenticate(ctx, secret, "req")
	if err != nil || !o.Actor.Operator.Equal(s.who.Operator) || o.Actor.Operates(s.at) != nil ||
		!o.Actor.AuthenticatedAt.Equal(s.who.AuthenticatedAt) || o.Actor.SignedInLately(s.at) != nil {
		t.Errorf("an operator: %+v, %v", o.Actor, err)
	}
	s.at = s.at.Add(max(limits.OperatorFresh, limits.FreshSignIn))
	o, err = s.Authenticate(ctx, secret, "req")
	if err != nil || o.Actor.Operates(s.at) == nil || o.Actor.SignedInLately(s.at) == nil {
		t.Errorf("later: %+v, %v", o.Actor, err)
	}
}

func TestT83ASessionOfAnotherEpochOpensNothing(t *testing.T) {
	s := newEnv(t)
	live := s.start(t)
	s.who.Workspace.Epoch++ // one ahead of the stored one
	if other := s.start(t); s.opens(t, other) || !s.opens(t, live) {
		t.Error("sessions outlive their epoch, or all end")
	}
}

func TestAMemberSeesAndEndsTheirSessions(t *testing.T) {
	s := newEnv(t)
	one := s.start(t)
	s.at = s.at.Add(time.Minute)
	other := s.start(t)
	mine := s.who
	s.who = s.join(t, "two")
	theirs := s.start(t)
	s.who = mine
	o, err := s.Authenticate(ctx, one, "req")
	expect.OK(t, err)
	all, err := s.List(ctx, o)
	if err != nil || len(all) != 2 || all[1].Hash != o.Session.Hash || all[0].Browser != "B" {
		t.Fatalf("%+v, %v, want the newer session B first", all, err)
	}
	stranger, err := s.Authenticate(ctx, theirs, "req")
	expect.OK(t, err)
	for range 2 {
		for _, name := range []string{all[0].Hash.Name(), stranger.Session.Hash.Name(), "x"} {
			expect.OK(t, s.EndNamed(ctx, o, name))
		}
	}
	if s.opens(t, other) || !s.opens(t, one) || !s.opens(t, theirs) {
		t.Error("the wrong session ended")
	}
	s.WantEvents(t, event.SessionEnded, 1)
	if all, err = s.List(ctx, o); err != nil || len(all) != 1 {
		t.Errorf("listed afterwards: %+v, %v", all, err)
	}
	s.at = s.at.Add(limits.SessionIdle)
	if all, err = s.List(ctx, o); err != nil || len(all) != 0 {
		t.Errorf("idle ones are listed: %+v, %v", all, err)
	}
}

type brokenTouch struct{ session.Store }

func (brokenTouch) Touch(context.Context, session.Hash, time.Time, time.Time) error { panic("broken") }

func TestAPanicWhileAUseIsRecordedIsTheErrorOfTheRequest(t *testing.T) {
	s := newEnv(t)
	secret := s.start(t)
	s.at = s.at.Add(2 * limits.SessionSeenEvery)
	s.Store = brokenTouch{s.Store}
	if _, err := s.Authenticate(ctx, secret, "req"); async.StackOf(err) == nil {
		t.Error(err)
	}
}

func (e *env) change() deletion.Change {
	return deletion.Change{
		Workspace: e.who.Workspace.ID,
		Member:    e.who.Member.ID,
		DeletesAt: e.at.Add(limits.DeletionGrace),
		At:        e.at,
		Event:     event.Event{ID: id.NewEvent(), Workspace: e.who.Workspace.ID, At: e.at, Action: event.DeletionRequested},
	}
}

func TestASessionOfAWorkspaceThatIsBeingDeletedOpensItsPageAlone(t *testing.T) {
	s := newEnv(t)
	before := s.start(t)
	asked := s.change()
	expect.OK(t, s.Stores.Deletions.Request(ctx, asked))
	s.at = s.at.Add(time.Second)
	after := s.start(t)
	if _, err := s.Authenticate(ctx, before, "req"); errors.Is(err, workspace.ErrDeleting) ||
		fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("a session of before: %v", err)
	}
	if _, err := s.AuthenticateDeleting(ctx, before, "req"); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("a session of before, at the page: %v", err)
	}
	if _, err := s.Authenticate(ctx, after, "req"); !errors.Is(err, workspace.ErrDeleting) {
		t.Errorf("a session of afterwards: %v", err)
	}
	in, err := s.AuthenticateDeleting(ctx, after, "req")
	if err != nil || !in.Actor.Workspace.Deleting() {
		t.Fatalf("a session of afterwards, at the page: %v", err)
	}
	cancelled := s.change()
	cancelled.DeletesAt = asked.DeletesAt
	expect.OK(t, s.Stores.Deletions.Cancel(ctx, cancelled))
	if !s.opens(t, after) || s.opens(t, before) {
		t.Error("what ended came back, or the session that kept the workspace ended")
	}
	if err := s.Stores.Deletions.Cancel(ctx, s.change()); !errors.Is(err, deletion.ErrMoved) {
		t.Errorf("a second cancellation: %v", err)
	}
}
