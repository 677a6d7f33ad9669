package budget

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
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
