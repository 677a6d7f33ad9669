package lifecycle

import (
	"fmt"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func TestWhatIsDeletedLosesItsBytesADayLaterAndNoSooner(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	p := publishWithLogo(t, s, m.Agent, "gone")
	harness.Must(m.PublishFiles(ctx, "newer", p.ArtifactID, harness.Page("newer"), logo))(t)
	deleteArtifact(t, m.Agent, p.ArtifactID)
	if s.RunJobs(t); len(objectsOf(t, s, m.Agent)) != 3 {
		t.Errorf("at once %v are left", objectsOf(t, s, m.Agent))
	}
	s.Clock.Advance(limits.CollectAfter - limits.UploadPatience - time.Second)
	if s.RunJobs(t); len(objectsOf(t, s, m.Agent)) != 3 {
		t.Errorf("a second too soon %v are left", objectsOf(t, s, m.Agent))
	}
	s.Clock.Advance(time.Second)
	if s.RunJobs(t); len(objectsOf(t, s, m.Agent)) != 0 {
		t.Errorf("%v are left", objectsOf(t, s, m.Agent))
	}
	s.RunCollector(t)
}

func TestARetainedRevisionStaysInTheListAndNothingOfItIsRead(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	second := harness.Must(m.PublishFiles(ctx, "second", first.ArtifactID, harness.Page("second"), logo))(t)
	retire(t, s, first)
	s.RunCollector(t)
	s.WantContent(t, second.RevisionContentURL, harness.Page("second").Body)
	wantLogo(t, s, second)
	if a := s.Get(t, first.RevisionContentURL); a.Status != 404 {
		t.Errorf("content of the retained revision answers %d", a.Status)
	}
	var list contract.RevisionList
	harness.Decode(
		t, harness.Do(t, m.Agent, "GET", s.Origins.API+"/v1/artifacts/"+string(first.ArtifactID)+"/revisions", nil), &list,
	)
	states := map[string]string{}
	for _, r := range list.Items {
		states[string(r.RevisionID)] = r.Status
	}
	if len(states) != 2 || states[string(first.RevisionID)] != "retained" ||
		states[string(second.RevisionID)] != "published" {
		t.Errorf("the list shows %v", states)
	}
	if left := objectsOf(t, s, m.Agent); len(left) != 2 {
		t.Errorf("%v are left, want the two files of the newer revision", left)
	}
}

func TestF67APurgeOfTheBaseLeavesWhatTheDraftInherits(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	base := publishWithLogo(t, s, m.Agent, "base")
	harness.Must(m.PublishFiles(ctx, "other", base.ArtifactID, harness.Page("other")))(t)
	r := harness.Revise(base, "inherits")
	r.Files = wire.Declare("", harness.Page("mine")).Files
	draft := harness.Must(m.Draft(ctx, wire.NewKey(), r, harness.Page("mine")))(t)
	retire(t, s, base)
	s.RunJobs(t)
	s.Clock.Advance(limits.DraftLife - time.Minute)
	shown := harness.Must(m.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	s.RunCollector(t)
	wantLogo(t, s, shown)
}

func TestF68WhatASessionWasToldOfIsThereUntilTheSessionEnds(t *testing.T) {
	t.Parallel()
	t.Run("finalized after the purge", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		m := s.NewClaimant(t)
		first := publishWithLogo(t, s, m.Agent, "first")
		u := borrowOnlyLogo(t, s, m.Agent, "")
		deleteArtifact(t, m.Agent, first.ArtifactID)
		s.RunJobs(t)
		if _, statuses := declare(t, m.Agent, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
			t.Errorf("after the purge the files are %s", statuses)
		}
		s.Clock.Advance(limits.SessionLife - 2*limits.UploadPatience - time.Second)
		s.RunJobs(t)
		shown := finish(t, m.Agent, u)
		s.RunCollector(t)
		wantLogo(t, s, shown)
	})
	t.Run("never finalized", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		m := s.NewClaimant(t)
		first := publishWithLogo(t, s, m.Agent, "first")
		borrowOnlyLogo(t, s, m.Agent, "")
		deleteArtifact(t, m.Agent, first.ArtifactID)
		s.RunCollector(t)
		if left := objectsOf(t, s, m.Agent); len(left) > 0 {
			t.Errorf("%v are left", left)
		}
	})
	t.Run("told of a hint that came back", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		m := s.NewClaimant(t)
		first := publishWithLogo(t, s, m.Agent, "first")
		hint := indexEntryOf(t, s, m)
		deleteArtifact(t, m.Agent, first.ArtifactID)
		s.RunJobs(t)
		s.Clock.Advance(limits.CollectAfter - time.Minute)
		s.Put(t, hint, nil) // by a writer that was late
		u := borrowOnlyLogo(t, s, m.Agent, "")
		s.Clock.Advance(time.Minute)
		s.RunJobs(t)
		if _, statuses := declare(t, m.Agent, "", logo, wire.File{Path: "index.html"}); statuses != "upload_required reused" {
			t.Errorf("the hint is found again: the files are %s", statuses)
		}
		s.Clock.Advance(limits.SessionLife - 2*time.Minute)
		s.RunJobs(t)
		shown := finish(t, m.Agent, u)
		s.RunCollector(t)
		wantLogo(t, s, shown)
	})
}

// indexEntryOf is the only hint at the logo.
func indexEntryOf(t testing.TB, s *harness.JobEnv, m *harness.Claimant) harness.Item {
	t.Helper()
	return s.GetItem(t, fmt.Sprintf("B#%s#%s#%d", m.Workspace, wire.Digest(logo.Body), len(logo.Body)), "H")
}

func TestTwoThatLetGoOfOneObjectAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	second, third := finish(
		t, m.Agent, borrowOnlyLogo(t, s, m.Agent, ""),
	), finish(t, m.Agent, borrowOnlyLogo(t, s, m.Agent, ""))
	for _, p := range []contract.Published{first, second, third} {
		deleteArtifact(t, m.Agent, p.ArtifactID)
	}
	done := make(chan error, 3)
	for range cap(done) {
		go func() { done <- s.Host.Run(ctx) }()
	}
	for range cap(done) {
		harness.NoError(t, <-done)
	}
	s.RunCollector(t)
	wantNoObjects(t, s, m.Agent)
}

// TestAPurgeThatDiesAnywhereIsMadeUpFor ends the jobs after each call: while an owner and a borrower are purged beside
// one that stays, and while the rest is deleted.
func TestAPurgeThatDiesAnywhereIsMadeUpFor(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	prepare := func(t testing.TB) (*harness.Claimant, contract.Published, contract.Published) {
		m := s.NewClaimant(t)
		first := publishWithLogo(t, s, m.Agent, "first")
		second, kept := finish(
			t, m.Agent, borrowOnlyLogo(t, s, m.Agent, ""),
		), finish(t, m.Agent, borrowOnlyLogo(t, s, m.Agent, ""))
		deleteArtifact(t, m.Agent, first.ArtifactID)
		deleteArtifact(t, m.Agent, second.ArtifactID)
		return m, first, kept
	}
	crashAtEachWrite(t, s, func(t testing.TB) func(testing.TB) {
		_, first, kept := prepare(t)
		return func(t testing.TB) {
			wantLogo(t, s, kept)
			if s.CountItems(t, s.Tables.Core, "A#"+string(first.ArtifactID)) != 2 { // its gate and the revision
				t.Errorf("files of %s are listed", first.ArtifactID)
			}
		}
	})
	crashAtEachWrite(t, s, func(t testing.TB) func(testing.TB) {
		m, _, kept := prepare(t)
		s.RunJobs(t)
		s.Clock.Advance(limits.CollectAfter)
		return func(t testing.TB) {
			if wantLogo(t, s, kept); len(objectsOf(t, s, m.Agent)) != 1 {
				t.Errorf("%v are left, want the logo", objectsOf(t, s, m.Agent))
			}
		}
	})
}
