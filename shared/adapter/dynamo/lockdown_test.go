package dynamo

import (
	"slices"
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/lockdown"
)

func TestATargetOfALockdownIsReadIfItExists(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	a, _ := s.Artifacts.Artifact(ctx, r.Artifact)
	owned := lockdown.Target{Workspace: w.ID, Owner: w.ID, CreatedAt: a.CreatedAt}
	for target, c := range map[string]struct {
		scope lockdown.Scope
		want  *lockdown.Target
	}{
		string(w.ID):              {lockdown.Workspace, &lockdown.Target{Workspace: w.ID}},
		string(r.Artifact):        {lockdown.Artifact, &owned},
		string(id.NewWorkspace()): {lockdown.Workspace, nil},
		string(id.NewArtifact()):  {lockdown.Artifact, nil},
	} {
		got, err := s.Lockdowns.Target(ctx, c.scope, target)
		if err != nil || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s %s: %+v, %v", c.scope, target, got, err)
		}
	}
}

// TestLockdownsAreListedNewestFirst has lockdowns in effect between lifted ones, which are stored apart.
func TestLockdownsAreListedNewestFirst(t *testing.T) {
	s := newStore(t)
	at := now()
	var want []id.Lockdown
	for n := range 5 {
		w, k := tenant(t, s)
		l := lock(t, s, w, command(k, idempotency.SetLockdown), at.Add(time.Duration(n)*time.Second))
		if n%2 == 0 {
			lift(t, s, l, command(k, idempotency.LiftLockdown))
		}
		want = append([]id.Lockdown{l.ID}, want...)
	}
	for _, limit := range []int{1, 2, 5, 6} {
		var got []id.Lockdown
		for after, more := (lockdown.Position{}), true; more && len(got) <= len(want); {
			var rows []lockdown.Lockdown
			var err error
			rows, more, err = s.Lockdowns.List(ctx, after, limit)
			if err != nil || len(rows) > limit || more && len(rows) != limit {
				t.Fatal(len(rows), more, err)
			}
			for _, l := range rows {
				if got = append(got, l.ID); l.LiftedAt.IsZero() != (len(got)%2 == 0) {
					t.Errorf("%d at a time, row %d: %+v", limit, len(got), l)
				}
				after = lockdown.Position{At: l.SetAt, ID: l.ID}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %v, want %v", limit, got, want)
		}
	}
}

// TestAnArtifactThatIsClosedEndsTheArchivesThatMayHoldIt deletes or locks one before and after an export listed it.
func TestAnArtifactThatIsClosedEndsTheArchivesThatMayHoldIt(t *testing.T) {
	for name, end := range map[string]func(*exportEnv, artifact.Artifact){
		"deleted": func(e *exportEnv, a artifact.Artifact) { noError(e.t, remove(e.Stores, e.k, a)) },
		"locked": func(e *exportEnv, a artifact.Artifact) {
			target := must(e.Lockdowns.Target(ctx, lockdown.Artifact, string(a.ID)))(e.t)
			noError(e.t, e.Lockdowns.Lock(ctx, lockdown.Change{
				Command:  command(e.k, idempotency.SetLockdown),
				Result:   []byte(`{}`),
				Lockdown: lockdown.Lockdown{ID: id.NewLockdown(), Scope: lockdown.Artifact, Target: string(a.ID), SetAt: now()},
				Target:   *target,
				At:       now(),
				Event:    record(e.w.ID, now()),
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExportEnv(t)
			add := func() artifact.Artifact {
				a, _ := e.Artifacts.Artifact(ctx, draft(t, e.Stores, e.w, e.k, "").Artifact)
				return *a
			}
			early, old, older := add(), add(), add()
			e.create(nil)
			end(e, early)
			listed := func(p *export.Export) {
				p.StartedAt, p.Artifacts = now().Add(time.Millisecond), 2
				p.Volumes, p.Most = volumes, 2
				p.Next.Changes = 7
			}
			started := e.save(e.take(), listed)
			attempt := e.take()
			end(e, old)
			if got := e.stored(); got.Status != export.Pending || !got.StartedAt.IsZero() || got.Artifacts != 0 ||
				got.Next != (export.Position{}) || len(got.Volumes) > 0 || got.Most != 2 {
				t.Fatalf("one that is made goes on with it: %+v", got)
			}
			p := attempt.Export
			ready(e.at)(&p)
			if ok, err := e.Exports.Save(ctx, attempt, p); ok || err != nil {
				t.Fatal("an attempt with it is stored", err)
			}
			noError(t, e.Exports.Release(ctx, attempt))
			e.save(e.take(), func(p *export.Export) { p.StartedAt = started.StartedAt })
			e.save(e.take(), ready(e.at))
			young := add()
			young.CreatedAt = started.StartedAt.Add(time.Second)
			if name == "deleted" {
				noError(t, remove(e.Stores, e.k, young))
			}
			if got := e.stored().At(now()); got.Status != export.Ready {
				t.Fatalf("ended by an artifact that it does not have: %+v", got)
			}
			end(e, older)
			got := e.stored().At(now())
			if got.Status != export.Expired || got.Reason != export.Withdrawn || len(e.stale(now())) != 1 {
				t.Fatalf("%+v, %v, want it withdrawn, with its volumes to delete", got, e.stale(now()))
			}
		})
	}
}

// lock locks a workspace at an instant.
func lock(t *testing.T, s Stores, w workspace.Workspace, c idempotency.Command, at time.Time) lockdown.Lockdown {
	t.Helper()
	l := lockdown.Lockdown{
		ID:     id.NewLockdown(),
		Scope:  lockdown.Workspace,
		Target: string(w.ID),
		Reason: "abuse",
		SetAt:  at,
		SetBy:  "mem",
	}
	noError(t, s.Lockdowns.Lock(ctx, lockdown.Change{
		Command:  c,
		Result:   []byte("{}"),
		Lockdown: l,
		Target:   lockdown.Target{Workspace: w.ID},
		At:       at,
		Event:    record(w.ID, at),
	}))
	return l
}

// lift ends a lockdown a minute after it was set.
func lift(t *testing.T, s Stores, l lockdown.Lockdown, c idempotency.Command) {
	t.Helper()
	l.LiftedAt, l.LiftedBy = l.SetAt.Add(time.Minute), "mem"
	w := id.Workspace(l.Target)
	noError(t, s.Lockdowns.Lift(ctx, lockdown.Change{
		Command:  c,
		Result:   []byte("{}"),
		Lockdown: l,
		Target:   lockdown.Target{Workspace: w},
		At:       l.LiftedAt,
		Event:    record(w, l.LiftedAt),
	}))
}
