package claim

import (
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
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
	harness.TryDelete(t, g, dead.ArtifactID)
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
	if first.Status != http.StatusOK || !reflect.DeepEqual(got, want) {
		t.Errorf("%d %s", first.Status, first.Body)
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
	now := harness.NewClock()
	p := harness.NewBackendEnv(t, now.Use, harness.WithJobs)
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
		now.Advance(time.Second)
	}
	t.Error("it is not moved")
}

// TestT68TheRouteOfClaimsTellsNothing sends what is wrong in several ways.
func TestT68TheRouteOfClaimsTellsNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	who := p.NewMember(t)
	g, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	_, used, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	if a := tryClaim(t, who, wire.NewKey(), used.ClaimToken); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	before := p.Snapshot(t)
	token := harness.Must(harness.ParseClaimToken(made.ClaimToken))(t)
	answers := map[string]wire.Answer{}
	for name, text := range map[string]string{
		"nonsense":     "x",
		"redeemed":     used.ClaimToken,
		"wrong secret": credential.MintAs(token.Kind, credential.Preview, token.Workspace, token.Public).Reveal(),
	} {
		answers[name] = tryClaim(t, who, wire.NewKey(), text)
	}
	harness.WantSameRefusal(t, answers, 404, fault.NotFound)
	right := contract.ClaimRequest{ClaimToken: made.ClaimToken}
	for name, a := range map[string]wire.Answer{
		"an API key": harness.Do(t, g, "POST", p.Origins.API+harness.ClaimPath, right, harness.KeyHeader()...),
		"nobody":     harness.Do(t, p.Anyone, "POST", p.Origins.API+harness.ClaimPath, right, harness.KeyHeader()...),
	} {
		t.Log(name)
		harness.WantRefused(t, a, 401, fault.NotAuthenticated)
	}
	harness.WantRefused(t, harness.TryAs(t, who, "POST", harness.ClaimPath, right), 400, fault.InvalidIdempotencyKey)
	for _, body := range []string{"{}", `{"claim_token":""}`, `{"claim_token":"x","x":1}`} {
		a := harness.TryAs(t, who, "POST", harness.ClaimPath, body, harness.KeyHeader()...)
		harness.WantRefused(t, a, 400, fault.InvalidRequest)
	}
	p.WantUnchanged(t, before)
}

// TestT25F28OneTokenIsClaimedOnce has two browsers of one member and another member send the same token.
func TestT25F28OneTokenIsClaimedOnce(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	members := []*harness.Member{p.NewMember(t), p.NewMember(t)}
	g, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	wanted := harness.PublishPage(t, g, "wanted").ArtifactID
	answers := make([]wire.Answer, 6)
	key := wire.NewKey()
	var all sync.WaitGroup
	for n := range answers {
		all.Go(func() {
			a, err := members[n%2].Do(ctx, "POST", p.Origins.API+harness.ClaimPath,
				contract.ClaimRequest{ClaimToken: made.ClaimToken}, "Idempotency-Key", key)
			if answers[n] = a; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	won := map[int]bool{}
	for n, a := range answers {
		if a.Status == http.StatusOK {
			won[n%2] = true
		} else if c := a.Code(); c != fault.NotFound && c != fault.IdempotencyInFlight && c != fault.DatabaseUnavailable {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if len(won) != 1 {
		t.Errorf("%d of two members won", len(won))
	}
	for n, who := range members {
		list := harness.CallAs[contract.WebArtifactList](t, who, 200, "GET", "/v1/web/artifacts", nil).Items
		if has := len(list) == 1 && list[0].ID == wanted; has != won[n] {
			t.Errorf("of member %d are %+v, and won has %t", n, list, won[n])
		}
	}
}
