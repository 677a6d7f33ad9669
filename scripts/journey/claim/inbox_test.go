package claim

import (
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// TestTheInboxIsWholeWhileArtifactsAreMoved has two artifacts with threads, one of which is written about at each step.
func TestTheInboxIsWholeWhileArtifactsAreMoved(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c, src := s.NewClaimant(t), s.NewSource(t)
	who := s.AddMember(t, c.Workspace)
	quiet, busy := harness.PublishPage(t, src.Agent, "quiet"), harness.PublishPage(t, src.Agent, "busy")
	for _, p := range []contract.Published{quiet, busy} {
		harness.WriteAbout(t, src.Agent, p.ArtifactID, contract.CreateThread{Body: "A remark"})
		s.Clock.Advance(time.Second)
	}
	s.MustClaim(t, c, src.ClaimToken)
	n := 1
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		list := harness.CallAs[contract.FeedbackInbox](t, who, 200, "GET", "/v1/web/feedback", nil)
		if len(list.Items) != 2 || list.Items[0].ArtifactID != busy.ArtifactID || list.Items[0].Open != n ||
			list.Items[1].ArtifactID != quiet.ArtifactID {
			t.Errorf("the inbox is %+v", list)
		}
		harness.WriteAbout(t, c.Agent, busy.ArtifactID, contract.CreateThread{Body: "Another"})
		n++
	})
	for _, p := range []contract.Published{quiet, busy} {
		list := harness.Text(s.GetItem(t, "FB#"+string(p.ArtifactID), "F")["g1p"])
		if list != "W#"+string(c.Workspace)+"#FB" {
			t.Errorf("%s is listed under %s", p.ArtifactID, list)
		}
	}
}
