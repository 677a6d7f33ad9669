package journey

import "testing"

// TestRoutesThatKeepAndLockStayWithinTheirBudget asks as a member and as an operator: a batch for the grant, one for the
// member, then two counters. What the storage design gives for pins and locks does not count those.
func TestRoutesThatKeepAndLockStayWithinTheirBudget(t *testing.T) {
	l := newLedger(t)
	p := l.inside()
	l.owner = l.agent(t)
	w := parsed(t, l.owner).Workspace
	p.change(t, "W#"+string(w), "META", map[string]any{"claimed_at": l.options.Now()})
	who := p.colleague(t, w)
	op := p.promotes(t, p.colleague(t, w), l.options.Now())
	shown := published(t, l.owner, "kept")
	a := string(shown.ArtifactID)
	ask := func(by *person, status int, method, path string, body any) func() {
		return func() {
			if got := tries(t, by, method, path, body, keyed()...); got.Status != status {
				t.Fatalf("%s %s answers %d %s", method, path, got.Status, got.Body)
			}
		}
	}
	tries(t, who, "GET", "/v1/web/workspace", nil)
	tries(t, op, "GET", recordPath, nil)
	// The artifact, then the transaction (record, artifact with its index entries, counter, fence, event), then what shows it.
	l.holds(t, "pin", budget{7, 6, 6, 15}, ask(who, 200, "POST", pinPath(shown.ArtifactID), nil))
	l.holds(t, "pin again", budget{7, 6, 6, 8}, ask(who, 200, "POST", pinPath(shown.ArtifactID), nil))
	l.holds(t, "unpin", budget{7, 6, 6, 15}, ask(who, 200, "POST", unpinPath(shown.ArtifactID), nil))
	l.holds(t, "member: revisions", budget{6, 4, 5, 2}, ask(who, 200, "GET", "/v1/web/artifacts/"+a+"/revisions", nil))
	l.holds(t, "rename", budget{4, 3, 3, 10}, func() {
		if got := do(t, l.owner, "PATCH", l.Origins.API+"/v1/artifacts/"+a+"/display-metadata", `{"title":"x"}`); got.Status != 200 {
			t.Fatal(got.Status)
		}
	})
	// The lockdown, the artifact and its workspace one after the other, then the transaction, with their index entries.
	l.holds(t, "lock an artifact", budget{8, 7, 7, 13}, ask(op, 201, "POST", locksPath, lockOf("artifact", a)))
	l.holds(t, "lifts an artifact's lock", budget{8, 7, 7, 16}, ask(op, 200, "DELETE", locksPath+"/artifact/"+a, nil))
	l.holds(t, "lockdowns", budget{6, 4, 4, 2}, ask(op, 200, "GET", locksPath, nil))
	// Four parts of each day that events are kept; this deployment is empty before today.
	l.holds(t, "record, one workspace", budget{5, 3, 4, 2}, ask(op, 200, "GET", recordPath+"?workspace_id="+string(w), nil))
	l.holds(t, "record, a page of today", budget{8, 3, 6, 2}, ask(op, 200, "GET", recordPath+"?limit=1", nil))
}
