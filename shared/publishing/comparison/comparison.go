// Package comparison tells what changed between two revisions of an artifact: which files, by their digests, and what
// in them, as unified diffs of texts.
//
// Files that are equal in both revisions are not read. One answer reads a bounded number of files of bounded size, and
// holds a bounded length of diffs; a cursor goes on with the next file, or in the middle of a long diff.
package comparison

import (
	"context"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Service compares revisions.
type Service struct {
	Store   Store
	Bytes   Bytes
	Cursors *cursor.Codec
	Now     func() time.Time
}

// Store reads revisions.
type Store interface {
	// Revision reads a revision strongly, nil if there is none.
	Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error)
	// Revisions reads all revisions of an artifact strongly, in any order.
	Revisions(ctx context.Context, a id.Artifact) ([]artifact.Revision, error)
	// Tree reads the files of a published revision, nil if there is none.
	Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error)
}

// Bytes reads files from the object store.
type Bytes interface {
	// Open reads size bytes of an object from an offset; not_found if it does not exist, else storage_unavailable.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
}

// Query is what is compared. A cursor goes on with the revisions of the answer that it comes from.
type Query struct {
	From   id.Revision // empty: the one published before To
	To     id.Revision // empty: the current one
	Path   string      // of the only file to compare, in either revision; empty: all
	Cursor string      // empty: from the start
}

// Compare tells what changed between two published revisions of an artifact of the caller's workspace, as it was read;
// nil: there is none. What the caller cannot read is not_found, a revision without its bytes revision_retained.
func (s *Service) Compare(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, q Query,
) (contract.Comparison, error) {
	if !a.Readable(s.Now()) || a.Owner != by.Workspace.ID || a.Current == "" {
		return contract.Comparison{}, missing()
	}
	list := cursor.List{Workspace: a.Owner, Name: "comparison/" + string(a.ID) + "/" + q.Path, Now: s.Now()}
	at, err := s.start(list, q)
	if err != nil {
		return contract.Comparison{}, err
	}
	if at, err = s.resolve(ctx, a, at); err != nil {
		return contract.Comparison{}, err
	}
	from, to, err := s.trees(ctx, a, at)
	if err != nil {
		return contract.Comparison{}, err
	}
	changes := compareTrees(from, to)
	if q.Path != "" {
		if changes, err = only(changes, from, to, q.Path); err != nil {
			return contract.Comparison{}, err
		}
	}
	p := page{Service: s, home: a.StorageWorkspace, room: limits.DiffAnswer}
	next, err := p.fill(ctx, changes, at)
	if err != nil {
		return contract.Comparison{}, err
	}
	out := contract.Comparison{
		ArtifactID:     a.ID,
		FromRevisionID: at.from,
		ToRevisionID:   at.to,
		Files:          p.files,
	}
	if next != nil {
		out.PageInfo, err = s.Cursors.Info(list, cursor.Position{ID: next.String()})
	}
	return out, err
}

// resolve names both revisions. A caller may name those that it may read.
func (s *Service) resolve(ctx context.Context, a *artifact.Artifact, at position) (position, error) {
	to := a.Shown()
	if at.to != "" && at.to != a.Current {
		named, err := s.published(ctx, a, at.to)
		if err != nil {
			return at, err
		}
		to = *named
	}
	at.to = to.ID
	switch {
	case at.first:
		return at, nil
	case at.from == a.Current:
		return at, nil
	case at.from != "":
		_, err := s.published(ctx, a, at.from)
		return at, err
	}
	return s.before(ctx, a, at, to.Number)
}

// published reads a revision that is named, and refuses it unless it is published.
func (s *Service) published(ctx context.Context, a *artifact.Artifact, named id.Revision) (*artifact.Revision, error) {
	if _, err := named.Bits(); err != nil {
		return nil, missing()
	}
	r, err := s.Store.Revision(ctx, a.ID, named)
	if err != nil {
		return nil, err
	}
	return r, readable(r)
}

// readable refuses a revision that is not published.
func readable(r *artifact.Revision) error {
	switch {
	case r == nil, r.Status == artifact.Draft, r.Status == artifact.Retained && r.Number == 0: // a discarded draft
		return missing()
	case r.Status == artifact.Retained:
		return fault.New(fault.RevisionRetained, "the bytes of revision %s are gone; compare newer ones", r.ID)
	}
	return nil
}

// before finds the revision that was published before the one with a number. There is none before the first.
func (s *Service) before(ctx context.Context, a *artifact.Artifact, at position, number int) (position, error) {
	if number == 1 {
		at.first = true
		return at, nil
	}
	all, err := s.Store.Revisions(ctx, a.ID)
	if err != nil {
		return at, err
	}
	for _, r := range all {
		if r.Number == number-1 {
			at.from = r.ID
			return at, readable(&r)
		}
	}
	return at, missing()
}

// trees reads the files of both revisions at once.
func (s *Service) trees(ctx context.Context, a *artifact.Artifact, at position) (from, to tree.Tree, err error) {
	g, ctx := errgroup.WithContext(ctx)
	read := func(r id.Revision, out *tree.Tree) {
		g.Go(func() (err error) {
			if *out, err = s.Store.Tree(ctx, a.ID, r); err == nil && *out == nil {
				err = missing() // the artifact was purged meanwhile
			}
			return err
		})
	}
	if read(at.to, &to); !at.first {
		read(at.from, &from)
	}
	return from, to, g.Wait()
}

func missing() error {
	return fault.New(fault.NotFound,
		"no such artifact or revision in this workspace, or it is not published, deleted or expired")
}
