package journey

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func TestWhatIsDeletedLosesItsBytesADayLaterAndNoSooner(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	p := s.withLogo(t, m.Agent, "gone")
	must(m.PublishFiles(ctx, "newer", p.ArtifactID, page("newer"), logo))(t)
	deletes(t, m.Agent, p.ArtifactID)
	if s.works(t); len(s.objectsOf(t, m.Agent)) != 3 {
		t.Errorf("at once %v are left", s.objectsOf(t, m.Agent))
	}
	s.clock.pass(limits.CollectAfter - time.Second)
	if s.works(t); len(s.objectsOf(t, m.Agent)) != 3 {
		t.Errorf("a second too soon %v are left", s.objectsOf(t, m.Agent))
	}
	s.clock.pass(time.Second)
	if s.works(t); len(s.objectsOf(t, m.Agent)) != 0 {
		t.Errorf("%v are left", s.objectsOf(t, m.Agent))
	}
	s.collects(t)
}

func TestARetainedRevisionStaysInTheListAndNothingOfItIsRead(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	second := must(m.PublishFiles(ctx, "second", first.ArtifactID, page("second"), logo))(t)
	s.retire(t, first)
	s.collects(t)
	s.reads(t, second.RevisionContentURL, page("second").Body)
	s.hasLogo(t, second)
	if a := s.get(t, first.RevisionContentURL); a.Status != 404 {
		t.Errorf("content of the retained revision answers %d", a.Status)
	}
	var list contract.RevisionList
	succeed(t, json.Unmarshal(do(t, m.Agent, "GET", s.Origins.API+"/v1/artifacts/"+string(first.ArtifactID)+"/revisions", nil).Body, &list))
	states := map[string]string{}
	for _, r := range list.Items {
		states[string(r.RevisionID)] = r.Status
	}
	if len(states) != 2 || states[string(first.RevisionID)] != "retained" || states[string(second.RevisionID)] != "published" {
		t.Errorf("the list shows %v", states)
	}
	if left := s.objectsOf(t, m.Agent); len(left) != 2 {
		t.Errorf("%v are left, want the two files of the newer revision", left)
	}
}

func TestF67APurgeOfTheBaseLeavesWhatTheDraftInherits(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	base := s.withLogo(t, m.Agent, "base")
	must(m.PublishFiles(ctx, "other", base.ArtifactID, page("other")))(t)
	r := revision(base, "inherits")
	r.Files = wire.Declare("", page("mine")).Files
	draft := must(m.Draft(ctx, wire.NewKey(), r, page("mine")))(t)
	s.retire(t, base)
	s.works(t)
	s.clock.pass(limits.DraftLife - time.Minute)
	shown := must(m.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	s.collects(t)
	s.hasLogo(t, shown)
}

func TestF68WhatASessionWasToldOfIsThereUntilTheSessionEnds(t *testing.T) {
	t.Parallel()
	t.Run("finalized after the purge", func(t *testing.T) {
		s := newJobStand(t)
		m := s.claimant(t)
		first := s.withLogo(t, m.Agent, "first")
		u := s.borrowsAlone(t, m.Agent, "")
		deletes(t, m.Agent, first.ArtifactID)
		s.works(t)
		if _, statuses := declares(t, m.Agent, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
			t.Errorf("after the purge the files are %s", statuses)
		}
		s.clock.pass(limits.SessionLife - time.Second)
		s.works(t)
		shown := finishes(t, m.Agent, u)
		s.collects(t)
		s.hasLogo(t, shown)
	})
	t.Run("never finalized", func(t *testing.T) {
		s := newJobStand(t)
		m := s.claimant(t)
		first := s.withLogo(t, m.Agent, "first")
		s.borrowsAlone(t, m.Agent, "")
		deletes(t, m.Agent, first.ArtifactID)
		s.collects(t)
		if left := s.objectsOf(t, m.Agent); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	})
	t.Run("told of a hint that came back", func(t *testing.T) {
		s := newJobStand(t)
		m := s.claimant(t)
		first := s.withLogo(t, m.Agent, "first")
		hint := s.hintOf(t, m)
		deletes(t, m.Agent, first.ArtifactID)
		s.works(t)
		s.clock.pass(limits.CollectAfter - time.Minute)
		s.put(t, hint, nil) // by a writer that was late
		u := s.borrowsAlone(t, m.Agent, "")
		s.clock.pass(time.Minute)
		s.works(t)
		if _, statuses := declares(t, m.Agent, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
			t.Errorf("the hint is found again: the files are %s", statuses)
		}
		s.clock.pass(limits.SessionLife - 2*time.Minute)
		s.works(t)
		shown := finishes(t, m.Agent, u)
		s.collects(t)
		s.hasLogo(t, shown)
	})
}

// hintOf is the only hint at the logo.
func (s *jobStand) hintOf(t testing.TB, m *claimant) stored {
	t.Helper()
	return s.item(t, fmt.Sprintf("B#%s#%s#%d", m.workspace, wire.Digest(logo.Body), len(logo.Body)), "H")
}

func TestTwoThatLetGoOfOneObjectAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	second, third := finishes(t, m.Agent, s.borrowsAlone(t, m.Agent, "")), finishes(t, m.Agent, s.borrowsAlone(t, m.Agent, ""))
	for _, p := range []contract.Published{first, second, third} {
		deletes(t, m.Agent, p.ArtifactID)
	}
	done := make(chan error, 3)
	for range cap(done) {
		go func() { done <- s.host.Run(ctx) }()
	}
	for range cap(done) {
		succeed(t, <-done)
	}
	s.collects(t)
	s.holdsNothing(t, m.Agent)
}

// TestAPurgeThatDiesAnywhereIsMadeUpFor ends the jobs after each call: while an owner and a borrower are purged beside one
// that stays, and while the rest is deleted.
func TestAPurgeThatDiesAnywhereIsMadeUpFor(t *testing.T) {
	t.Parallel()
	s := newJobStand(t, unlimited)
	prepare := func(t testing.TB) (*claimant, contract.Published, contract.Published) {
		m := s.claimant(t)
		first := s.withLogo(t, m.Agent, "first")
		second, kept := finishes(t, m.Agent, s.borrowsAlone(t, m.Agent, "")), finishes(t, m.Agent, s.borrowsAlone(t, m.Agent, ""))
		deletes(t, m.Agent, first.ArtifactID)
		deletes(t, m.Agent, second.ArtifactID)
		return m, first, kept
	}
	s.diesAnywhere(t, func(t testing.TB) func(testing.TB) {
		_, first, kept := prepare(t)
		return func(t testing.TB) {
			s.hasLogo(t, kept)
			if s.count(t, s.names.Core, "A#"+string(first.ArtifactID)) != 2 { // its gate and the revision
				t.Errorf("files of %s are listed", first.ArtifactID)
			}
		}
	})
	s.diesAnywhere(t, func(t testing.TB) func(testing.TB) {
		m, _, kept := prepare(t)
		s.works(t)
		s.clock.pass(limits.CollectAfter)
		return func(t testing.TB) {
			if s.hasLogo(t, kept); len(s.objectsOf(t, m.Agent)) != 1 {
				t.Errorf("%v are left, want the logo", s.objectsOf(t, m.Agent))
			}
		}
	})
}
