package edit_test

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/crash"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/edit"
)

// crashCase is a request. prepare makes what it needs; the artifact is empty for a request that makes one.
type crashCase struct {
	prepare func(testing.TB, *env) (ask, id.Artifact)
	files   map[string]string // in the end
	number  int               // of revisions in the end
	deleted bool              // the artifact may be deleted meanwhile
}

var crashCases = map[string]crashCase{
	"publish": {func(_ testing.TB, s *env) (ask, id.Artifact) {
		return s.publishes(html("<p>new")), ""
	}, map[string]string{"index.html": "<p>new"}, 1, false},
	"publish nothing": {func(_ testing.TB, s *env) (ask, id.Artifact) {
		return s.publishes(html("")), ""
	}, map[string]string{"index.html": ""}, 1, false},
	"revise": {func(t testing.TB, s *env) (ask, id.Artifact) {
		a := s.artifact(t, "<p>page")
		return s.revises(a, edit.Text{Body: "# Notes", Mode: media.Markdown}), a
	}, map[string]string{"index.html": "<p>page", "index.md": "# Notes"}, 2, true},
	"revise with the same bytes": {func(t testing.TB, s *env) (ask, id.Artifact) {
		a := s.artifact(t, "<p>page")
		return s.revises(a, html("<p>page")), a
	}, map[string]string{"index.html": "<p>page"}, 1, true},
	"edit": {func(t testing.TB, s *env) (ask, id.Artifact) {
		a := s.artifact(t, "<p>one")
		return s.edits(a, "index.html", "one", "1"), a
	}, map[string]string{"index.html": "<p>1"}, 2, true},
	"edit what is overtaken": {func(t testing.TB, s *env) (ask, id.Artifact) {
		a := s.artifact(t, "<p>one two")
		s.faults.On("PutObject").Before(chaos.Run(s.overtakes(t, a, "two", "2")))
		return s.edits(a, "index.html", "one", "1"), a
	}, map[string]string{"index.html": "<p>1 2"}, 3, false},
	"revise as an earlier session did": {func(t testing.TB, s *env) (ask, id.Artifact) {
		s.derived = true
		a := s.artifact(t, "<p>page")
		do := s.revises(a, html("<p>one"))
		succeed(t, do)
		s.overtakes(t, a, "one", "two")()
		return do, a
	}, map[string]string{"index.html": "<p>one"}, 4, false},
}

// TestARequestThatDiesAfterAnyWriteCanBeRepeated ends the process after every write of every request. The caller gets
// no answer and asks again with its key.
func TestARequestThatDiesAfterAnyWriteCanBeRepeated(t *testing.T) {
	for name, c := range crashCases {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t)
			do, _ := c.prepare(t, s)
			for _, p := range crash.Points(s.faults, func() { succeed(t, do) }) {
				t.Run(p.String(), func(t *testing.T) { c.crash(t, s, p) })
			}
		})
	}
}

func (c crashCase) crash(t *testing.T, s *env, p crash.Point) {
	do, a := c.prepare(t, s)
	p.Arm(s.faults)
	if _, err := do(t); err == nil {
		t.Fatal("the process did not die")
	}
	overtaken := c.number < 3 || s.seen(t, a).Number > 1
	s.faults.Clear()
	s.faults.Revive()
	if !overtaken { // it died before
		s.overtakes(t, a, "two", "2")()
	}
	r, err := do(t)
	if fault.CodeOf(err) == fault.IdempotencyInFlight {
		s.clock.Advance(limits.FinalizeLease + time.Millisecond)
		r, err = do(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again := succeed(t, do); again.Published.Revision != r.Published.Revision || again.Stats != r.Stats ||
		again.Changed != r.Changed {
		t.Errorf("one key is answered with %+v and %+v", r, again)
	}
	a = r.Published.Artifact
	s.wantFiles(t, a, c.files)
	s.wantNumber(t, a, c.number)
}

// TestADeletionEndsARequestOrComesAfterIt deletes the artifact before every AWS call of every request on one.
func TestADeletionEndsARequestOrComesAfterIt(t *testing.T) {
	for name, c := range crashCases {
		if !c.deleted {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := newEnv(t)
			first, _ := c.prepare(t, s)
			for n := range s.calls(func() { succeed(t, first) }) {
				do, a := c.prepare(t, s)
				s.faults.On("").Nth(n + 1).Before(chaos.Run(func() { s.delete(t, a) }))
				r, err := do(t)
				s.faults.Clear()
				if err != nil && fault.KindOf(err) != fault.KindNotFound {
					t.Errorf("before call %d: %v", n+1, err)
				}
				again, repeated := do(t)
				if r.Changed && (repeated != nil || again.Published.Revision != r.Published.Revision) ||
					err != nil && repeated == nil {
					t.Errorf("before call %d: %v, and the repetition: %v", n+1, err, repeated)
				}
			}
		})
	}
}

// TestWhatDiedGoesOnFromTheBaseThatItHad lets another request change the text after the process died, so that the edit
// would not fit any more.
func TestWhatDiedGoesOnFromTheBaseThatItHad(t *testing.T) {
	s := newEnv(t)
	for name, c := range map[string]struct {
		crash func()
		made  bool // the draft, so that the edit has its effect
	}{
		"the session is opened": {func() { s.faults.On("TransactWriteItems").After(chaos.Crash) }, false},
		"the draft is made":     {func() { s.faults.On("TransactWriteItems").Nth(2).After(chaos.Crash) }, true},
		"it is published":       {func() { s.faults.On("TransactWriteItems").Nth(3).After(chaos.Crash) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.artifact(t, "<p>one")
			do := s.edits(a, "index.html", "one", "1")
			c.crash()
			if _, err := do(t); err == nil {
				t.Fatal("the process did not die")
			}
			s.faults.Clear()
			s.faults.Revive()
			if s.seen(t, a).Draft == "" {
				succeed(t, s.revises(a, html("<p>another")))
			}
			r, err := do(t)
			if !c.made {
				wantCode(t, "an edit that fits no more", err, fault.InvalidRequest)
				s.wantFiles(t, a, map[string]string{"index.html": "<p>another"})
				return
			}
			if err != nil || !r.Changed {
				t.Fatalf("%+v %v, want a change", r, err)
			}
			if again := succeed(t, do); again.Published.Revision != r.Published.Revision {
				t.Errorf("%+v, then %+v: want the same revision", r, again)
			}
		})
	}
}

func TestASessionThatExpiredBeforeItsRepetitionIsRefused(t *testing.T) {
	s := newEnv(t)
	do := s.publishes(html("<p>late"))
	s.faults.On("PutObject").Before(chaos.Crash)
	if _, err := do(t); err == nil {
		t.Fatal("the process did not die")
	}
	s.faults.Clear()
	s.faults.Revive()
	s.clock.Advance(limits.SessionLife)
	_, err := do(t)
	wantCode(t, "a session of yesterday", err, fault.UploadSessionExpired)
}
