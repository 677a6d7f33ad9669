package lifecycle

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// dueAt returns the place of an artifact in the queue of due work; empty: it has none.
func dueAt(t testing.TB, s *harness.JobEnv, a id.Artifact) string {
	t.Helper()
	if due := s.GetItem(t, "A#"+string(a), "META")["g2s"]; due != nil {
		return harness.Text(due)
	}
	return ""
}

func TestADraftOfAnOldSessionDoesNotChangeWhenItsArtifactEnds(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "first")
	old := s.Upload(t, g, p.ArtifactID, "old")
	s.Clock.Advance(23 * time.Hour)
	finish(t, g, s.Upload(t, g, p.ArtifactID, "newer"))
	end := sortKey(s.Options.Now().Add(limits.EphemeralArtifact))
	s.Clock.Advance(54 * time.Minute)
	harness.Must(g.Finalize(ctx, wire.NewKey(), old.UploadSessionID))(t)
	s.CheckInvariants(t)
	s.Clock.Advance(6 * time.Minute) // when the session believed that the artifact ends
	s.RunJobs(t)
	if due := dueAt(t, s, p.ArtifactID); due != end {
		t.Errorf("the artifact falls due at %s, want %s", due, end)
	}
	s.Clock.Advance(23 * time.Hour)
	s.RunJobs(t)
	if done := s.Events(t, g); done["artifact.expired"] != 1 || dueAt(t, s, p.ArtifactID) != "" {
		t.Errorf("events %v", done)
	}
}

func TestAnArtifactThatComesUpTooSoonGoesBackToItsPlace(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m, p, _ := newDraft(t, s)
	pinned := harness.PublishPage(t, m.Agent, "pinned")
	place := dueAt(t, s, p.ArtifactID)
	s.Update(t, "A#"+string(p.ArtifactID), "META", map[string]any{"g2s": sortKey(s.Options.Now())})
	s.Update(t, "A#"+string(pinned.ArtifactID), "META", map[string]any{
		"pin_at": s.Options.Now(),
		"g2s":    sortKey(s.Options.Now()),
	})
	s.Put(t, harness.Item{}, map[string]any{"pk": "W#" + string(m.Workspace), "sk": "PINS", "n": 1})
	s.RunJobs(t)
	if dueAt(t, s, p.ArtifactID) != place || dueAt(t, s, pinned.ArtifactID) != "" {
		t.Errorf(
			"one falls due at %s, want %s; the pinned one at %q",
			dueAt(t, s, p.ArtifactID),
			place,
			dueAt(t, s, pinned.ArtifactID),
		)
	}
}

func TestADiscardKnowsTheEndThatAnArtifactHasWhenItCommits(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	_, p, _ := newDraft(t, s)
	s.Clock.Advance(limits.DraftLife + time.Second)
	release := runJobsUntil(t, s, "TransactWriteItems")
	meta := s.GetItem(t, "A#"+string(p.ArtifactID), "META")
	end := s.Options.Now().Add(9 * limits.Day)
	// as pinned and let go
	s.Update(t, "A#"+string(p.ArtifactID), "META", map[string]any{"exp": end, "ver": parsedNumber(t, meta["ver"]) + 1})
	release()
	s.RunJobs(t)
	if due := dueAt(t, s, p.ArtifactID); due != sortKey(end) {
		t.Errorf("the artifact falls due at %s, want %s", due, sortKey(end))
	}
}

func parsedNumber(t testing.TB, v any) (n int) {
	t.Helper()
	harness.Must(fmt.Sscan(reflect.ValueOf(v).Elem().FieldByName("Value").String(), &n))(t)
	return n
}

// TestWhatFailsIsPutOffAndInNobodysWay has more sessions that cannot be cleared away than a round takes, and one that
// can.
func TestWhatFailsIsPutOffAndInNobodysWay(t *testing.T) {
	t.Parallel()
	const broken = 120
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	for range broken {
		declare(t, m.Agent, "", harness.Page("never comes"))
	}
	s.Clock.Advance(time.Second)
	last := s.Upload(t, m.Agent, "", "last")
	s.Clock.Advance(sessionsEnd)
	refuses := s.JobFaults.On("ListObjectsV2").If(func(input any) bool {
		prefix := reflect.ValueOf(input).Elem().FieldByName("Prefix").Elem().String()
		return !strings.Contains(prefix, string(last.UploadSessionID))
	}).Before(chaos.Fail(errors.New("no bucket"))).Always()
	err := s.Host.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("sessions failed %d times", broken)) ||
		refuses.Fired() != broken {
		t.Errorf("%d refusals, %v", refuses.Fired(), err)
	}
	if s.SessionStatus(t, last.UploadSessionID) != "expired" || len(objectsOf(t, s, m.Agent)) != 0 {
		t.Errorf("the last session is %s", s.SessionStatus(t, last.UploadSessionID))
	}
	for n, passed := range []time.Duration{0, limits.MinRetry, limits.MinRetry, limits.MinRetry} {
		s.Clock.Advance(passed)
		err := s.Host.Run(ctx)
		if want := []int{1, 2, 2, 3}[n] * broken; refuses.Fired() != want || (err != nil) != (n%2 == 1) {
			t.Errorf("%d: %d refusals, want %d; %v", n, refuses.Fired(), want, err)
		}
	}
	s.JobFaults.Clear()
	s.Clock.Advance(4 * limits.MinRetry)
	s.RunJobs(t)
	s.Clock.Advance(limits.MaxRetry)
	if s.RunJobs(t); s.CountItems(t, s.Tables.Core, "U#") != broken+1 {
		t.Error("sessions are gone")
	}
	for _, i := range s.Scan(t, s.Tables.Core) {
		if strings.HasPrefix(harness.Text(i["pk"]), "U#") && (i["g2p"] != nil || i["ttl"] == nil) {
			t.Errorf("%s %s falls due, or never ends", harness.Text(i["pk"]), harness.Text(i["sk"]))
		}
	}
}
