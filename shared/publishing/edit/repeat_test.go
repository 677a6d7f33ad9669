package edit_test

import (
	"testing"

	"vitrine/shared/platform/fault"
)

// TestAnEqualRequestOfALaterSessionHasEffect makes each request twice, before and after another one changed what it
// had made.
func TestAnEqualRequestOfALaterSessionHasEffect(t *testing.T) {
	s := newEnv(t)
	s.derived = true
	a := s.artifact(t, "<p>first")
	for _, c := range []struct {
		name string
		do   ask
		made int // revisions in the end, with those of others
	}{
		{"a text that is there", s.revises(a, html("<p>first")), 6},
		{"another text", s.revises(a, html("<p>mine")), 12},
		{"an edit", s.edits(a, "index.html", "<p>", "<p>a "), 18},
	} {
		for range 3 {
			r := succeed(t, c.do)
			if again := succeed(t, c.do); again.Published.Revision != r.Published.Revision || again.Stats != r.Stats {
				t.Errorf("%s: its repetition answers %+v, the first time was %+v", c.name, again, r)
			}
			if now := s.seen(t, a); now.Current != r.Published.Revision {
				t.Errorf("%s: it answers %s, and the newest is %s", c.name, r.Published.Revision, now.Current)
			}
			succeed(t, s.revises(a, html("<p>theirs "+word())))
		}
		s.wantNumber(t, a, c.made)
	}
}

func TestATextIsPublishedAgainOnceItsArtifactIsGone(t *testing.T) {
	s := newEnv(t)
	s.derived = true
	do := s.publishes(html("<p>first"))
	first := succeed(t, do).Published
	if again := succeed(t, do).Published; again.Revision != first.Revision {
		t.Errorf("the repetition makes %s beside %s", again.Artifact, first.Artifact)
	}
	s.delete(t, first.Artifact)
	second := succeed(t, do).Published
	if second.Artifact == first.Artifact {
		t.Error("it answers an artifact that is deleted")
	}
	if again := succeed(t, do).Published; again.Revision != second.Revision {
		t.Errorf("the repetition makes %s beside %s", again.Artifact, second.Artifact)
	}
}

func TestADerivedKeyIsUsedUpInTheEnd(t *testing.T) {
	s := newEnv(t)
	s.derived = true
	do := s.publishes(html("<p>first"))
	for range 50 {
		s.delete(t, succeed(t, do).Published.Artifact)
	}
	_, err := do(t)
	wantCode(t, "the next one", err, fault.InvalidIdempotencyKey)
}
