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
	harness.TryAs(t, who, "GET", "/v1/web/workspace", nil)
	harness.TryAs(t, op, "GET", harness.RecordPath, nil)
	// The artifact, then the transaction (record, artifact with its index entries, counter, fence, event), then what shows
	// it.
	l.wantWithin(t, "pin", budget{7, 6, 6, 15}, l.asks(t, who, 200, "POST", harness.PinPath(shown.ArtifactID), nil))
	l.wantWithin(t, "pin again", budget{7, 6, 6, 8}, l.asks(t, who, 200, "POST", harness.PinPath(shown.ArtifactID), nil))
	l.wantWithin(t, "unpin", budget{7, 6, 6, 15}, l.asks(t, who, 200, "POST", harness.UnpinPath(shown.ArtifactID), nil))
	l.wantWithin(t, "member: revisions", budget{6, 4, 5, 2},
		l.asks(t, who, 200, "GET", "/v1/web/artifacts/"+a+"/revisions", nil))
	l.wantWithin(t, "rename", budget{4, 3, 3, 10},
		l.sends(t, l.owner, 200, "PATCH", "/v1/artifacts/"+a+"/display-metadata", `{"title":"x"}`))
	// The lockdown, the artifact, its workspace and its export one after the other, then the transaction, with their index
	// entries.
	l.wantWithin(t, "lock an artifact", budget{8, 7, 8, 13},
		l.asks(t, op, 201, "POST", harness.LocksPath, harness.LockdownOf("artifact", a)))
	l.wantWithin(t, "lifts an artifact's lock", budget{8, 7, 7, 16},
		l.asks(t, op, 200, "DELETE", harness.LocksPath+"/artifact/"+a, nil))
	l.wantWithin(t, "lockdowns", budget{6, 4, 4, 2}, l.asks(t, op, 200, "GET", harness.LocksPath, nil))
	// Four parts of each day that events are kept; this deployment is empty before today.
	l.wantWithin(t, "record, one workspace", budget{5, 3, 4, 2},
		l.asks(t, op, 200, "GET", harness.RecordPath+"?workspace_id="+string(who.Workspace), nil))
	l.wantWithin(t, "record, a page of today", budget{8, 3, 6, 2},
		l.asks(t, op, 200, "GET", harness.RecordPath+"?limit=1", nil))
}
