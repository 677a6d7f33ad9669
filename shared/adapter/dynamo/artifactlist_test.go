package dynamo

import (
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
)

func TestADeletedArtifactIsGoneAtOnce(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	noError(t, s.Artifacts.Publish(ctx, publication(k, r, 1)))
	a, _ := s.Artifacts.Artifact(ctx, r.Artifact)
	noError(t, remove(s, k, *a))
	state, _ := s.Artifacts.ReadState(ctx, readaccess.Query{Workspace: w.ID, Artifact: a.ID})
	if state.Allows(readaccess.Query{Workspace: w.ID, Artifact: a.ID}, now()) {
		t.Error("it can be read")
	}
	if err := remove(s, k, *a); !errors.Is(err, artifact.ErrMoved) {
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
		noError(t, s.Uploads.Finalize(ctx, f))
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
			if delete(want, a.ID); !last.CreatedAt.IsZero() && a.CreatedAt.After(last.CreatedAt) {
				t.Errorf("%s comes after an older one", a.ID)
			}
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
	passed := make([]bool, 12)
	noError(t, errors.Join(parallel.Calls(len(passed), func(n int) (err error) {
		_, passed[n], err = s.Counters.Count(ctx, w, 1, 5)
		return err
	})...))
	if n := count(passed); n != 5 {
		t.Errorf("%d of 5 passed", n)
	}
	i, _ := s.getIn(ctx, s.tables.Hot, key{pk: rateKey(w)}, true)
	if ttl := i.getSeconds("ttl"); ttl.Before(w.End) || ttl.After(w.End.Add(2*time.Hour)) {
		t.Errorf("F55: ttl %s is not in seconds", ttl)
	}
}

func TestTheGateSettingIsReadBack(t *testing.T) {
	s := newStore(t)
	if _, err := s.Workspaces.Quota(ctx); fault.CodeOf(err) != fault.ProvisionUnavailable {
		t.Error("F78: a missing setting passes", err)
	}
	noError(t, s.Workspaces.SetQuota(ctx, ephemeral.Quota{PerMinute: 17}, now()))
	noError(t, s.Workspaces.InitQuota(ctx, ephemeral.Quota{PerMinute: 20}, now())) // keeps what an operator set
	if g, err := s.Workspaces.Quota(ctx); err != nil || g.PerMinute != 17 {
		t.Error(g, err)
	}
}

func TestArtifactsAreCountedByWhatTheyAre(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	const soon = limits.ExpiringSoon
	for i, life := range []time.Duration{time.Hour, soon - time.Minute, soon + time.Hour, -time.Hour, 0} {
		u, entries := openSession(t, s, w, k, "")
		f := finalization(t, s, k, u, entries)
		f.Artifact.ExpiresAt = f.At.Add(time.Hour)
		if life != 0 {
			f.Artifact.ExpiresAt = f.At.Add(life)
			f.Artifact.Current = f.Revision.ID // as if it was published
		}
		if err := s.Uploads.Finalize(ctx, f); err != nil {
			t.Fatal(i, err)
		}
		if i > 0 {
			continue
		}
		noError(t, remove(s, k, f.Artifact))
	}
	q := artifact.Query{
		Workspace: w.ID,
		Claimed:   true,
		Gone:      true,
		Limit:     10,
		Now:       now(),
	}
	want := artifact.Counts{All: artifact.Count{N: 5}, Published: artifact.Count{N: 2}, Expiring: artifact.Count{N: 1}}
	if got, err := s.Artifacts.Count(ctx, q); err != nil || got != want {
		t.Errorf("counted %+v, %v; expected %+v", got, err, want)
	}
	q.Limit = 3 // of four that live and one that was deleted
	got, err := s.Artifacts.Count(ctx, q)
	if err != nil || got.All != (artifact.Count{N: 3, More: true}) || !got.Published.More {
		t.Errorf("counted %+v, %v up to three", got, err)
	}
	q.Limit, q.Workspace = 10, "5b0f8a52-6f0e-4c55-9a2c-1d2f7a1f0c11"
	if got, err := s.Artifacts.Count(ctx, q); err != nil || got != (artifact.Counts{}) {
		t.Errorf("a workspace without artifacts has %+v, %v", got, err)
	}
}
