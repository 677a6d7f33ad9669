package view

import (
	"context"
	"sync/atomic"

	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// contentsKey is the key of a revision and its files in the cache.
type contentsKey struct {
	artifact id.Artifact
	revision id.Revision
	bundle   bool // with the final state of its bundle
}

// revisionSize is the size in memory of a revision without its files.
const revisionSize = 2 << 10

// contents reads a revision and its files, nil if there is no such revision. It keeps a published revision in memory,
// because everything that a view shows of it is final once its bundle is. Its status is not final, so callers check the
// state.
func (s *Service) contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error) {
	c, fresh, err := s.read(ctx, contentsKey{artifact: a, revision: r})
	if err == nil && !fresh && s.pending(c) { // perhaps from before the bundle was ready
		c, _, err = s.read(ctx, contentsKey{a, r, true})
	}
	return c, err
}

// shown is contents for a page of a view. Only the first page reads again what may have become ready.
func (s *Service) shown(ctx context.Context, a id.Artifact, r id.Revision, at position) (*artifact.Contents, error) {
	if at.revision != "" {
		return s.files(ctx, a, r)
	}
	return s.contents(ctx, a, r)
}

// files is contents for callers that do not show the bundle.
func (s *Service) files(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error) {
	c, _, err := s.read(ctx, contentsKey{artifact: a, revision: r})
	return c, err
}

// pending reports whether the bundle of a revision may have become ready since it was read.
func (s *Service) pending(c *artifact.Contents) bool {
	return c != nil && !c.Revision.Bundle.Final() && s.Limits.Bundles > 0
}

// read returns a revision, with its files as views list them, from memory or from the store. fresh reports that it came from the store.
func (s *Service) read(ctx context.Context, key contentsKey) (c *artifact.Contents, fresh bool, err error) {
	var begun atomic.Bool // the read may outlast the request
	read := func(ctx context.Context) (*artifact.Contents, int64, error) {
		begun.Store(true)
		c, err := s.Store.Contents(ctx, key.artifact, key.revision)
		if c != nil {
			arrange(c.Tree, c.Revision.Entrypoint)
		}
		if err != nil || c == nil || c.Revision.Status != artifact.Published || key.bundle && s.pending(c) {
			return c, 0, err
		}
		return c, revisionSize + c.Tree.MemorySize() + c.Revision.Warnings.MemorySize(), nil
	}
	c, err = cache.Get(ctx, s.Cache, key, fault.DatabaseUnavailable, read)
	return c, begun.Load(), err
}
