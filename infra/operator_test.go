package main

import (
	"regexp"
	"testing"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// operator signs in as one of the group, locks an artifact and its workspace, lifts both locks, gives
// the workspace a plan, and reads the events.
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
	ask[any](t, op, "POST", "/v1/web/admin/workspaces/"+string(w)+"/plan", map[string]any{"plan": "pro"}, "Idempotency-Key",
		wire.NewKey())
	for _, path := range []string{locks, "/v1/web/admin/events", "/v1/web/admin/events?workspace_id=" + string(w)} {
		ask[any](t, op, "GET", path, nil)
	}
}

// console does what operators do on their pages: look up, open, lock, lift, read, and set the quota.
func (h *harness) console(t *testing.T, p contract.Published) {
	t.Helper()
	b := h.browser(t, "hedy@example.org")
	b.groups = "operators"
	h.ok(t, h.anyone, "POST", b.app+"/report", encoded(map[string]string{
		"target": string(p.ArtifactID), "reason": "phishing_report",
	}), "Content-Type", "application/x-www-form-urlencoded")
	b.visit("/api/auth/sign-in?returnPathname=/admin")
	for _, path := range []string{
		"/admin/reports", "/admin/reports?artifact=" + string(p.ArtifactID), "/admin/events", "/admin/policy",
		"/admin/provisioning",
	} {
		b.visit(path)
	}
	b.twice("/admin/provisioning", map[string]string{"quota": "17"})
	b.visit("/admin/reports")
	b.twice("/admin/reports/handled", nil)
	b.visit("/admin")
	b.submit("/admin/lookup", map[string]string{"target": p.UnlistedURL})
	plan := "/admin/workspaces/" + regexp.MustCompile(`triage_scope=workspace&amp;triage_target=([^"&]+)`).
		FindStringSubmatch(b.page)[1] + "/plan"
	b.submit("/admin/content", map[string]string{"reason": "other"})
	b.visit("/admin")
	b.submit("/admin/lookup", map[string]string{"target": "hedy@example.org"})
	b.visit(plan)
	b.twice(plan, map[string]string{"plan": "pro", "reason": "a school"})
	b.visit("/admin/lockdowns")
	b.twice("/admin/lockdowns", map[string]string{"scope": "artifact", "target": string(p.ArtifactID), "reason": "other"})
	b.visit("/admin/lockdowns")
	b.twice("/admin/lockdowns/lift", nil)
}
