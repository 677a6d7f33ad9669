package workspace

import (
	"errors"
	"time"

	"vitrine/shared/platform/fault"
)

// ErrDeleting reports that a member asked to delete the workspace, and can still cancel that.
var ErrDeleting = errors.New("the workspace is being deleted")

// ErrRemoved reports that the deletion of the workspace has begun.
var ErrRemoved = errors.New("the deletion of the workspace has begun")

// Deleting reports whether a member asked to delete the workspace. From then on it may be neither read nor changed.
func (w Workspace) Deleting() bool { return !w.DeletesAt.IsZero() }

// Kept returns the workspace as it would be if its deletion were cancelled. It returns a workspace whose deletion has
// begun unchanged, because that cannot be cancelled. Callers use it to admit a member who may cancel.
func (w Workspace) Kept() Workspace {
	if w.RemovedAt.IsZero() {
		w.DeletesAt = time.Time{}
	}
	return w
}

// RefuseDeleting returns the refusal for a valid credential of a workspace that is being deleted.
func (w Workspace) RefuseDeleting() error {
	if !w.RemovedAt.IsZero() {
		return fault.Wrap(fault.NotAuthenticated, ErrRemoved, "this workspace is gone: its deletion has begun")
	}
	return fault.Wrap(fault.NotAuthenticated, ErrDeleting,
		"this workspace will be deleted on %s; its member can keep it by signing in to the dashboard before",
		w.DeletesAt.UTC().Format(time.DateOnly))
}
