package budget

import (
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
)

func TestEveryRouteOfMembersStaysWithinItsBudget(t *testing.T) {
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use)
	p.Faults.On("").Always().Before(chaos.Delay(callDelay))
	who := p.NewMember(t)
	there := p.GrantTo(t, who, "oc_x", p.Origins.Delegated())
	l := &budgetEnv{Env: p.Env, clock: now, last: &lastAnswer{RoundTripper: p.Anyone.HTTP.Transport}}
	p.Anyone.HTTP.Transport = l.last
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "first", wire.NewKey()))
	shown := harness.PublishPage(t, &wire.Agent{HTTP: who.HTTP, At: who.At, Key: made.Secret}, "shown")
	settings := contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3}
	// Everywhere the grant with the workspace, then the member, then two counters beside what is asked.
	for _, route := range []struct {
		name string
		most budget
		ask  func() wire.Answer
	}{
		{"mcp whoami", budget{4, 3, 3, 2}, func() wire.Answer {
			return harness.TryAs(t, there, "GET", "/v1/mcp/whoami", nil)
		}},
		{"callback, not counted", budget{2, 2, 3, 0}, func() wire.Answer {
			return harness.TryAs(t, who, "POST", "/v1/auth/web/callback", nil)
		}},
		{"workspace", budget{4, 3, 3, 2}, func() wire.Answer {
			return harness.TryAs(t, who, "GET", "/v1/web/workspace", nil)
		}},
		{"settings", budget{4, 3, 3, 2}, func() wire.Answer { return harness.TryAs(t, who, "GET", "/v1/web/settings", nil) }},
		// The workspace, the record and the event in a transaction: each is written for two units.
		{"change settings", budget{5, 4, 4, 9}, func() wire.Answer {
			return harness.TryAs(t, who, "PATCH", "/v1/web/settings", settings, harness.KeyHeader()...)
		}},
		// The counter of the day, then record, export, fence and event in a transaction.
		{"ask for an export", budget{7, 6, 6, 15}, func() wire.Answer {
			return harness.TryAs(t, who, "POST", "/v1/web/workspace/export", nil, harness.KeyHeader()...)
		}},
		{"export", budget{5, 4, 4, 2}, func() wire.Answer {
			return harness.TryAs(t, who, "GET", "/v1/web/workspace/export", nil)
		}},
		{"audit", budget{5, 3, 3.5, 2}, func() wire.Answer { return harness.TryAs(t, who, "GET", "/v1/web/audit", nil) }},
		// Those that live and those that are gone, one after the other, beside what is still being moved here.
		{"web artifacts", budget{7, 4, 5, 2}, func() wire.Answer {
			return harness.TryAs(t, who, "GET", "/v1/web/artifacts", nil)
		}},
		{"web artifact", budget{6, 4, 5, 2}, func() wire.Answer {
			return harness.TryAs(t, who, "GET", "/v1/web/artifacts/"+string(shown.ArtifactID), nil)
		}},
		// Those that were not revoked and those that were, one after the other.
		{"keys", budget{6, 4, 4, 2}, func() wire.Answer { return harness.TryAs(t, who, "GET", "/v1/web/keys", nil) }},
		// A fence is checked; key, record and event are written, the key's index entry, and the key's name in its login
		// and among the live keys.
		{"make a key", budget{5, 4, 4, 16}, func() wire.Answer {
			return harness.TryCreateKey(t, who, "second", wire.NewKey())
		}},
		{"repeat it", budget{2, 2, 4, 0}, func() wire.Answer {
			return harness.TryCreateKey(t, who, "second", "the-same-key")
		}},
		// The key is read first: the answer shows it. It leaves one list of the index for another, and the live keys.
		{"revoke a key", budget{6, 5, 5, 13}, func() wire.Answer {
			return harness.TryAs(t, who, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, harness.KeyHeader()...)
		}},
	} {
		if route.name == "repeat it" {
			harness.TryCreateKey(t, who, "second", "the-same-key")
		}
		l.wantWithin(t, route.name, route.most, func() {
			if a := route.ask(); a.Status >= 300 {
				t.Fatal(route.name, a.Status, a.Code(), a.Message())
			}
		})
	}
}
