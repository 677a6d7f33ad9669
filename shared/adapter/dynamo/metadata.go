package dynamo

import (
	"context"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// metadata reads the metadata of workspaces and artifacts for ports of several families.
type metadata struct{ *db }

var _ artifact.Workspaces = metadata{}

// Workspace implements artifact.Workspaces.
func (s metadata) Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error) {
	return s.workspace(ctx, w)
}

// Artifact implements upload.Sessions.
func (s metadata) Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error) {
	return s.artifact(ctx, a)
}

// workspace reads the metadata of a workspace; nil if there is none.
func (s *db) workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error) {
	i, err := s.get(ctx, workspaceKey(w))
	return readWorkspace(i, w), err
}

// artifact reads the metadata of an artifact; nil if there is none.
func (s *db) artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error) {
	i, err := s.get(ctx, artifactKey(a))
	return readArtifact(i, a), err
}
