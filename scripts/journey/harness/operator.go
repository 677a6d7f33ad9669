package harness

import (
	"testing"
	"time"

	"vitrine/shared/platform/contract"
)

// NewOperator makes a member with the access token of an operator, confirmed just now.
func (f *FaultEnv) NewOperator(t testing.TB) *Member {
	t.Helper()
	_, w := f.newClaimed(t)
	return f.Promote(t, f.AddMember(t, w), f.Options.Now())
}

// Promote makes the access token of a member one of an operator, confirmed at an instant.
func (e *BackendEnv) Promote(t testing.TB, who *Member, at time.Time) *Member {
	t.Helper()
	e.Update(t, "CRED#"+string(who.Grant), "G", map[string]any{"op_at": at})
	return who
}

// LocksPath is the route of lockdowns.
const LocksPath = "/v1/web/admin/lockdowns"

// LockdownOf asks for a lockdown of a workspace or an artifact.
func LockdownOf(scope, target string) contract.SetLockdown {
	return contract.SetLockdown{Scope: scope, TargetID: target, ReasonCode: "phishing_report"}
}

// Lock locks a workspace or an artifact.
func Lock(t testing.TB, op *Member, scope, target string) contract.Lockdown {
	t.Helper()
	return CallAs[contract.Lockdown](t, op, 201, "POST", LocksPath, LockdownOf(scope, target), KeyHeader()...)
}

// RecordPath is the route of the events of all workspaces.
const RecordPath = "/v1/web/admin/events"
