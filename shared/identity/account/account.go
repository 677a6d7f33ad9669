// Package account answers callers who they are and what they may do.
package account

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Allowance is what Reader needs of the store.
type Allowance interface {
	// ArtifactsToday counts the artifacts that a workspace published first on the UTC day of an instant. A copy may serve.
	ArtifactsToday(ctx context.Context, w id.Workspace, day time.Time) (int, error)
}

// Reader answers about the caller.
type Reader struct {
	Store  Allowance
	Limits *limits.Limits
	Now    func() time.Time
}

// Policy tells the caller's limits. What is left of the day is left out when it cannot be read.
func (r *Reader) Policy(ctx context.Context, by credential.Actor) contract.UsagePolicy {
	var used *int
	if n, err := r.Store.ArtifactsToday(ctx, by.Workspace.ID, r.Now()); err == nil {
		used = &n
	}
	return workspace.UsagePolicy(r.Limits, by.Workspace.Tier(), used)
}

// Whoami tells the caller's credential, workspace and limits.
func (r *Reader) Whoami(ctx context.Context, by credential.Actor) contract.Whoami {
	return contract.Whoami{
		Actor:       contract.WhoamiActor{Type: "api_key", ID: by.Key.ID, Name: by.Key.Name},
		Workspace:   by.Workspace.Summary(),
		Scopes:      credential.ScopeStrings(by.Scopes),
		UsagePolicy: r.Policy(ctx, by),
	}
}
