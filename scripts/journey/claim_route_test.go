package journey

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

const claimPath = "/v1/ephemeral/claim"

// claimsBy asks for a claim as a member does.
func claimsBy(t testing.TB, who *person, key, token string) wire.Answer {
	t.Helper()
	return tries(t, who, "POST", claimPath, contract.ClaimRequest{ClaimToken: token}, "Idempotency-Key", key)
}

func TestAMemberClaimsAWorkspace(t *testing.T) {
	t.Parallel()
	p := pry(t)
	who := p.person(t)
	g, made, err := p.anyone.Provision(ctx)
	succeed(t, err)
	live, dead := published(t, g, "live"), published(t, g, "dead")
	tryDelete(t, g, dead.ArtifactID)
	key := wire.NewKey()
	first := claimsBy(t, who, key, made.ClaimToken)
	var got contract.Claimed
	succeed(t, json.Unmarshal(first.Body, &got))
	want := contract.Claimed{
		DestinationWorkspaceID: who.workspace,
		SourceWorkspaceID:      made.WorkspaceID,
		ArtifactIDs:            []id.Artifact{live.ArtifactID},
		ClaimTokenID:           made.ClaimTokenID,
	}
	if first.Status != http.StatusOK || !reflect.DeepEqual(got, want) {
		t.Errorf("%d %s", first.Status, first.Body)
	}
	if again := claimsBy(t, who, key, made.ClaimToken); again.Status != http.StatusOK || string(again.Body) != string(first.Body) {
		t.Errorf("the same again: %d %s", again.Status, again.Body)
	}
	refused(t, claimsBy(t, who, key, made.ClaimToken+"x"), 400, fault.InvalidIdempotencyKey)
	refused(t, claimsBy(t, who, wire.NewKey(), made.ClaimToken), 404, fault.NotFound)
	refused(t, do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	rows := asks[contract.WebArtifactList](t, who, 200, "GET", "/v1/web/artifacts", nil).Items
	status := map[id.Artifact]string{}
	for _, row := range rows {
		status[row.ID] = row.Status
	}
	if len(rows) != 2 || status[live.ArtifactID] != "Published" || status[dead.ArtifactID] != "Deleted" {
		t.Errorf("the member's list is %+v", rows)
	}
	detail := asks[contract.WebArtifact](t, who, 200, "GET", "/v1/web/artifacts/"+string(live.ArtifactID), nil)
	if detail.Viewer == nil || detail.Title != "live" || detail.LastPublishedAt == nil || detail.AutoDeleteAt == nil {
		t.Fatalf("its detail is %+v", detail)
	}
	p.reads(t, detail.Viewer.IframeSrc, page("live").Body)
	if gone := asks[contract.WebArtifact](t, who, 200, "GET", "/v1/web/artifacts/"+string(dead.ArtifactID), nil); gone.Viewer != nil || gone.AutoDeleteAt != nil {
		t.Errorf("the detail of a deleted one is %+v", gone)
	}
	refused(t, tries(t, p.person(t), "GET", "/v1/web/artifacts/"+string(live.ArtifactID), nil), 404, fault.NotFound)
}

// TestTheStackMovesWhatWasClaimed waits for the work that a stack does by itself.
func TestTheStackMovesWhatWasClaimed(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule, working)
	who := p.person(t)
	g, made, err := p.anyone.Provision(ctx)
	succeed(t, err)
	a := published(t, g, "moved").ArtifactID
	if answer := claimsBy(t, who, wire.NewKey(), made.ClaimToken); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	store := dynamo.New(p.client, p.names)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		moved := must(store.Artifacts.Artifact(ctx, a))(t).Owner == who.workspace
		if moved && p.count(t, p.names.Core, "JOB#MIGRATE#") == 0 {
			return
		}
		now.pass(time.Second)
	}
	t.Error("it is not moved")
}

// TestT68TheRouteOfClaimsTellsNothing sends what is wrong in every way.
func TestT68TheRouteOfClaimsTellsNothing(t *testing.T) {
	t.Parallel()
	p := pry(t)
	who := p.person(t)
	g, made, err := p.anyone.Provision(ctx)
	succeed(t, err)
	_, used, err := p.anyone.Provision(ctx)
	succeed(t, err)
	if a := claimsBy(t, who, wire.NewKey(), used.ClaimToken); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	token := must(parsedClaim(made.ClaimToken))(t)
	coded := token
	coded.ClaimCode = "clm_" + strings.Repeat("0", 26)
	own := token
	own.Workspace = who.workspace
	before := p.state(t)
	said := ""
	for name, text := range map[string]string{
		"nonsense": "x", "swapped claim code": coded.Reveal(), "own workspace": own.Reveal(), "redeemed": used.ClaimToken,
		"wrong secret":      credential.MintAs(credential.ClaimToken, credential.Preview, token.Workspace, token.Public).Reveal(),
		"other environment": credential.MintAs(credential.ClaimToken, credential.Production, token.Workspace, token.Public).Reveal(),
	} {
		a := claimsBy(t, who, wire.NewKey(), text)
		if refused(t, a, 404, fault.NotFound); said != "" && a.Message() != said {
			t.Errorf("%s: %q, others %q", name, a.Message(), said)
		}
		said = a.Message()
	}
	for name, a := range map[string]struct {
		wire.Answer
		status int
		code   fault.Code
	}{
		"an API key":     {do(t, g, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: made.ClaimToken}, keyed()...), 401, fault.NotAuthenticated},
		"nobody":         {do(t, p.anyone, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: made.ClaimToken}, keyed()...), 401, fault.NotAuthenticated},
		"no key":         {tries(t, who, "POST", claimPath, contract.ClaimRequest{ClaimToken: made.ClaimToken}), 400, fault.InvalidIdempotencyKey},
		"an unknown key": {tries(t, who, "POST", claimPath, map[string]any{"claim_token": made.ClaimToken, "x": 1}, keyed()...), 400, fault.InvalidRequest},
		"no token":       {tries(t, who, "POST", claimPath, map[string]any{}, keyed()...), 400, fault.InvalidRequest},
		"an empty one":   {tries(t, who, "POST", claimPath, contract.ClaimRequest{}, keyed()...), 400, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) { refused(t, a.Answer, a.status, a.code) })
	}
	p.unchanged(t, before)
}

// TestT25PeopleWhoClaimAtOnce has two browsers of one member and another member send the same token.
func TestT25PeopleWhoClaimAtOnce(t *testing.T) {
	t.Parallel()
	p := pry(t)
	one, other := p.person(t), p.person(t)
	_, made, err := p.anyone.Provision(ctx)
	succeed(t, err)
	answers := make([]wire.Answer, 6)
	key := wire.NewKey()
	var all sync.WaitGroup
	for n := range answers {
		who := []*person{one, other}[n%2]
		all.Go(func() {
			a, err := who.Do(ctx, "POST", p.Origins.API+claimPath, contract.ClaimRequest{ClaimToken: made.ClaimToken}, "Idempotency-Key", key)
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
