package upload

import (
	"context"

	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// The reasons why a base cannot serve. Clients know these words and publish the whole tree instead.
const (
	baseMissing      = "base_revision_not_found"
	baseUnpublished  = "base_revision_not_publishable"
	baseForeign      = "base_revision_artifact_mismatch"
	deletedNotInBase = "deleted_path_not_in_base"
)

// base reads the revision that a partial manifest builds on; nil for a whole manifest. Revisions are stored by
// artifact, so a base of another artifact is missing like one that never existed, and only a base without artifact_id
// is reported as foreign.
func (s *Service) base(ctx context.Context, session *Session) (*artifact.Contents, error) {
	if session.Base == "" {
		return nil, nil
	}
	if session.New {
		return nil, fault.New(fault.InvalidRequest, "%s: a base needs the artifact_id that it belongs to", baseForeign)
	}
	c, err := s.Store.Contents(ctx, session.Artifact, session.Base)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, fault.New(fault.InvalidRequest, "%s: this artifact has no revision %s", baseMissing, session.Base)
	case c.Revision.Status != artifact.Published:
		return nil, fault.New(fault.InvalidRequest,
			"%s: revision %s is a draft, or its bytes are gone", baseUnpublished, session.Base)
	}
	return c, nil
}

// merge returns the files of a base with those of a session: deleted paths are removed, declared ones replaced, the
// rest kept. The order is the base's, then that of the declaration.
func merge(base tree.Tree, entries []Entry, declared tree.Tree) (tree.Tree, error) {
	replaced := make(map[string]tree.File, len(declared))
	for _, file := range declared {
		replaced[file.Path] = file
	}
	deleted := map[string]bool{}
	for _, e := range entries {
		if !e.Deleted {
			continue
		}
		if _, ok := base.Find(e.Path); !ok {
			return nil, fault.New(fault.InvalidRequest, "%s: %q", deletedNotInBase, e.Path)
		}
		deleted[e.Path] = true
	}
	merged := make(tree.Tree, 0, len(base)+len(declared))
	for _, file := range base {
		if newer, ok := replaced[file.Path]; ok {
			file = newer
			delete(replaced, file.Path)
		}
		if !deleted[file.Path] {
			merged = append(merged, file)
		}
	}
	for _, file := range declared {
		if _, added := replaced[file.Path]; added {
			merged = append(merged, file)
		}
	}
	return merged, nil
}
