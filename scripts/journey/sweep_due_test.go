package journey

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// fallsDue is when the next thing happens to an artifact, as the list of what is due says; empty: nothing does.
func (s *jobStand) fallsDue(t testing.TB, a id.Artifact) string {
	t.Helper()
	if due := s.item(t, "A#"+string(a), "META")["g2s"]; due != nil {
		return text(due)
	}
	return ""
}

func TestADraftOfAnOldSessionDoesNotChangeWhenItsArtifactEnds(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	g := s.agent(t)
	p := published(t, g, "first")
	old := s.uploaded(t, g, p.ArtifactID, "old")
	s.clock.pass(23 * time.Hour)
	finishes(t, g, s.uploaded(t, g, p.ArtifactID, "newer"))
	end := sortKey(s.options.Now().Add(limits.EphemeralArtifact))
	s.clock.pass(54 * time.Minute)
	must(g.Finalize(ctx, wire.NewKey(), old.UploadSessionID))(t)
	s.sound(t)
	s.clock.pass(6 * time.Minute) // when the session believed that the artifact ends
	s.works(t)
	if due := s.fallsDue(t, p.ArtifactID); due != end {
		t.Errorf("the artifact falls due at %s, want %s", due, end)
	}
	s.clock.pass(23 * time.Hour)
	s.works(t)
	if done := s.events(t, g); done["artifact.expired"] != 1 || s.fallsDue(t, p.ArtifactID) != "" {
		t.Errorf("events %v", done)
	}
}

func TestAnArtifactThatComesUpTooSoonGoesBackToItsPlace(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m, p, _ := s.drafted(t)
	pinned := published(t, m.Agent, "pinned")
	place := s.fallsDue(t, p.ArtifactID)
	s.change(t, "A#"+string(p.ArtifactID), "META", map[string]any{"g2s": sortKey(s.options.Now())})
	s.change(t, "A#"+string(pinned.ArtifactID), "META", map[string]any{"pin_at": s.options.Now(), "g2s": sortKey(s.options.Now())})
	s.put(t, stored{}, map[string]any{"pk": "W#" + string(m.workspace), "sk": "PINS", "n": 1})
	s.works(t)
	if s.fallsDue(t, p.ArtifactID) != place || s.fallsDue(t, pinned.ArtifactID) != "" {
		t.Errorf("one falls due at %s, want %s; the pinned one at %q", s.fallsDue(t, p.ArtifactID), place, s.fallsDue(t, pinned.ArtifactID))
	}
}

func TestADiscardKnowsTheEndThatAnArtifactHasWhenItCommits(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	_, p, _ := s.drafted(t)
	s.clock.pass(limits.DraftLife + time.Second)
	release := s.workingUntil(t, "TransactWriteItems")
	meta := s.item(t, "A#"+string(p.ArtifactID), "META")
	end := s.options.Now().Add(9 * limits.Day)
	s.change(t, "A#"+string(p.ArtifactID), "META", map[string]any{"exp": end, "ver": parsedNumber(t, meta["ver"]) + 1}) // as pinned and let go
	release()
	s.works(t)
	if due := s.fallsDue(t, p.ArtifactID); due != sortKey(end) {
		t.Errorf("the artifact falls due at %s, want %s", due, sortKey(end))
	}
}

func parsedNumber(t testing.TB, v any) (n int) {
	t.Helper()
	must(fmt.Sscan(reflect.ValueOf(v).Elem().FieldByName("Value").String(), &n))(t)
	return n
}

// TestWhatFailsIsPutOffAndInNobodysWay has more sessions that cannot be cleared away than a round takes, and one that can.
func TestWhatFailsIsPutOffAndInNobodysWay(t *testing.T) {
	t.Parallel()
	const broken = 120
	s := newJobStand(t, unlimited)
	m := s.claimant(t)
	for range broken {
		declares(t, m.Agent, "", page("never comes"))
	}
	s.clock.pass(time.Second)
	last := s.uploaded(t, m.Agent, "", "last")
	s.clock.pass(sessionsEnd)
	refuses := s.worn.On("ListObjectsV2").If(func(input any) bool {
		prefix := reflect.ValueOf(input).Elem().FieldByName("Prefix").Elem().String()
		return !strings.Contains(prefix, string(last.UploadSessionID))
	}).Before(chaos.Fail(errors.New("no bucket"))).Always()
	err := s.host.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("sessions failed %d times", broken)) || refuses.Fired() != broken {
		t.Errorf("%d refusals, %v", refuses.Fired(), err)
	}
	if s.status(t, last.UploadSessionID) != "expired" || len(s.objectsOf(t, m.Agent)) != 0 {
		t.Errorf("the last session is %s", s.status(t, last.UploadSessionID))
	}
	for n, passed := range []time.Duration{0, limits.MinRetry, limits.MinRetry, limits.MinRetry} {
		s.clock.pass(passed)
		err := s.host.Run(ctx)
		if want := []int{1, 2, 2, 3}[n] * broken; refuses.Fired() != want || (err != nil) != (n%2 == 1) {
			t.Errorf("%d: %d refusals, want %d; %v", n, refuses.Fired(), want, err)
		}
	}
	s.worn.Clear()
	s.clock.pass(4 * limits.MinRetry)
	s.works(t)
	s.clock.pass(limits.MaxRetry)
	if s.works(t); s.count(t, s.names.Core, "U#") != 2*(broken+1) {
		t.Error("sessions are gone")
	}
	for _, i := range s.all(t, s.names.Core) {
		if strings.HasPrefix(text(i["pk"]), "U#") && (i["g2p"] != nil || i["ttl"] == nil) {
			t.Errorf("%s %s falls due, or never ends", text(i["pk"]), text(i["sk"]))
		}
	}
}

func TestAnArtifactThatCannotBeEndedIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	g := s.agent(t)
	p := published(t, g, "ends")
	s.works(t)
	s.clock.pass(limits.EphemeralArtifact)
	s.worn.On("TransactWriteItems").Before(chaos.Fail(errors.New("not now")))
	if err := s.host.Run(ctx); err == nil {
		t.Error("nothing failed")
	}
	s.sound(t)
	s.gone(t, p.RevisionContentURL)
	s.clock.pass(limits.MinRetry)
	s.works(t)
	if done := s.events(t, g); done["artifact.expired"] != 1 {
		t.Errorf("events %v", done)
	}
}
