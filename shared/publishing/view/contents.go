package view

import (
	"context"

	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// contentsKey names a revision with its files in the cache.
type contentsKey struct {
	artifact id.Artifact
	revision id.Revision
}

// revisionSize is what a revision takes in memory without its files.
const revisionSize = 2 << 10

// contents reads a revision and its files, nil if there is no such revision. A published one is kept in memory, because
// all that a view shows of it is final. Its status is not, so callers ask the state.
func (v *Service) contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error) {
	key := contentsKey{a, r}
	read := func(ctx context.Context) (*artifact.Contents, int64, error) {
		c, err := v.Store.Contents(ctx, a, r)
		if err != nil || c == nil || c.Revision.Status != artifact.Published {
			return c, 0, err
		}
		return c, revisionSize + c.Tree.MemorySize(), nil
	}
	return cache.Get(ctx, v.Cache, key, fault.DatabaseUnavailable, read)
}
