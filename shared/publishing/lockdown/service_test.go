package lockdown

import (
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore has one target, which is locked or not, and records what is written.
type fakeStore struct {
	active *Lockdown
	target *Target
	rows   []Lockdown

	fake.Outcomes // of the next writes
	reads         int
	locked        []Change
	lifted        []Change
}

func (f *fakeStore) Active(context.Context, Scope, string) (*Lockdown, error) {
	f.reads++
	if f.active == nil {
		return nil, nil
	}
	l := *f.active
	return &l, nil
}

func (f *fakeStore) Target(context.Context, Scope, string) (*Target, error) { return f.target, nil }

func (f *fakeStore) Lock(_ context.Context, c Change) error {
	f.locked = append(f.locked, c)
	return f.Next()
}

func (f *fakeStore) Lift(_ context.Context, c Change) error {
	f.lifted = append(f.lifted, c)
	return f.Next()
}

// Lockdowns returns the rows behind a position.
func (f *fakeStore) List(_ context.Context, after Position, limit int) ([]Lockdown, bool, error) {
	rows := f.rows
	for n, l := range rows {
		if l.ID == after.ID && l.SetAt.Equal(after.At) {
			rows = rows[n+1:]
			break
		}
	}
	return rows[:min(limit, len(rows))], len(rows) > limit, nil
}

func newEnv(t *testing.T) (*Service, *fakeStore, credential.Actor) {
	t.Helper()
	cursors, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	store := &fakeStore{target: &Target{Workspace: "audited"}}
	operator := credential.Actor{
		Member:    "mem",
		Operator:  now.Add(-time.Minute),
		Workspace: workspace.Workspace{ID: id.NewWorkspace()},
		RequestID: "req",
	}
	return &Service{Store: store, Cursors: cursors, Now: func() time.Time { return now.Add(999) }}, store, operator
}

func TestALockdownHasAnExistingTargetAndAReason(t *testing.T) {
	ws, art := string(id.NewWorkspace()), string(id.NewArtifact())
	longest := strings.Repeat("ü", limits.ReasonRunes)
	const why = "abuse"
	nothing := func(*fakeStore, *credential.Actor) {}
	gone := func(f *fakeStore, _ *credential.Actor) { f.target = nil }
	own := func(_ *fakeStore, by *credential.Actor) { by.Workspace.ID = id.Workspace(ws) }
	claimed := func(f *fakeStore, _ *credential.Actor) { f.target.ClaimedInto = "other" }
	for name, c := range map[string]struct {
		scope  Scope
		target string
		reason string
		set    func(*fakeStore, *credential.Actor)
		want   fault.Code
	}{
		"a workspace is locked":                        {Workspace, ws, why, nothing, ""},
		"an artifact is locked":                        {Artifact, art, longest, nothing, ""},
		"a reason of spaces is refused":                {Artifact, art, " \n", nothing, fault.InvalidRequest},
		"a long reason is refused":                     {Artifact, art, longest + "u", nothing, fault.InvalidRequest},
		"an empty target is refused":                   {Artifact, " ", why, nothing, fault.InvalidRequest},
		"another scope is not found":                   {"member", ws, why, nothing, fault.NotFound},
		"an id of the other scope is not":              {Artifact, ws, why, nothing, fault.NotFound},
		"an id of the first scope is not too":          {Workspace, art, why, nothing, fault.NotFound},
		"a malformed id is not found":                  {Artifact, "x", why, nothing, fault.NotFound},
		"an artifact that does not exist is not found": {Artifact, art, why, gone, fault.NotFound},
		"a workspace that does not exist is not too":   {Workspace, ws, why, gone, fault.NotFound},
		"the operator's own workspace is refused":      {Workspace, ws, why, own, fault.InvalidRequest},
		"a workspace that was claimed is refused":      {Workspace, ws, why, claimed, fault.InvalidRequest},
		"an artifact of a claimed workspace is locked": {Artifact, art, why, claimed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv(t)
			c.set(f, &by)
			asked := contract.SetLockdown{Scope: string(c.scope), TargetID: c.target, ReasonCode: c.reason}
			out, err := s.Set(t.Context(), by, idempotency.Command{}, nil, asked)
			expect.Code(t, err, c.want)
			if (len(f.locked) == 1) != (c.want == "") {
				t.Errorf("locked %d times", len(f.locked))
			}
			if c.want == "" && (out.TargetID != c.target || out.SetAt != contract.At(now) || out.LiftedAt != nil) {
				t.Errorf("%+v, want it set now", out)
			}
		})
	}
}

func TestAnOperatorIsToldWhyTheirOwnWorkspaceIsNotLocked(t *testing.T) {
	s, _, by := newEnv(t)
	asked := contract.SetLockdown{Scope: string(Workspace), TargetID: string(by.Workspace.ID), ReasonCode: "abuse"}
	_, err := s.Set(t.Context(), by, idempotency.Command{}, nil, asked)
	expect.Code(t, err, fault.InvalidRequest)
	if !strings.Contains(err.Error(), "your own workspace") {
		t.Error(err)
	}
}

func TestT47OnlyOperatorsKnowLockdowns(t *testing.T) {
	target := id.NewArtifact()
	for name, set := range map[string]func(*credential.Actor){
		"a member":                         func(by *credential.Actor) { by.Operator = time.Time{} },
		"a key":                            func(by *credential.Actor) { by.Member = "" },
		"an operator who signed in before": func(by *credential.Actor) { by.Operator = now.Add(-limits.OperatorFresh) },
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv(t)
			set(&by)
			_, err := s.Set(t.Context(), by, idempotency.Command{}, nil, contract.SetLockdown{})
			expect.Code(t, err, fault.NotFound)
			_, err = s.Lift(t.Context(), by, idempotency.Command{}, nil, Artifact, string(target))
			expect.Code(t, err, fault.NotFound)
			_, err = s.List(t.Context(), by, "", 1)
			expect.Code(t, err, fault.NotFound)
			if f.reads > 0 {
				t.Error("the store is read")
			}
		})
	}
}

func TestT50ASecondLockdownIsTheFirstForItsOwnKeyToo(t *testing.T) {
	s, f, by := newEnv(t)
	first := Lockdown{
		ID:     id.NewLockdown(),
		Scope:  Artifact,
		Target: string(id.NewArtifact()),
		Reason: "first",
		SetAt:  now.Add(-time.Hour),
		SetBy:  "other",
	}
	f.active = &first
	asked := contract.SetLockdown{Scope: string(Artifact), TargetID: first.Target, ReasonCode: "second"}
	command := idempotency.Command{Fingerprint: idempotency.FingerprintOf("POST", "/lockdowns", nil)}
	out, err := s.Set(t.Context(), by, command, nil, asked)
	expect.Code(t, err, "")
	if out.ReasonCode != "first" || out.SetBy != "other" || out.SetAt != contract.At(first.SetAt) {
		t.Errorf("%+v, want the first lockdown", out)
	}
	if len(f.locked) != 1 || !f.locked[0].Noop || f.locked[0].Lockdown != first || f.locked[0].Command != command {
		t.Fatalf("%+v, want the command recorded without a change", f.locked)
	}
	f.active = nil // it is lifted
	done := &idempotency.Record{
		Fingerprint: command.Fingerprint,
		Done:        true,
		Expires:     now.Add(time.Hour),
		Result:      f.locked[0].Result,
	}
	again, err := s.Set(t.Context(), by, command, done, asked)
	expect.Code(t, err, "")
	if again != out || len(f.locked) != 1 {
		t.Errorf("%+v, then %+v, after %d writes: want the same answer without a write", out, again, len(f.locked))
	}
}

func TestALockdownIsLiftedIfItIsInEffect(t *testing.T) {
	target := string(id.NewArtifact())
	active := Lockdown{ID: id.NewLockdown(), Scope: Artifact, Target: target}
	for name, c := range map[string]struct {
		set    func(*fakeStore)
		scope  Scope
		target string
		want   fault.Code
	}{
		"one that is in effect is lifted": {func(f *fakeStore) { f.active = &active }, Artifact, target, ""},
		"none is not found":               {func(*fakeStore) {}, Artifact, target, fault.NotFound},
		"none of a workspace is not too":  {func(*fakeStore) {}, Workspace, string(id.NewWorkspace()), fault.NotFound},
		"one of a target that is gone is not": {
			func(f *fakeStore) { f.active, f.target = &active, nil }, Artifact, target, fault.NotFound,
		},
		"one of a malformed target is not read": {
			func(f *fakeStore) { f.active = &active }, Artifact, "art_", fault.NotFound,
		},
		"one of another scope is not read": {
			func(f *fakeStore) { f.active = &active }, "revision", target, fault.NotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv(t)
			c.set(f)
			out, err := s.Lift(t.Context(), by, idempotency.Command{}, nil, c.scope, c.target)
			expect.Code(t, err, c.want)
			if (len(f.lifted) == 1) != (c.want == "") {
				t.Fatalf("lifted %d times", len(f.lifted))
			}
			if c.want == "" && (out.LiftedAt == nil || *out.LiftedAt != contract.At(now) || *out.LiftedBy != "mem") {
				t.Errorf("%+v, want it lifted now", out)
			}
		})
	}
}

func TestALockdownIsRecordedForTheWorkspaceThatHasTheTarget(t *testing.T) {
	s, f, by := newEnv(t)
	target := string(id.NewArtifact())
	asked := contract.SetLockdown{Scope: string(Artifact), TargetID: target, ReasonCode: "abuse"}
	_, err := s.Set(t.Context(), by, idempotency.Command{}, nil, asked)
	expect.Code(t, err, "")
	f.active = &f.locked[0].Lockdown
	_, err = s.Lift(t.Context(), by, idempotency.Command{}, nil, Artifact, target)
	expect.Code(t, err, "")
	set, lifted := f.locked[0].Event, f.lifted[0].Event
	if set.Action != event.LockdownSet || lifted.Action != event.LockdownLifted {
		t.Errorf("%s, %s", set.Action, lifted.Action)
	}
	for _, e := range []event.Event{set, lifted} {
		if e.Workspace != "audited" || e.Actor != event.ByOperator("mem") || e.Target.ID != target || e.Detail != "abuse" {
			t.Errorf("%+v, want what the operator did", e)
		}
	}
}

func TestAChangeThatLosesARaceIsDecidedAnew(t *testing.T) {
	target := string(id.NewArtifact())
	asked := contract.SetLockdown{Scope: string(Artifact), TargetID: target, ReasonCode: "abuse"}
	t.Run("a lockdown that was set meanwhile is the answer", func(t *testing.T) {
		s, f, by := newEnv(t)
		f.Fails = []error{ErrMoved}
		f.OnCall = func() { f.active = &Lockdown{Scope: Artifact, Target: target, Reason: "other"} }
		out, err := s.Set(t.Context(), by, idempotency.Command{}, nil, asked)
		expect.Code(t, err, "")
		if out.ReasonCode != "other" || len(f.locked) != 2 || !f.locked[1].Noop {
			t.Errorf("%+v after %d attempts, want the other one, at the second attempt", out, len(f.locked))
		}
	})
	t.Run("a lockdown that was lifted meanwhile is not found", func(t *testing.T) {
		s, f, by := newEnv(t)
		f.active = &Lockdown{Scope: Artifact, Target: target}
		f.Fails = []error{ErrMoved}
		f.OnCall = func() { f.active = nil }
		_, err := s.Lift(t.Context(), by, idempotency.Command{}, nil, Artifact, target)
		expect.Code(t, err, fault.NotFound)
	})
	t.Run("it ends after races.Attempts", func(t *testing.T) {
		s, f, by := newEnv(t)
		for range races.Attempts {
			f.Fails = append(f.Fails, ErrMoved)
		}
		_, err := s.Set(t.Context(), by, idempotency.Command{}, nil, asked)
		expect.Code(t, err, fault.DatabaseUnavailable)
		if len(f.locked) != races.Attempts {
			t.Errorf("%d attempts", len(f.locked))
		}
	})
}

func TestT50ARepeatedCommandHasItsFirstResult(t *testing.T) {
	target := string(id.NewArtifact())
	asked := contract.SetLockdown{Scope: string(Artifact), TargetID: target, ReasonCode: "abuse"}
	sent := fake.Repeated(`{"reason_code":"first"}`, now.Add(time.Hour))
	for name, c := range map[string]struct {
		record *idempotency.Record
		fails  error
		writes int
		want   fault.Code
	}{
		"it finished before the request": {&sent.Done, nil, 0, ""},
		"it finished meanwhile":          {nil, &idempotency.AlreadyDone{Record: sent.Done}, 1, ""},
		"it is still running":            {nil, &idempotency.AlreadyDone{Record: sent.Running}, 1, fault.IdempotencyInFlight},
		"its key had another body":       {&sent.Other, nil, 0, fault.InvalidIdempotencyKey},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv(t)
			f.Fails = []error{c.fails}
			out, err := s.Set(t.Context(), by, sent.Command, c.record, asked)
			expect.Code(t, err, c.want)
			if c.want == "" && out.ReasonCode != "first" || len(f.locked) != c.writes {
				t.Errorf("%+v, %d writes, want the first lockdown", out, len(f.locked))
			}
		})
	}
}

func TestLockdownsAreListedPageByPage(t *testing.T) {
	s, f, by := newEnv(t)
	for n := range 3 {
		f.rows = append(f.rows, Lockdown{ID: id.NewLockdown(), SetAt: now.Add(-time.Duration(n) * time.Hour)})
	}
	f.rows[1].LiftedAt, f.rows[1].LiftedBy = now, "mem"
	first, err := s.List(t.Context(), by, "", 2)
	expect.Code(t, err, "")
	if len(first.Items) != 2 || !first.PageInfo.HasMore {
		t.Fatalf("%+v, want two and a further page", first)
	}
	if first.Items[0].LiftedAt != nil || *first.Items[1].LiftedBy != "mem" {
		t.Fatalf("%+v, want the second lifted", first)
	}
	second, err := s.List(t.Context(), by, *first.PageInfo.NextCursor, 2)
	expect.Code(t, err, "")
	if len(second.Items) != 1 || second.PageInfo.HasMore || second.Items[0].SetAt != contract.At(f.rows[2].SetAt) {
		t.Errorf("%+v, want the last one", second)
	}
	_, err = s.List(t.Context(), by, "", 0)
	expect.Code(t, err, fault.InvalidRequest)
}
