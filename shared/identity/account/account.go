// Package account tells callers who they are and what they may do, and members what was done in their workspace.
package account

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Allowance counts what a workspace used of its daily allowance.
type Allowance interface {
	// ArtifactsToday counts the artifacts that a workspace first published on the UTC day of an instant. It may read
	// with eventual consistency.
	ArtifactsToday(ctx context.Context, w id.Workspace, day time.Time) (int, error)
}

// Service describes callers and their workspaces, changes settings, and lists audit logs.
type Service struct {
	Allowance  Allowance
	Workspaces Workspaces
	Events     Events
	Cursors    *cursor.Codec
	Limits     *limits.Limits
	Now        func() time.Time
}

// Policy returns the caller's limits. It omits what is left of the day if the counter cannot be read.
func (s *Service) Policy(ctx context.Context, by credential.Actor) contract.UsagePolicy {
	var used *int
	if n, err := s.Allowance.ArtifactsToday(ctx, by.Workspace.ID, s.Now()); err == nil {
		used = &n
	}
	return workspace.UsagePolicy(s.Limits, by.Workspace.Tier(), used)
}

// Whoami returns the caller's credential, workspace and limits.
func (s *Service) Whoami(ctx context.Context, by credential.Actor) contract.Whoami {
	return contract.Whoami{
		Actor:       contract.WhoamiActor{Type: "api_key", ID: by.Key.ID, Name: by.Key.Name},
		Workspace:   by.Workspace.Summary(),
		Scopes:      credential.ScopeStrings(by.Scopes),
		UsagePolicy: s.Policy(ctx, by),
	}
}
