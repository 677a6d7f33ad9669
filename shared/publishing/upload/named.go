package upload

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Named reads a session and its entries for a caller that has only its id. The session is nil if there is none.
func (s *Service) Named(ctx context.Context, u id.Session) (*Session, []Entry, error) {
	if !u.Valid() {
		return nil, nil, nil
	}
	return s.Store.Session(ctx, u)
}

// Unchanged returns the newest revision of an artifact if a whole manifest declares just what it has: the files with
// their digests, the entrypoint and the title. It returns "" for any other manifest, and for one that Create refuses.
func (s *Service) Unchanged(ctx context.Context, by credential.Actor, r contract.CreateSession) (id.Revision, error) {
	if r.ArtifactID == "" {
		return "", nil
	}
	a, err := s.Store.Artifact(ctx, r.ArtifactID)
	if err == nil {
		a, err = artifact.Follow(ctx, s.Store, by.Workspace, a)
	}
	if err != nil || !a.Readable(s.Now()) || a.Owner != by.Workspace.ID || a.Current == "" {
		return "", err
	}
	newest, err := s.Store.Contents(ctx, a.ID, a.Current)
	if err != nil || newest == nil {
		return "", err
	}
	opens := newest.Revision.Entrypoint == r.Entrypoint && newest.Revision.Listing == r.Listing &&
		artifact.AppOf(r.App).Keeps(newest.Revision.App)
	if !opens || a.Title != r.Title || !declares(r.Files, newest.Tree) {
		return "", nil
	}
	return a.Current, nil
}

// declares reports whether declared files are those of a tree. A file without a digest is none of them.
func declares(files []contract.DeclaredFile, of tree.Tree) bool {
	known := make(map[string]tree.Content, len(of))
	for _, f := range of {
		known[f.Path] = f.Content()
	}
	for _, f := range files {
		digest, ok := tree.ParseDigest(f.SHA256)
		if !ok || known[f.Path] != (tree.Content{SHA256: digest, Size: f.SizeBytes}) {
			return false
		}
		delete(known, f.Path)
	}
	return len(files) == len(of)
}
