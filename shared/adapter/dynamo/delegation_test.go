package dynamo

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
)

func TestAnEarlierReleaseUsedUpATokenOfAProvider(t *testing.T) {
	s := goldenStores(t)
	proof := delegation.Proof{
		Kind:   delegation.Event,
		Issuer: "https://agents.example",
		ID:     "jti-1",
		Digest: sha256.Sum256([]byte("event")),
		Until:  goldenAt(30),
	}
	if err := s.Delegations.Use(ctx, proof); !errors.Is(err, delegation.ErrRepeated) {
		t.Error("a used token is", err)
	}
	proof.Digest[0]++
	if err := s.Delegations.Use(ctx, proof); !errors.Is(err, delegation.ErrReplayed) {
		t.Error("another token with the id of a used one is", err)
	}
}

// linked is a stored delegation in a workspace of its own.
func linked(t *testing.T, s Stores, subject string) (delegation.Delegation, workspace.Workspace) {
	t.Helper()
	w, _ := tenant(t, s)
	d := delegation.Delegation{
		Principal:  delegation.Principal{Issuer: "https://idp.example", Subject: subject, Audience: "a"},
		Generation: 1,
		Workspace:  w.ID,
		Member:     id.NewMember(),
		CreatedAt:  now(),
		SeenAt:     now(),
	}
	tx := s.begin()
	tx.create(delegationItem(d))
	noError(t, s.commit(ctx, tx))
	return d, w
}

func ending(d delegation.Delegation, w workspace.Workspace, at time.Time) delegation.Ending {
	return delegation.Ending{
		Was:       &d,
		To:        d.Ended(at),
		Workspace: &w,
		At:        at,
	}
}

func TestADelegationEndsWithItsTermAndOnce(t *testing.T) {
	s := newStore(t)
	d, w := linked(t, s, "ada")
	at := now()
	e := ending(d, w, at)
	if n := winners(t, parallel.Calls(6, func(int) error { return s.Delegations.End(ctx, e) }),
		func(err error) bool { return errors.Is(err, delegation.ErrChanged) }); n != 1 {
		t.Errorf("ended %d times", n)
	}
	after, err := s.Workspaces.Workspace(ctx, w.ID)
	if err != nil || !after.Ended(d.Term()) || after.Ended(e.To.Term()) {
		t.Errorf("%+v %v, want the first term ended and the second not", after, err)
	}
	rows, _, err := s.Delegations.List(ctx, cursor.Query[delegation.Delegation]{
		Workspace: w.ID,
		Limit:     10,
		Live:      func(delegation.Delegation) bool { return true },
	})
	if err != nil || len(rows) != 0 {
		t.Error("an ended delegation is listed", rows, err)
	}
	i, err := s.get(ctx, delegationKey(d.ID()))
	if err != nil || !i.getSeconds("ttl").Equal(delegation.TombstoneEnds(at).Truncate(time.Second)) {
		t.Error("an ended delegation stays for good", i, err)
	}
}

func TestAWorkspaceForgetsTermsWhoseCredentialsHaveExpired(t *testing.T) {
	s := newStore(t)
	old, w := linked(t, s, "old")
	w.EndedTerms = w.EndTerms(now().Add(-3*time.Hour), old.Term())
	tx := s.begin()
	tx.endTerms(workspace.Workspace{ID: w.ID}, w.EndedTerms, func(item) error { return delegation.ErrChanged })
	noError(t, s.commit(ctx, tx))
	at := now()
	noError(t, s.Delegations.End(ctx, ending(old, w, at)))
	after, err := s.Workspaces.Workspace(ctx, w.ID)
	if err != nil || len(after.EndedTerms) != 1 || !after.EndedTerms[0].At.Equal(at) {
		t.Errorf("%+v %v, want one term, ended now", after.EndedTerms, err)
	}
}

func TestAMemberIsListedUnderTheNewestAddress(t *testing.T) {
	s := newStore(t)
	a := newcomer("one")
	noError(t, s.Members.Add(ctx, a)) // as before there was a list
	m := a.Member
	for n, email := range []string{m.Email, "new@example.org", "NEW@example.org"} {
		m.Email, m.SeenAt = email, m.SeenAt.Add(time.Hour)
		if err := s.Members.Touch(ctx, m, m.SeenAt); err != nil {
			t.Fatal(n, err)
		}
		stored, _, err := s.Members.Member(ctx, m.Workspace, m.ID)
		if err != nil || stored.Email != email || stored.Listed != member.AddressOf(email) {
			t.Fatalf("%+v %v, want the address at last", stored, err)
		}
		m = *stored
	}
	for email, want := range map[member.Address]int{"ada@example.org": 0, "new@example.org": 1} {
		if got, err := s.Members.ByAddress(ctx, email); err != nil || len(got) != want {
			t.Errorf("%s: %v %v", email, got, err)
		}
	}
}

func TestAnAddressThatAnotherMemberGotMeanwhileIsDecidedAnew(t *testing.T) {
	s := newStore(t)
	one, two := newcomer("one"), newcomer("two")
	one.Member.Listed, two.Member.Listed = "ada@example.org", "ada@example.org"
	noError(t, s.Members.Add(ctx, one))
	if err := s.Members.Add(ctx, two); !errors.Is(err, member.ErrKnown) {
		t.Error(err)
	}
	two.Others = []member.Addressee{{Workspace: one.Workspace.ID, Member: one.Member.ID}}
	if err := s.Members.Add(ctx, two); err != nil {
		t.Error(err)
	}
	if all, err := s.Members.ByAddress(ctx, "ada@example.org"); err != nil || len(all) != 2 {
		t.Error(all, err)
	}
}
