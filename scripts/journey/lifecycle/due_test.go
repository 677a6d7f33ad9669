package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// dueAt returns the place of an artifact in the queue of due work; empty: it has none.
func dueAt(t testing.TB, s *harness.JobEnv, a id.Artifact) string {
	t.Helper()
	if due := gateOf(t, s, a)["g2s"]; due != nil {
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

func TestAPinnedArtifactThatIsStillQueuedLeavesTheQueue(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	p, now := harness.PublishPage(t, m.Agent, "pinned"), s.Options.Now()
	s.Update(t, "A#"+string(p.ArtifactID), "META", map[string]any{"pin_at": now, "g2s": sortKey(now)})
	s.Put(t, harness.Item{}, map[string]any{"pk": "W#" + string(m.Workspace), "sk": "PINS", "n": 1})
	s.RunJobs(t)
	if due := dueAt(t, s, p.ArtifactID); due != "" {
		t.Errorf("it falls due at %s", due)
	}
}

func TestADiscardKnowsTheEndThatAnArtifactHasWhenItCommits(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	_, p, _ := newDraft(t, s)
	s.Clock.Advance(limits.DraftLife + time.Second)
	release := runJobsUntil(t, s, "TransactWriteItems")
	end := s.Options.Now().Add(9 * limits.Day)
	// as pinned and let go
	s.Update(t, "A#"+string(p.ArtifactID), "META", map[string]any{"exp": end, "ver": 1_000})
	release()
	s.RunJobs(t)
	if due := dueAt(t, s, p.ArtifactID); due != sortKey(end) {
		t.Errorf("the artifact falls due at %s, want %s", due, sortKey(end))
	}
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
		list, ok := input.(*s3.ListObjectsV2Input)
		return ok && !strings.Contains(*list.Prefix, string(last.UploadSessionID))
	}).Before(chaos.Fail(errors.New("no bucket"))).Always()
	err := s.Host.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("sessions failed %d times", broken)) ||
		refuses.Fired() != broken || s.SessionStatus(t, last.UploadSessionID) != "expired" {
		t.Errorf("%d refusals, %v; the last session is %s", refuses.Fired(), err, s.SessionStatus(t, last.UploadSessionID))
	}
	wantObjects(t, s, m.Agent, 0)
	if err := s.Host.Run(ctx); err != nil || refuses.Fired() != broken {
		t.Errorf("at once they are tried again: %v", err)
	}
	s.JobFaults.Clear()
	s.Clock.Advance(limits.MaxRetry)
	s.RunJobs(t)
	for _, i := range s.Scan(t, s.Tables.Core) {
		if strings.HasPrefix(harness.Text(i["pk"]), "U#") && (i["g2p"] != nil || i["ttl"] == nil) {
			t.Errorf("%s %s falls due, or never ends", harness.Text(i["pk"]), harness.Text(i["sk"]))
		}
	}
}
