package claim

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// tryClaim asks for a claim as a member does.
func tryClaim(t testing.TB, who *harness.Member, key, token string) wire.Answer {
	t.Helper()
	return harness.TryAs(
		t, who, "POST", harness.ClaimPath, contract.ClaimRequest{ClaimToken: token}, "Idempotency-Key", key,
	)
}

func TestAMemberClaimsAWorkspace(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	who := p.NewMember(t)
	g, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	live, dead := harness.PublishPage(t, g, "live"), harness.PublishPage(t, g, "dead")
	harness.DeleteArtifact(t, g, dead.ArtifactID)
	key := wire.NewKey()
	first := tryClaim(t, who, key, made.ClaimToken)
	var got contract.Claimed
	harness.Decode(t, first, &got)
	want := contract.Claimed{
		DestinationWorkspaceID: who.Workspace,
		SourceWorkspaceID:      made.WorkspaceID,
		ArtifactIDs:            []id.Artifact{live.ArtifactID},
		ClaimTokenID:           made.ClaimTokenID,
	}
	if diff := cmp.Diff(want, got); first.Status != http.StatusOK || diff != "" {
		t.Errorf("%d, the claim (-want +got):\n%s", first.Status, diff)
	}
	again := tryClaim(t, who, key, made.ClaimToken)
	if again.Status != http.StatusOK || string(again.Body) != string(first.Body) {
		t.Errorf("the same again: %d %s", again.Status, again.Body)
	}
	harness.WantRefused(t, tryClaim(t, who, key, made.ClaimToken+"x"), 400, fault.InvalidIdempotencyKey)
	harness.WantRefused(t, tryClaim(t, who, wire.NewKey(), made.ClaimToken), 404, fault.NotFound)
	harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	rows := harness.CallAs[contract.WebArtifactList](t, who, 200, "GET", "/v1/web/artifacts", nil).Items
	status := map[id.Artifact]string{}
	for _, row := range rows {
		status[row.ID] = row.Status
	}
	if len(rows) != 2 || status[live.ArtifactID] != "Published" || status[dead.ArtifactID] != "Deleted" {
		t.Errorf("the member's list is %+v", rows)
	}
	find := func(a id.Artifact) contract.WebArtifact {
		t.Helper()
		return harness.CallAs[contract.WebArtifact](t, who, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
	}
	detail := find(live.ArtifactID)
	if detail.Viewer == nil || detail.Title != "live" || detail.LastPublishedAt == nil || detail.AutoDeleteAt == nil {
		t.Fatalf("its detail is %+v", detail)
	}
	p.WantContent(t, detail.Viewer.IframeSrc, harness.Page("live").Body)
	if gone := find(dead.ArtifactID); gone.Viewer != nil || gone.AutoDeleteAt != nil {
		t.Errorf("the detail of a deleted one is %+v", gone)
	}
}

// TestTheStackMovesWhatWasClaimed waits for the work that a stack does by itself.
func TestTheStackMovesWhatWasClaimed(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.WithJobs)
	who := p.NewMember(t)
	g, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	a := harness.PublishPage(t, g, "moved").ArtifactID
	if answer := tryClaim(t, who, wire.NewKey(), made.ClaimToken); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	store := dynamo.New(p.DB, p.Tables)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		moved := harness.Must(store.Artifacts.Artifact(ctx, a))(t).Owner == who.Workspace
		if moved && p.CountItems(t, p.Tables.Core, "JOB#MIGRATE#") == 0 {
			return
		}
		p.Clock.Advance(time.Second)
	}
	t.Error("it is not moved")
}
