package dynamo

import (
	"errors"
	"sync"
	"testing"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
)

func TestADeletedArtifactIsGoneAtOnce(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	if err := s.Artifacts.Publish(ctx, publication(k, r, 1)); err != nil {
		t.Fatal(err)
	}
	a, _ := s.Artifacts.Artifact(ctx, r.Artifact)
	d := artifact.Deletion{
		Command:   command(k, idempotency.DeleteArtifact),
		Result:    []byte(`{}`),
		Workspace: w.ID,
		Artifact:  *a,
		At:        now(),
		Event:     record(w.ID, now()),
	}
	if err := s.Artifacts.Delete(ctx, d); err != nil {
		t.Fatal(err)
	}
	state, _ := s.Artifacts.ReadState(ctx, readaccess.Query{Workspace: w.ID, Artifact: a.ID})
	if state.Allows(readaccess.Query{Workspace: w.ID, Artifact: a.ID}, now()) {
		t.Error("it can be read")
	}
	d.Command = command(k, idempotency.DeleteArtifact)
	if err := s.Artifacts.Delete(ctx, d); !errors.Is(err, artifact.ErrMoved) {
		t.Error("deleted twice", err)
	}
	if rows, _, _ := s.Artifacts.List(ctx, artifact.Query{Workspace: w.ID, Limit: 10, Now: now()}); len(rows) != 0 {
		t.Error("it is listed")
	}
}

func TestListsPageWithoutGapsAndLeaveExpiredOnesOut(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	want := map[id.Artifact]bool{}
	for i := range 7 {
		u, entries := openSession(t, s, w, k, "")
		f := finalization(t, s, k, u, entries)
		f.Artifact.CreatedAt = f.At.Add(-time.Duration(i/2) * time.Second)
		if i == 3 {
			f.Artifact.ExpiresAt = f.At.Add(-time.Second)
		} else {
			want[f.Artifact.ID] = true
		}
		if err := s.Uploads.Finalize(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	var last artifact.Position
	for pages := 0; ; pages++ {
		rows, more, err := s.Artifacts.List(ctx, artifact.Query{
			Workspace: w.ID,
			After:     last,
			Limit:     2,
			Now:       now(),
		})
		if err != nil || pages > 4 {
			t.Fatal(pages, err)
		}
		for _, a := range rows {
			if !want[a.ID] {
				t.Errorf("%s is listed twice, foreign or expired", a.ID)
			}
			delete(want, a.ID)
			last = artifact.Position{CreatedAt: a.CreatedAt, ID: a.ID}
		}
		if !more {
			break
		}
	}
	if len(want) != 0 {
		t.Errorf("missing %v", want)
	}
}

func TestCountersAreExactAndEnd(t *testing.T) {
	s := newStore(t)
	w := rate.Window{
		Kind:    "t",
		Subject: "x",
		Start:   now(),
		End:     now().Add(time.Minute),
	}
	var mu sync.Mutex
	passed := 0
	parallel(12, func(int) error {
		_, ok, err := s.Counters.Count(ctx, w, 1, 5)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if ok {
			passed++
		}
		return err
	})
	if passed != 5 {
		t.Errorf("%d of 5 passed", passed)
	}
	i, _ := s.getIn(ctx, s.tables.Hot, key{pk: rateKey(w)}, true)
	if ttl := i.getSeconds("ttl"); ttl.Before(w.End) || ttl.After(w.End.Add(2*time.Hour)) {
		t.Errorf("F55: ttl %s is not in seconds", ttl)
	}
}

func TestAKeyIsRevokedOnceAndKeepsItsFirstTime(t *testing.T) {
	s := newStore(t)
	_, k := tenant(t, s)
	first, err := s.Keys.Revoke(ctx, k, now(), record(k.Workspace, now()))
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Keys.Revoke(ctx, k, now().Add(time.Hour), record(k.Workspace, now()))
	if err != nil || !again.Equal(first) {
		t.Errorf("%s, then %s (%v)", first, again, err)
	}
	found, _ := s.Access.Find(ctx, k.Public, k.Workspace, access.Request{})
	if found.Key.Live(now(), workspace.Workspace{}) {
		t.Error("a revoked key lives")
	}
}

func TestAClosedWorkspaceTakesNoWrites(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	for n := range fences {
		tx := s.begin()
		tx.put(newItem(fenceKey(w.ID, n)).str("into", "elsewhere"), "", nil, nil)
		if err := s.commit(ctx, tx); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Artifacts.Publish(ctx, publication(k, r, 1)); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Error(err)
	}
}

func TestTheGateSettingIsReadBack(t *testing.T) {
	s := newStore(t)
	if _, err := s.Workspaces.Quota(ctx); fault.CodeOf(err) != fault.ProvisionUnavailable {
		t.Error("F78: a missing setting passes", err)
	}
	if err := s.Workspaces.SetQuota(ctx, ephemeral.Quota{PerMinute: 17}, now()); err != nil {
		t.Fatal(err)
	}
	if g, err := s.Workspaces.Quota(ctx); err != nil || g.PerMinute != 17 {
		t.Error(g, err)
	}
}
