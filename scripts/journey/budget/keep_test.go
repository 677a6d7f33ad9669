package budget

import (
	"testing"

	"vitrine/scripts/journey/harness"
)

// TestRoutesThatKeepAndLockStayWithinTheirBudget asks as a member and as an operator: a batch for the grant, one for
// the member, then two counters. What the storage design gives for pins and locks does not count those.
func TestRoutesThatKeepAndLockStayWithinTheirBudget(t *testing.T) {
	l := newBudgetEnv(t)
	p, who := l.claimed(t)
	op := p.Promote(t, p.AddMember(t, who.Workspace), l.Options.Now())
	shown := harness.PublishPage(t, l.owner, "kept")
	a := string(shown.ArtifactID)
	ask := func(by *harness.Member, status int, method, path string, body any) func() {
		return func() {
			if got := harness.TryAs(t, by, method, path, body, harness.KeyHeader()...); got.Status != status {
				t.Fatalf("%s %s answers %d %s", method, path, got.Status, got.Body)
			}
		}
	}
	harness.TryAs(t, who, "GET", "/v1/web/workspace", nil)
	harness.TryAs(t, op, "GET", harness.RecordPath, nil)
	// The artifact, then the transaction (record, artifact with its index entries, counter, fence, event), then what shows
	// it.
	l.wantWithin(t, "pin", budget{7, 6, 6, 15}, ask(who, 200, "POST", harness.PinPath(shown.ArtifactID), nil))
	l.wantWithin(t, "pin again", budget{7, 6, 6, 8}, ask(who, 200, "POST", harness.PinPath(shown.ArtifactID), nil))
	l.wantWithin(t, "unpin", budget{7, 6, 6, 15}, ask(who, 200, "POST", harness.UnpinPath(shown.ArtifactID), nil))
	l.wantWithin(t, "member: revisions", budget{6, 4, 5, 2},
		ask(who, 200, "GET", "/v1/web/artifacts/"+a+"/revisions", nil))
	l.wantWithin(t, "rename", budget{4, 3, 3, 10}, func() {
		got := harness.Do(t, l.owner, "PATCH", l.Origins.API+"/v1/artifacts/"+a+"/display-metadata", `{"title":"x"}`)
		if got.Status != 200 {
			t.Fatal(got.Status)
		}
	})
	// The lockdown, the artifact, its workspace and its export one after the other, then the transaction, with their index
	// entries.
	l.wantWithin(t, "lock an artifact", budget{8, 7, 8, 13},
		ask(op, 201, "POST", harness.LocksPath, harness.LockdownOf("artifact", a)))
	l.wantWithin(t, "lifts an artifact's lock", budget{8, 7, 7, 16},
		ask(op, 200, "DELETE", harness.LocksPath+"/artifact/"+a, nil))
	l.wantWithin(t, "lockdowns", budget{6, 4, 4, 2}, ask(op, 200, "GET", harness.LocksPath, nil))
	// Four parts of each day that events are kept; this deployment is empty before today.
	l.wantWithin(t, "record, one workspace", budget{5, 3, 4, 2},
		ask(op, 200, "GET", harness.RecordPath+"?workspace_id="+string(who.Workspace), nil))
	l.wantWithin(t, "record, a page of today", budget{8, 3, 6, 2}, ask(op, 200, "GET", harness.RecordPath+"?limit=1", nil))
}
