package claim

import (
	"net/http"
	"reflect"
	"strings"
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
	detail := harness.CallAs[contract.WebArtifact](t, who, 200, "GET", "/v1/web/artifacts/"+string(live.ArtifactID), nil)
	if detail.Viewer == nil || detail.Title != "live" || detail.LastPublishedAt == nil || detail.AutoDeleteAt == nil {
		t.Fatalf("its detail is %+v", detail)
	}
	p.WantContent(t, detail.Viewer.IframeSrc, harness.Page("live").Body)
	gone := harness.CallAs[contract.WebArtifact](t, who, 200, "GET", "/v1/web/artifacts/"+string(dead.ArtifactID), nil)
	if gone.Viewer != nil || gone.AutoDeleteAt != nil {
		t.Errorf("the detail of a deleted one is %+v", gone)
	}
	harness.WantRefused(
		t, harness.TryAs(t, p.NewMember(t), "GET", "/v1/web/artifacts/"+string(live.ArtifactID), nil), 404, fault.NotFound,
	)
}

// TestTheStackMovesWhatWasClaimed waits for the work that a stack does by itself.
func TestTheStackMovesWhatWasClaimed(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
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

// TestT68TheRouteOfClaimsTellsNothing sends what is wrong in every way.
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
	said := ""
	for name, text := range wrongClaimTokens(t, made.ClaimToken, used.ClaimToken, who.Workspace) {
		a := tryClaim(t, who, wire.NewKey(), text)
		if harness.WantRefused(t, a, 404, fault.NotFound); said != "" && a.Message() != said {
			t.Errorf("%s: %q, others %q", name, a.Message(), said)
		}
		said = a.Message()
	}
	right := contract.ClaimRequest{ClaimToken: made.ClaimToken}
	for name, tt := range map[string]struct {
		by      *wire.Agent
		body    any
		headers []string
		status  int
		code    fault.Code
	}{
		"an API key": {g, right, harness.KeyHeader(), 401, fault.NotAuthenticated},
		"nobody":     {p.Anyone, right, harness.KeyHeader(), 401, fault.NotAuthenticated},
		"no key":     {who.Agent, right, nil, 400, fault.InvalidIdempotencyKey},
		"an unknown key": {who.Agent, map[string]any{
			"claim_token": made.ClaimToken,
			"x":           1,
		}, harness.KeyHeader(), 400, fault.InvalidRequest},
		"no token":     {who.Agent, map[string]any{}, harness.KeyHeader(), 400, fault.InvalidRequest},
		"an empty one": {who.Agent, contract.ClaimRequest{}, harness.KeyHeader(), 400, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			a := harness.Do(t, tt.by, "POST", p.Origins.API+harness.ClaimPath, tt.body, tt.headers...)
			harness.WantRefused(t, a, tt.status, tt.code)
		})
	}
	p.WantUnchanged(t, before)
}

// wrongClaimTokens are claim tokens by what is wrong with them, made of a right and of a redeemed one.
func wrongClaimTokens(t *testing.T, right, redeemed string, own id.Workspace) map[string]string {
	t.Helper()
	token := harness.Must(harness.ParseClaimToken(right))(t)
	coded := token
	coded.ClaimCode = "clm_" + strings.Repeat("0", 26)
	moved := token
	moved.Workspace = own
	secret := credential.MintAs(credential.ClaimToken, credential.Preview, token.Workspace, token.Public)
	environment := credential.MintAs(credential.ClaimToken, credential.Production, token.Workspace, token.Public)
	return map[string]string{
		"nonsense":           "x",
		"swapped claim code": coded.Reveal(),
		"own workspace":      moved.Reveal(),
		"redeemed":           redeemed,
		"wrong secret":       secret.Reveal(),
		"other environment":  environment.Reveal(),
	}
}

// TestT25PeopleWhoClaimAtOnce has two browsers of one member and another member send the same token.
func TestT25PeopleWhoClaimAtOnce(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	one, other := p.NewMember(t), p.NewMember(t)
	_, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	answers := make([]wire.Answer, 6)
	key := wire.NewKey()
	var all sync.WaitGroup
	for n := range answers {
		who := []*harness.Member{one, other}[n%2]
		all.Go(func() {
			a, err := who.Do(
				ctx,
				"POST",
				p.Origins.API+harness.ClaimPath,
				contract.ClaimRequest{ClaimToken: made.ClaimToken},
				"Idempotency-Key",
				key,
			)
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
}
