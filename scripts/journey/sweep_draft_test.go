package journey

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// drafted publishes an artifact of a member and gives it a draft.
func (s *jobStand) drafted(t testing.TB) (*claimant, contract.Published, contract.Finalized) {
	t.Helper()
	m := s.claimant(t)
	p := published(t, m.Agent, "first")
	u := s.uploaded(t, m.Agent, p.ArtifactID, "second")
	return m, p, must(m.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}

func TestADraftThatNobodyPublishesIsDiscardedAfterADay(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m, p, d := s.drafted(t)
	third := wire.Declare("third", page("third"))
	third.ArtifactID = p.ArtifactID
	s.clock.pass(limits.DraftLife - time.Second)
	s.works(t)
	a := tryCreate(t, m.Agent, wire.NewKey(), third)
	refused(t, a, 409, fault.DraftRevisionConflict)
	if until := s.options.Now().Add(time.Second).UTC().Format(time.RFC3339)[:16]; !strings.Contains(a.Message(), string(d.RevisionID)) || !strings.Contains(a.Message(), until) {
		t.Errorf("the refusal does not tell which draft and until when (%s): %s", until, a.Message())
	}
	s.clock.pass(time.Second)
	s.works(t)
	refused(t, tryPublish(t, m.Agent, wire.NewKey(), p.ArtifactID, d.RevisionID, nil), 404, fault.RevisionUnpublished)
	u, _ := declares(t, m.Agent, p.ArtifactID, page("third"))
	must(m.Put(ctx, u.Files[0], page("third").Body))(t)
	next := finishes(t, m.Agent, u)
	if s.events(t, m.Agent)["revision.retained"] != 1 {
		t.Errorf("events %v", s.events(t, m.Agent))
	}
	s.collects(t)
	s.reads(t, p.RevisionContentURL, page("first").Body)
	s.reads(t, next.RevisionContentURL, page("third").Body)
	if left := s.objectsOf(t, m.Agent); len(left) != 2 {
		t.Errorf("objects %v, want those of two revisions", left)
	}
}

// TestTheStackDoesWhatFallsDue waits for the work that a stack does by itself: an artifact ends, and its bytes go.
func TestTheStackDoesWhatFallsDue(t *testing.T) {
	t.Parallel()
	s := newJobStand(t, working)
	g := s.agent(t)
	p := published(t, g, "ends")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	passes := func(d time.Duration, what string, done func() bool) {
		s.clock.pass(d)
		for deadline := time.Now().Add(time.Minute); !done(); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("nobody sees to it that %s", what)
			}
		}
	}
	passes(0, "its bytes can be found", func() bool { return s.count(t, s.names.Core, "B#") == 1 })
	passes(limits.EphemeralArtifact, "it ends and is purged", func() bool {
		return text(s.item(t, "A#"+string(p.ArtifactID), "META")["status"]) == "expired" && s.count(t, s.names.Core, "A#") == 2
	})
	passes(limits.CollectAfter, "its bytes are deleted", func() bool { return len(s.objectsOf(t, g))+s.count(t, s.names.Core, "JOB#") == 0 })
}

func TestF22PublishOrDiscardWinsAndNotBoth(t *testing.T) {
	t.Parallel()
	t.Run("the discard, while the publication is under way", func(t *testing.T) {
		s := newJobStand(t)
		m, p, d := s.drafted(t)
		a := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) {
			return s.publish(m.Agent, wire.NewKey(), p.ArtifactID, d.RevisionID)
		}, func() { s.clock.pass(limits.DraftLife + time.Second); s.works(t) })
		refused(t, a, 404, fault.RevisionUnpublished)
		if _, status := declares(t, m.Agent, p.ArtifactID, page("third")); status != "upload_required" {
			t.Error(status)
		}
		s.reads(t, p.RevisionContentURL, page("first").Body)
		s.sound(t)
	})
	t.Run("the publication, while the discard is under way", func(t *testing.T) {
		s := newJobStand(t)
		m, p, d := s.drafted(t)
		s.clock.pass(limits.DraftLife + time.Second)
		release := s.workingUntil(t, "TransactWriteItems")
		second := must(m.Publish(ctx, wire.NewKey(), p.ArtifactID, d.RevisionID))(t)
		release()
		s.collects(t)
		s.reads(t, second.RevisionContentURL, page("second").Body)
		if done := s.events(t, m.Agent); done["revision.retained"] != 0 || done[madePublic] != 2 {
			t.Errorf("events %v", done)
		}
	})
}

func TestF25PublishOrExpiryWinsAndNotBoth(t *testing.T) {
	t.Parallel()
	// near prepares a draft of an ephemeral artifact that is about to expire.
	near := func(t *testing.T, s *jobStand) (*wire.Agent, contract.Published, contract.Finalized) {
		g := s.agent(t)
		p := published(t, g, "first")
		s.clock.pass(limits.EphemeralArtifact - time.Minute)
		u := s.uploaded(t, g, p.ArtifactID, "second")
		return g, p, must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	}
	t.Run("the expiry, while the publication is under way", func(t *testing.T) {
		s := newJobStand(t)
		g, p, d := near(t, s)
		a := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) {
			return s.publish(g, wire.NewKey(), p.ArtifactID, d.RevisionID)
		}, func() { s.clock.pass(2 * time.Minute); s.works(t) })
		refused(t, a, 404, fault.ArtifactNotFound)
		if done := s.events(t, g); done["artifact.expired"] != 1 || done[madePublic] != 1 {
			t.Errorf("events %v", done)
		}
		s.collects(t)
		if left := s.objectsOf(t, g); len(left) > 0 {
			t.Errorf("objects %v are left", left)
		}
	})
	t.Run("the publication, while the expiry is under way", func(t *testing.T) {
		s := newJobStand(t)
		g, p, d := near(t, s)
		publish := s.hold(t, "TransactWriteItems", func() (wire.Answer, error) { return s.publish(g, wire.NewKey(), p.ArtifactID, d.RevisionID) })
		s.clock.pass(2 * time.Minute)
		expire := s.workingUntil(t, "TransactWriteItems")
		if a := publish(); a.Status != http.StatusOK {
			t.Fatalf("publish answers %d %s", a.Status, a.Body)
		}
		expire()
		s.works(t)
		s.clock.pass(limits.EphemeralArtifact) // from its publication on
		s.collects(t)
		if done := s.events(t, g); done["artifact.expired"] != 1 || done[madePublic] != 2 {
			t.Errorf("events %v", done)
		}
	})
}

func TestF29WhatIsClaimedInTimeIsNotExpiredEarly(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m, src := s.claimant(t), s.source(t)
	p := published(t, src.Agent, "claimed")
	s.clock.pass(limits.EphemeralArtifact - time.Minute)
	s.claimed(t, m, src.ClaimToken)
	s.clock.pass(2 * time.Minute)
	s.works(t) // past the end that it had before
	s.opens(t, m.Agent, contract.Published{
		ArtifactID:         p.ArtifactID,
		RevisionID:         p.RevisionID,
		RevisionContentURL: p.RevisionContentURL,
		AgentViewURL:       p.AgentViewURL,
	})
	s.collects(t)
	s.reads(t, must(m.AgentView(ctx, p.ArtifactID))(t).RevisionContentURL, page("claimed").Body)
}

func TestF53APinDefeatsTheExpiryThatCameLater(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	p := published(t, m.Agent, "pinned")
	meta := func() stored { return s.item(t, "A#"+string(p.ArtifactID), "META") }
	s.clock.pass(limits.Default().Tiers[limits.Free].DefaultLife + time.Second)
	release := s.workingUntil(t, "TransactWriteItems")
	s.change(t, "A#"+string(p.ArtifactID), "META", map[string]any{"pin_at": s.options.Now(), "g2p": nil, "g2s": nil})
	s.put(t, stored{}, map[string]any{"pk": "W#" + string(m.workspace), "sk": "PINS", "n": 1})
	release()
	s.collects(t)
	if text(meta()["status"]) != "active" || len(s.objectsOf(t, m.Agent)) != 1 {
		t.Errorf("the pinned artifact is %s and has %v", text(meta()["status"]), s.objectsOf(t, m.Agent))
	}
}

func TestF11ASessionThatNobodyFinalizedLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "forgotten")
	s.clock.pass(limits.SessionLife)
	s.works(t)
	if len(s.objectsOf(t, g)) != 1 || s.status(t, u.UploadSessionID) != "pending" {
		t.Errorf("a PUT that began in time may still come: %v are left", s.objectsOf(t, g))
	}
	s.clock.pass(limits.CleanupSlack)
	s.works(t)
	if left := s.objectsOf(t, g); len(left) > 0 || s.status(t, u.UploadSessionID) != "expired" {
		t.Errorf("%v are left of a session that is %s", left, s.status(t, u.UploadSessionID))
	}
	s.collects(t)
}

// TestWhatFallsDueIsDoneWhereverTheJobsDie has a draft, a session, an artifact and hints fall due at one time.
func TestWhatFallsDueIsDoneWhereverTheJobsDie(t *testing.T) {
	t.Parallel()
	s := newJobStand(t, unlimited)
	s.diesAnywhere(t, func(t testing.TB) func(testing.TB) {
		m, _, d := s.drafted(t)
		g := s.agent(t)
		p := published(t, g, "ends")
		u := s.uploaded(t, g, "", "forgotten")
		s.clock.pass(limits.SessionLife + limits.CleanupSlack)
		return func(t testing.TB) {
			draft := s.item(t, "A#"+string(d.ArtifactID), "R#"+string(d.RevisionID))
			ended := s.item(t, "A#"+string(p.ArtifactID), "META")
			if text(draft["status"]) != "retained" || text(ended["status"]) != "expired" || s.status(t, u.UploadSessionID) != "expired" {
				t.Errorf("the draft is %s, the artifact %s, the session %s", text(draft["status"]), text(ended["status"]), s.status(t, u.UploadSessionID))
			}
			if done := s.events(t, m.Agent); done["revision.retained"] != 1 {
				t.Errorf("events %v", done)
			}
			if done := s.events(t, g); done["artifact.expired"] != 1 {
				t.Errorf("events %v", done)
			}
		}
	})
	s.clock.pass(limits.Default().Tiers[limits.Free].DefaultLife)
	s.collects(t)
}
