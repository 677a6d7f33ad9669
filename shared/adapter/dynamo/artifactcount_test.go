package dynamo

import (
	"testing"
	"time"

	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

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
