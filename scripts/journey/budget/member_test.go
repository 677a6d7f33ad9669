package budget

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
)

func TestEveryRouteOfMembersStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	who := p.NewMember(t)
	there := p.GrantTo(t, who, "oc_x", p.Origins.Delegated())
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "first", wire.NewKey()))
	shown := harness.PublishPage(t, l.WithBearer(made.Secret), "shown")
	named := contract.CreateKey{Name: "second"}
	// Everywhere the grant with the workspace, then the member, then two counters beside what is asked.
	for _, route := range []struct {
		name         string
		most         budget
		status       int
		method, path string
		body         any
	}{
		{"workspace", budget{4, 3, 3, 2}, 200, "GET", "workspace", nil},
		{"settings", budget{4, 3, 3, 2}, 200, "GET", "settings", nil},
		// The workspace, the record and the event in a transaction: each is written for two units.
		{"change settings", budget{5, 4, 4, 9}, 200, "PATCH", "settings",
			contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3}},
		// The counter of the day, then record, export, fence and event in a transaction.
		{"ask for an export", budget{7, 6, 6, 15}, 202, "POST", "workspace/export", nil},
		{"export", budget{5, 4, 4, 2}, 200, "GET", "workspace/export", nil},
		{"audit", budget{5, 3, 3.5, 2}, 200, "GET", "audit", nil},
		// Those that live and those that are gone, one after the other, beside what is still being moved here.
		{"web artifacts", budget{7, 4, 5, 2}, 200, "GET", "artifacts", nil},
		{"web artifact", budget{6, 4, 5, 2}, 200, "GET", "artifacts/" + string(shown.ArtifactID), nil},
		// Those that were not revoked and those that were, one after the other.
		{"keys", budget{6, 4, 4, 2}, 200, "GET", "keys", nil},
		// A fence is checked; key, record and event are written, the key's index entry, and the key's name in its login
		// and among the live keys.
		{"make a key", budget{5, 4, 4, 16}, 201, "POST", "keys", named},
		// The key is read first: the answer shows it. It leaves one list of the index for another, and the live keys.
		{"revoke a key", budget{6, 5, 5, 13}, 200, "POST", "keys/" + string(made.APIKey.ID) + "/revoke", nil},
	} {
		l.wantWithin(t, route.name, route.most,
			l.asks(t, who, route.status, route.method, "/v1/web/"+route.path, route.body))
	}
	l.wantWithin(t, "mcp whoami", budget{4, 3, 3, 2}, l.sends(t, there.Agent, 200, "GET", "/v1/mcp/whoami", nil))
	l.wantWithin(t, "callback, not counted", budget{2, 2, 3, 0}, func() {
		if a := harness.TryAs(t, who, "POST", "/v1/auth/web/callback", nil); a.Status >= 300 {
			t.Fatal(a.Status, a.Code(), a.Message())
		}
	})
	repeated := l.sends(t, who.Agent, 201, "POST", "/v1/web/keys", named, "Idempotency-Key", wire.NewKey())
	repeated()
	l.wantWithin(t, "repeat it", budget{2, 2, 4, 0}, repeated)
}

// TestDeletingAWorkspaceCostsOneTransaction counts what asking for a deletion and cancelling it take, however much the
// workspace has.
func TestDeletingAWorkspaceCostsOneTransaction(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	who := p.NewMember(t)
	const path = "/v1/web/workspace/deletion"
	signedIn := func() {
		who = p.GrantTo(t, who, oauth.CLI, l.Origins.API)
		p.Update(t, "CRED#"+string(who.Grant), "G", map[string]any{
			"auth_at": l.Options.Now(), "created": l.Options.Now().Add(time.Second), // after what a request ends
		})
	}
	signedIn()
	l.wantWithin(t, "member: deletion", budget{4, 3, 3, 2}, l.sends(t, who.Agent, 200, "GET", path, nil))
	l.wantWithin(t, "member: request a deletion", budget{5, 4, 4, 28},
		l.sends(t, who.Agent, 200, "POST", path, contract.RequestDeletion{Confirm: "Someone's Workspace"}))
	signedIn()
	l.wantWithin(t, "member: cancel a deletion", budget{5, 4, 4, 28}, l.sends(t, who.Agent, 200, "DELETE", path, nil))
}

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

// TestEveryRouteOfProvidersStaysWithinItsBudget holds the agents of a provider: what their assertions, the exchange for
// tokens and the provider's events ask for.
func TestEveryRouteOfProvidersStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	first := l.Identity.First
	l.backend().SignedIn(t, "member@example.org")
	asserting := func(email string, status int) func() {
		assertion := harness.Assertion(t, first, email)
		return func() {
			if a := harness.Must(l.Present(assertion))(t); a.Status != status {
				t.Fatalf("%s is answered %d %s", email, a.Status, a.Body)
			}
		}
	}
	// Counters of the address, of the provider and of all come one after the other, so that a refused assertion counts in
	// no later one; then the delegation, and what it leads to. The transaction writes workspace, member, address,
	// what the provider said, delegation, registration, the used id and the events.
	l.wantWithin(t, "assertion, a new person", budget{6, 6, 2, 29}, asserting("ada@example.org", http.StatusOK))
	l.wantWithin(t, "assertion, a known person", budget{6, 6, 3, 13}, asserting("ada@example.org", http.StatusOK))
	l.wantWithin(t, "assertion, a member to ask", budget{7, 7, 4, 12},
		asserting("member@example.org", http.StatusUnauthorized))
	r := l.Vouched(t, first, "ada@example.org")
	l.wantWithin(t, "exchange", budget{4, 2, 3, 8}, func() { l.Token(t, harness.JWTBearer(r.IdentityAssertion)) })
	event := harness.Revocation(t, first, "ada@example.org")
	notify := func() {
		var a wire.Answer
		if a = harness.Must(l.Notify(event))(t); a.Status != http.StatusAccepted {
			t.Fatalf("the event is answered %d %s", a.Status, a.Body)
		}
	}
	// The failures of the address, then the counter of the provider; the delegation, its workspace, and the transaction.
	l.wantWithin(t, "event", budget{5, 5, 3, 11}, notify)
	l.wantWithin(t, "event repeated", budget{4, 4, 2, 1}, notify)
}
