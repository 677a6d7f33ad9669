package dynamo

import (
	"context"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// ReadState implements readaccess.Store.
func (s *Store) ReadState(ctx context.Context, n readaccess.Query) (readaccess.State, error) {
	b := batch{strong: true}
	b.want(workspaceKey(n.Workspace))
	b.want(artifactKey(n.Artifact))
	if n.Link != "" {
		b.want(linkKey(n.Link))
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return readaccess.State{}, err
	}
	return readaccess.State{
		Workspace: readWorkspace(f.at(workspaceKey(n.Workspace)), n.Workspace), Artifact: readArtifact(f.at(artifactKey(n.Artifact)), n.Artifact),
		Link: readLink(f.at(linkKey(n.Link)), n.Link),
	}, nil
}

// Artifact implements upload.Sessions.
func (s *Store) Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error) {
	i, err := s.get(ctx, s.tables.Core, artifactKey(a), true)
	return readArtifact(i, a), err
}

// Revision implements readaccess.Store.
func (s *Store) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error) {
	i, err := s.get(ctx, s.tables.Core, revisionKey(a, r), true)
	return readRevision(i, a, r), err
}

// Tree implements content.Store and upload.Sessions.
func (s *Store) Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error) {
	i, err := s.get(ctx, s.tables.Core, treeKey(a, r), false)
	if err == nil && i == nil {
		i, err = s.get(ctx, s.tables.Core, treeKey(a, r), true)
	}
	if err != nil || i == nil {
		return nil, err
	}
	return unpackTree(i.getBin("files"))
}

// Contents implements view.Store and upload.Finalizations. Of a revision that is published a copy serves; what a copy says
// of another may be over.
func (s *Store) Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error) {
	for _, strong := range []bool{false, true} {
		b := batch{strong: strong}
		b.want(revisionKey(a, r))
		b.want(treeKey(a, r))
		f, err := s.read(ctx, b)
		if err != nil {
			return nil, err
		}
		revision, files := f.at(revisionKey(a, r)), f.at(treeKey(a, r))
		if revision == nil || files == nil {
			continue
		}
		if !strong && revision.getStr("status") != string(artifact.Published) {
			continue
		}
		t, err := unpackTree(files.getBin("files"))
		return &artifact.Contents{Revision: *readRevision(revision, a, r), Tree: t}, err
	}
	return nil, nil
}
