package artifact

import (
	"context"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

// Workspaces reads workspaces.
type Workspaces interface {
	// Workspace reads a workspace strongly, nil if there is none.
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
}

// Follow returns an artifact as a workspace has it that may have claimed its owner: from the commit of a claim on
// everything belongs to the destination, long before the artifacts say so themselves. It costs a read for an artifact
// that says another owner, and none for a workspace that cannot have claimed anything. An artifact that was looked for
// and is not there, which is nil, costs the same read, because the time of an answer must not tell that another
// workspace has it.
func Follow(ctx context.Context, store Workspaces, w workspace.Workspace, a *Artifact) (*Artifact, error) {
	if w.ClaimedAt.IsZero() || a != nil && a.Owner == w.ID {
		return a, nil
	}
	owner := w.ID
	if a != nil {
		owner = a.Owner
	}
	source, err := store.Workspace(ctx, owner)
	if err != nil || a == nil || source == nil || source.ClaimedInto != w.ID {
		return a, err
	}
	return a.AfterClaimOf(*source), nil
}

// AfterClaimOf returns the artifact, which still says that source owns it, as the workspace has it that claimed source.
// Claims do not chain: a destination is never claimed itself.
func (a *Artifact) AfterClaimOf(source workspace.Workspace) *Artifact {
	b := *a
	b.Owner = source.ClaimedInto
	b.ClaimedFrom = source.ID
	b.ExpiresAt = source.Until(a.ExpiresAt)
	if source.Lock != "" {
		b.Lock, b.LockedAt = source.Lock, source.LockedAt
	}
	return &b
}
