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

// Follow resolves a pending claim. If w has claimed the workspace that a names as its owner, it returns a copy owned by
// w: everything belongs to w from the commit of the claim on, long before the stored artifacts say so. It returns any
// other artifact unchanged. It costs one read, and none if w has claimed no workspace or owns a. A missing artifact
// (nil) costs the same read, because the time of an answer must not tell that another workspace has it.
func Follow(ctx context.Context, store Workspaces, w workspace.Workspace, a *Artifact) (*Artifact, error) {
	if w.ClaimedAt.IsZero() || a != nil && a.Owner == w.ID {
		return a, nil
	}
	owner := w.ID // for a missing artifact, read for its cost alone
	if a != nil {
		owner = a.Owner
	}
	source, err := store.Workspace(ctx, owner)
	if err != nil || a == nil || source == nil || source.ClaimedInto != w.ID {
		return a, err
	}
	return a.AfterClaimOf(*source), nil
}

// AfterClaimOf returns a copy of the artifact, which still names source as its owner, as the workspace that claimed
// source has it. Claims do not chain: a destination is never claimed itself.
func (a *Artifact) AfterClaimOf(source workspace.Workspace) *Artifact {
	b := *a
	b.Owner = source.ClaimedInto
	b.ClaimedFrom = source.ID
	b.ExpiresAt = source.Until(a.ExpiresAt)
	if source.Lock != "" { // a lock of either workspace holds until the artifact is moved
		b.Lock, b.LockedAt = source.Lock, source.LockedAt
	}
	return &b
}
