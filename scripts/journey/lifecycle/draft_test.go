package lifecycle

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// newDraft publishes an artifact of a member and gives it a draft.
func newDraft(t testing.TB, s *harness.JobEnv) (*harness.Claimant, contract.Published, contract.Finalized) {
	t.Helper()
	m := s.NewClaimant(t)
	p := harness.PublishPage(t, m.Agent, "first")
	u := s.Upload(t, m.Agent, p.ArtifactID, "second")
	return m, p, harness.Must(m.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}

func TestADraftThatNobodyPublishesIsDiscardedAfterADay(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m, p, d := newDraft(t, s)
	third := wire.Declare("third", harness.Page("third"))
	third.ArtifactID = p.ArtifactID
	s.Clock.Advance(limits.DraftLife - limits.UploadPatience - time.Second)
	s.RunJobs(t)
	a := harness.Must(harness.Create(m.Agent, wire.NewKey(), third))(t)
	harness.WantRefused(t, a, 409, fault.DraftRevisionConflict)
	until := s.Options.Now().Add(time.Second).UTC().Format(time.RFC3339)[:16]
	if !strings.Contains(a.Message(), string(d.RevisionID)) || !strings.Contains(a.Message(), until) {
		t.Errorf("the refusal does not tell which draft and until when (%s): %s", until, a.Message())
	}
	s.Clock.Advance(time.Second)
	s.RunJobs(t)
	harness.WantRefused(
		t, harness.Must(harness.Publish(m.Agent, wire.NewKey(), p.ArtifactID, d.RevisionID))(t),
		404, fault.RevisionUnpublished,
	)
	u, _ := declare(t, m.Agent, p.ArtifactID, harness.Page("third"))
	harness.Must(m.Put(ctx, u.Files[0], harness.Page("third").Body))(t)
	next := finish(t, m.Agent, u)
	if s.Events(t, m.Agent)["revision.retained"] != 1 {
		t.Errorf("events %v", s.Events(t, m.Agent))
	}
	s.RunCollector(t)
	s.WantContent(t, p.RevisionContentURL, harness.Page("first").Body)
	s.WantContent(t, next.RevisionContentURL, harness.Page("third").Body)
	wantObjects(t, s, m.Agent, 2)
}

// TestTheStackDoesWhatFallsDue waits for the work that a stack does by itself: an artifact ends, and its bytes go.
func TestTheStackDoesWhatFallsDue(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.WithJobs)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "ends")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	passes := func(d time.Duration, what string, done func() bool) {
		s.Clock.Advance(d)
		for deadline := time.Now().Add(time.Minute); !done(); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("nobody sees to it that %s", what)
			}
		}
	}
	passes(limits.UploadPatience, "its bytes can be found", func() bool { return s.CountItems(t, s.Tables.Core, "B#") == 1 })
	passes(limits.EphemeralArtifact, "it ends and is purged", func() bool {
		gate := gateOf(t, s, p.ArtifactID)
		return harness.Text(gate["status"]) == "expired" && gate["g2p"] == nil
	})
	passes(limits.CollectAfter, "its bytes are deleted", func() bool {
		return len(objectsOf(t, s, g))+s.CountItems(t, s.Tables.Core, "JOB#") == 0
	})
}

func TestF22PublishOrDiscardWinsAndNotBoth(t *testing.T) {
	t.Parallel()
	t.Run("the discard, while the publication is under way", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		m, p, d := newDraft(t, s)
		a := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
			return harness.Publish(m.Agent, wire.NewKey(), p.ArtifactID, d.RevisionID)
		}, func() { s.Clock.Advance(limits.DraftLife + time.Second); s.RunJobs(t) })
		harness.WantRefused(t, a, 404, fault.RevisionUnpublished)
		if _, status := declare(t, m.Agent, p.ArtifactID, harness.Page("third")); status != "upload_required" {
			t.Error(status)
		}
		s.WantContent(t, p.RevisionContentURL, harness.Page("first").Body)
		s.CheckInvariants(t)
	})
	t.Run("the publication, while the discard is under way", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		m, p, d := newDraft(t, s)
		s.Clock.Advance(limits.DraftLife + time.Second)
		release := runJobsUntil(t, s, "TransactWriteItems")
		second := harness.Must(m.Publish(ctx, wire.NewKey(), p.ArtifactID, d.RevisionID))(t)
		release()
		s.RunCollector(t)
		s.WantContent(t, second.RevisionContentURL, harness.Page("second").Body)
		if done := s.Events(t, m.Agent); done["revision.retained"] != 0 || done[harness.ArtifactPublished] != 2 {
			t.Errorf("events %v", done)
		}
	})
}

func TestF25PublishOrExpiryWinsAndNotBoth(t *testing.T) {
	t.Parallel()
	// near prepares a draft of an ephemeral artifact that is about to expire.
	near := func(t *testing.T, s *harness.JobEnv) (*wire.Agent, contract.Published, contract.Finalized) {
		g := s.NewAgent(t)
		p := harness.PublishPage(t, g, "first")
		s.Clock.Advance(limits.EphemeralArtifact - time.Minute)
		u := s.Upload(t, g, p.ArtifactID, "second")
		return g, p, harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	}
	t.Run("the expiry, while the publication is under way", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		g, p, d := near(t, s)
		a := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
			return harness.Publish(g, wire.NewKey(), p.ArtifactID, d.RevisionID)
		}, func() { s.Clock.Advance(2 * time.Minute); s.RunJobs(t) })
		harness.WantRefused(t, a, 404, fault.ArtifactNotFound)
		if done := s.Events(t, g); done["artifact.expired"] != 1 || done[harness.ArtifactPublished] != 1 {
			t.Errorf("events %v", done)
		}
		s.RunCollector(t)
		wantObjects(t, s, g, 0)
	})
	t.Run("the publication, while the expiry is under way", func(t *testing.T) {
		s := harness.NewJobEnv(t)
		g, p, d := near(t, s)
		publish := s.Hold(t, "TransactWriteItems", func() (wire.Answer, error) {
			return harness.Publish(g, wire.NewKey(), p.ArtifactID, d.RevisionID)
		})
		s.Clock.Advance(2 * time.Minute)
		expire := runJobsUntil(t, s, "TransactWriteItems")
		if a := publish(); a.Status != http.StatusOK {
			t.Fatalf("publish answers %d %s", a.Status, a.Body)
		}
		expire()
		s.RunJobs(t)
		s.Clock.Advance(limits.EphemeralArtifact) // from its publication on
		s.RunCollector(t)
		if done := s.Events(t, g); done["artifact.expired"] != 1 || done[harness.ArtifactPublished] != 2 {
			t.Errorf("events %v", done)
		}
	})
}

func TestF29WhatIsClaimedInTimeIsNotExpiredEarly(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m, src := s.NewClaimant(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "claimed")
	s.Clock.Advance(limits.EphemeralArtifact - time.Minute)
	s.MustClaim(t, m, src.ClaimToken)
	s.Clock.Advance(2 * time.Minute)
	s.RunJobs(t)       // past the end that it had before
	p.UnlistedURL = "" // which ends by itself
	s.WantOpen(t, m.Agent, p)
	s.RunCollector(t)
	s.WantContent(t, harness.Must(m.AgentView(ctx, p.ArtifactID))(t).RevisionContentURL, harness.Page("claimed").Body)
}

func TestF11ASessionThatNobodyFinalizedLeavesNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	g := s.NewAgent(t)
	u := s.Upload(t, g, "", "forgotten")
	for _, step := range []struct {
		after   time.Duration
		status  string
		objects int
	}{
		{limits.SessionLife, "pending", 1}, // a PUT that began in time may still come
		{limits.CleanupSlack, "expired", 0},
	} {
		s.Clock.Advance(step.after)
		s.RunJobs(t)
		wantObjects(t, s, g, step.objects)
		if status := s.SessionStatus(t, u.UploadSessionID); status != step.status {
			t.Errorf("the session is %s, want %s", status, step.status)
		}
	}
	s.RunCollector(t)
}
