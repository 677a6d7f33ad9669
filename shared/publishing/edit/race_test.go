package edit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/edit"
)

func TestAnEditThatIsOvertakenIsMadeOfTheNewerText(t *testing.T) {
	s := newEnv(t)
	for name, c := range map[string]struct {
		operation string // before which another request changes the page
		nth       int
	}{
		"before the session is opened":  {"TransactWriteItems", 1},
		"before the bytes are stored":   {"PutObject", 1},
		"before the draft is begun":     {"PutItem", 1},
		"while the uploads are counted": {"ListObjectsV2", 1},
		"just before the draft is made": {"TransactWriteItems", 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.artifact(t, "<p>one two")
			s.faults.On(c.operation).Nth(c.nth).Before(chaos.Run(s.overtakes(t, a, "two", "2")))
			do := s.edits(a, "index.html", "one", "1")
			r := succeed(t, do)
			s.faults.Clear()
			s.wantFiles(t, a, map[string]string{"index.html": "<p>1 2"})
			s.wantNumber(t, a, 3)
			if again := succeed(t, do); again.Published.Revision != r.Published.Revision || again.Stats != r.Stats {
				t.Errorf("the repetition answers %+v, the first time was %+v", again, r)
			}
			s.wantNumber(t, a, 3)
		})
	}
}

func TestATextThatIsOvertakenKeepsTheNewerFiles(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	s.faults.On("TransactWriteItems").Nth(2).Before(chaos.Run(s.overtakes(t, a, "one", "1")))
	succeed(t, s.revises(a, edit.Text{Body: "# Notes", Mode: media.Markdown}))
	s.wantFiles(t, a, map[string]string{"index.html": "<p>1", "index.md": "# Notes"})
}

func TestAChangeThatIsAlwaysOvertakenGivesUp(t *testing.T) {
	s := newEnv(t)
	a, n := s.artifact(t, "<p>one 0"), 0
	s.faults.On("PutItem").Times(3).Before(chaos.Run(func() {
		s.overtakes(t, a, fmt.Sprint("one ", n), fmt.Sprint("one ", n+1))()
		n++
	}))
	do := s.edits(a, "index.html", "<p>", "<div>")
	for range 2 {
		_, err := do(t)
		wantCode(t, "a change that is overtaken three times", err, fault.PatchConflict)
	}
	s.wantFiles(t, a, map[string]string{"index.html": "<p>one 3"})
	succeed(t, s.edits(a, "index.html", "<p>", "<div>"))
	s.wantFiles(t, a, map[string]string{"index.html": "<div>one 3"})
}

func TestAnEditThatFitsNoMoreHasNoEffect(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	s.faults.On("PutObject").Before(chaos.Run(s.overtakes(t, a, "one", "two")))
	do := s.edits(a, "index.html", "one", "1")
	for range 2 {
		_, err := do(t)
		wantCode(t, "the repetition too", err, fault.InvalidRequest)
		if !strings.HasPrefix(fault.Of(err).Message, "not_found (edit 0): ") {
			t.Error(err)
		}
	}
	s.wantFiles(t, a, map[string]string{"index.html": "<p>two"})
	s.wantNumber(t, a, 2)
}

func TestADraftInTheWayIsAConflictAndTheRepetitionGoesOn(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one two")
	held, release := make(chan struct{}), make(chan struct{})
	s.faults.On("TransactWriteItems").Nth(3).Before(chaos.Run(func() { close(held); <-release })) // its publication
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := s.edits(a, "index.html", "one", "1")(t); err != nil {
			t.Error(err)
		}
	})
	<-held
	do := s.edits(a, "index.html", "two", "2")
	_, err := do(t)
	wantCode(t, "the draft of another request", err, fault.DraftRevisionConflict)
	close(release)
	first.Wait()
	succeed(t, do)
	s.wantFiles(t, a, map[string]string{"index.html": "<p>1 2"})
}

func TestOneKeyHasOneEffectAndOneRequest(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	edits := []edit.Replacement{{Old: "one", New: "1"}}
	for name, do := range map[string]func(key, arguments string) (edit.Result, error){
		"publish": func(key, arguments string) (edit.Result, error) {
			return s.Publish(t.Context(), s.by, s.request(t, key, arguments), "T", html("<p>"+arguments))
		},
		"revise": func(key, arguments string) (edit.Result, error) {
			return s.Revise(t.Context(), s.by, s.request(t, key, arguments), nil, a, html("<p>one"))
		},
		"edit": func(key, arguments string) (edit.Result, error) {
			return s.Edit(t.Context(), s.by, s.request(t, key, arguments), nil, a, "index.html", edits)
		},
	} {
		key := newKey()
		if _, err := do(key, "first"); err != nil {
			t.Error(name, err)
		}
		_, err := do(key, "second")
		wantCode(t, name, err, fault.InvalidIdempotencyKey)
		succeed(t, s.revises(a, html("<p>one"))) // for the next
	}
}

func TestARepetitionIsAnsweredWhenItsSessionsAreOver(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one two")
	s.faults.On("PutObject").Before(chaos.Run(s.overtakes(t, a, "two", "2")))
	do := s.edits(a, "index.html", "one", "1")
	r := succeed(t, do)
	s.clock.Advance(2 * limits.Day)
	succeed(t, s.revises(a, html("<p>nothing left")))
	if again := succeed(t, do); again.Published.Revision != r.Published.Revision || again.Stats != r.Stats {
		t.Errorf("the repetition answers %+v, the first time was %+v", again, r)
	}
}

// dies runs a request as a process of its own, which ends when a rule of the test says so.
func dies(t testing.TB, do ask) func() {
	return func() {
		if _, err := do(inProcess{t, chaos.Process(t.Context())}); err == nil {
			t.Error("the process did not die")
		}
	}
}

// inProcess is a test whose calls form a process.
type inProcess struct {
	testing.TB
	ctx context.Context
}

// Context implements testing.TB.
func (p inProcess) Context() context.Context { return p.ctx }

// TestADraftOfTheSameRequestIsNoConflict lets a request run twice at once: one makes the draft and dies, while the
// other one is about to open its session.
func TestADraftOfTheSameRequestIsNoConflict(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	do := s.edits(a, "index.html", "one", "1")
	s.faults.On("TransactWriteItems").Nth(2).After(chaos.Crash)
	s.faults.On("GetObject").Before(chaos.Run(dies(t, do)))
	succeed(t, do)
	s.wantFiles(t, a, map[string]string{"index.html": "<p>1"})
	s.wantNumber(t, a, 2)
}

// TestADraftOfALaterTryOfTheSameRequestIsNoConflict goes on with a first try while the same request, which runs twice,
// finds it lost, makes the draft of its second try and dies.
func TestADraftOfALaterTryOfTheSameRequestIsNoConflict(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one two")
	do := s.edits(a, "index.html", "one", "1")
	s.faults.On("TransactWriteItems").After(chaos.Crash)
	dies(t, do)()
	s.faults.Clear()
	s.overtakes(t, a, "two", "2")()
	s.faults.On("TransactWriteItems").Nth(3).After(chaos.Crash)
	s.faults.On("PutItem").Before(chaos.Run(dies(t, do)))
	succeed(t, do)
	s.wantFiles(t, a, map[string]string{"index.html": "<p>1 2"})
	s.wantNumber(t, a, 3)
}

func TestARequestThatRunsTwiceAtOnceHasOneEffect(t *testing.T) {
	s := newEnv(t)
	a := s.artifact(t, "<p>one")
	for name, do := range map[string]ask{
		"publish": s.publishes(html("<p>new")),
		"revise":  s.revises(a, edit.Text{Body: "# Notes", Mode: media.Markdown}),
		"edit":    s.edits(a, "index.html", "one", "1"),
	} {
		results := make([]edit.Result, 4)
		ends := parallel.Calls(len(results), func(n int) (err error) { results[n], err = do(t); return err })
		made := map[string]bool{}
		for n, err := range ends {
			if err == nil {
				made[string(results[n].Published.Revision)] = true
			} else if fault.CodeOf(err) != fault.IdempotencyInFlight {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(made) != 1 {
			t.Errorf("%s makes the revisions %v", name, made)
		}
		if r := succeed(t, do); !made[string(r.Published.Revision)] {
			t.Errorf("%s is answered with %s later", name, r.Published.Revision)
		}
	}
	s.wantFiles(t, a, map[string]string{"index.html": "<p>1", "index.md": "# Notes"})
}

// TestAgentsThatEditOneArtifactLoseNoEdit repeats each request as agents do: with its key, unless the request gave up.
func TestAgentsThatEditOneArtifactLoseNoEdit(t *testing.T) {
	const agents, rounds = 4, 4
	s := newEnv(t)
	var before, after strings.Builder
	for n := range agents * rounds {
		fmt.Fprintf(&before, "<p>old-%02d\n", n)
		fmt.Fprintf(&after, "<p>new-%02d\n", n)
	}
	a := s.artifact(t, before.String())
	var all sync.WaitGroup
	for agent := range agents {
		all.Go(func() {
			for round := range rounds {
				n := agent*rounds + round
				old, fresh := fmt.Sprintf("old-%02d", n), fmt.Sprintf("new-%02d", n)
				do := s.edits(a, "index.html", old, fresh)
				_, err := do(t)
				for ; err != nil; _, err = do(t) {
					switch code := fault.CodeOf(err); code {
					case fault.PatchConflict:
						do = s.edits(a, "index.html", old, fresh)
					case fault.DraftRevisionConflict, fault.DatabaseUnavailable:
					default:
						t.Errorf("edit %d: %v", n, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	s.wantFiles(t, a, map[string]string{"index.html": after.String()})
	s.wantNumber(t, a, agents*rounds+1)
}
