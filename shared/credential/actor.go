package credential

import (
	"vitrine/shared/fault"
	"vitrine/shared/limits"
	"vitrine/shared/workspace"
)

// Actor is an authenticated caller.
type Actor struct {
	Key       Key
	Workspace workspace.Workspace
	Policy    limits.Policy // the numbers of the workspace's tier
	RequestID string
}

// Require refuses an actor without a scope.
func (a Actor) Require(s Scope) error {
	if !a.Key.Has(s) {
		return fault.New(fault.Forbidden, "this credential lacks the scope %q", s)
	}
	return nil
}
