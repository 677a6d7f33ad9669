package main

import (
	"testing"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// operator signs in as one of the group, locks an artifact and its workspace, lifts both locks, and
// reads the events.
func (h *harness) operator(t *testing.T, g *wire.Agent, a id.Artifact) {
	t.Helper()
	op := h.signIn(t, "dashboard", provider.Person{Email: "hedy@example.org", Groups: []string{"operators"}})
	const locks = "/v1/web/admin/lockdowns"
	w := ask[contract.Whoami](t, g, "GET", "/v1/whoami", nil).Workspace.ID
	for scope, target := range map[string]string{"artifact": string(a), "workspace": string(w)} {
		ask[any](t, op, "POST", locks, contract.SetLockdown{Scope: scope, TargetID: target, ReasonCode: "other"},
			"Idempotency-Key", wire.NewKey())
		ask[any](t, op, "DELETE", locks+"/"+scope+"/"+target, nil, "Idempotency-Key", wire.NewKey())
	}
	for _, path := range []string{locks, "/v1/web/admin/events", "/v1/web/admin/events?workspace_id=" + string(w)} {
		ask[any](t, op, "GET", path, nil)
	}
}
