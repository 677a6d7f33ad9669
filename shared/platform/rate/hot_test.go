package rate

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// marked keeps marks, and then fails.
type marked struct{ marks []Hot }

func (m *marked) Mark(_ context.Context, h Hot) error {
	m.marks = append(m.marks, h)
	return errors.New("the table is away")
}

func TestAnArtifactThatIsReadOftenIsMarkedOnceInAWindow(t *testing.T) {
	limiter, _, now := newLimiter(t)
	kept := &marked{}
	limiter.Marks = kept
	read := func(a id.Artifact, reads int, every time.Duration) {
		t.Helper()
		for range reads {
			if r := limiter.Confirm(t.Context(), limiter.Artifact(t.Context(), a, "file"), limits.Free); r.Over != nil {
				t.Fatal(r.Over)
			}
			*now = now.Add(every)
		}
	}
	*now = now.Truncate(limits.ReadWindow)
	hot, cold := id.NewArtifact(), id.NewArtifact()
	read(cold, 20, time.Millisecond)
	if len(kept.marks) > 0 {
		t.Errorf("20 reads: %+v", kept.marks)
	}
	read(hot, 400, time.Millisecond)
	if len(kept.marks) != 1 || kept.marks[0].Artifact != hot || now.Sub(kept.marks[0].At) > time.Second {
		t.Errorf("400 reads: %+v", kept.marks)
	}
	*now = now.Add(limits.ReadWindow)
	read(hot, 400, time.Millisecond)
	if len(kept.marks) != 2 {
		t.Errorf("in the next window: %+v", kept.marks)
	}
}
