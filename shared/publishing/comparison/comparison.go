// Package comparison tells what changed between two revisions of an artifact: which files, by their digests, and what
// in them, by lines of texts, by blocks of markdown, and by cells of tables.
//
// Files that are equal in both revisions are not read. One answer reads a bounded number of files of bounded size, and
// holds a bounded length of diffs; a cursor goes on with the next file, or in the middle of a long diff.
package comparison

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
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
	// Known are the revisions of the artifact, if the caller has read them; nil reads those that are needed.
	Known []artifact.Revision
	// Content compares markdown by block and tables by row where they have any, and all else by line.
	Content bool
	// Most is how many lines an answer may have; 0: as many as fit it.
	Most int
}

// Review tells what changed between two revisions.
type Review struct {
	From, To artifact.Revision // From is zero if To is the first
	Changes  []tree.Change     // all, by path
	Files    []File            // what changed in some of them
	Next     string            // the cursor of the files after Files; empty: there are none
}

// File is what changed in a file. At most one of Hunks, Blocks and Table has something, and none does if the contents
// are equal or not compared.
type File struct {
	tree.Change
	Omitted   Omission
	Hunks     []Hunk
	Blocks    []Block
	Table     *Table
	Continues bool // the next answer has the rest
	Resumed   bool // an answer before had the beginning
}

// Table is the rows that differ below the first one.
type Table struct {
	Head Row
	Rows []Row
}

// Compare answers Review as clients get it.
func (s *Service) Compare(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, q Query,
) (contract.Comparison, error) {
	q.Content, q.Most = false, 0
	r, err := s.Review(ctx, by, a, q)
	if err != nil {
		return contract.Comparison{}, err
	}
	return r.wire(a.ID), nil
}

// Review tells what changed between two published revisions of an artifact of the caller's workspace, as it was read;
// nil: there is none. What the caller cannot read is not_found, a revision without its bytes revision_retained.
func (s *Service) Review(ctx context.Context, by credential.Actor, a *artifact.Artifact, q Query) (Review, error) {
	if !a.Readable(s.Now()) || a.Owner != by.Workspace.ID || a.Current == "" {
		return Review{}, missing()
	}
	list := cursor.List{Workspace: a.Owner, Name: "comparison/" + string(a.ID) + "/" + q.Path, Now: s.Now()}
	if q.Content {
		list.Name = "content of " + list.Name // a position in it is none in lines
	}
	at, err := s.start(list, q)
	if err != nil {
		return Review{}, err
	}
	out, err := s.resolve(ctx, a, q, &at)
	if err != nil {
		return Review{}, err
	}
	from, to, err := s.trees(ctx, a, at)
	if err != nil {
		return Review{}, err
	}
	out.Changes = tree.Changes(from, to)
	chosen := out.Changes
	if q.Path != "" {
		if chosen, err = only(chosen, from, to, q.Path); err != nil {
			return Review{}, err
		}
	}
	p := newPage(s, a, q)
	next, err := p.fill(ctx, chosen, at)
	if err != nil {
		return Review{}, err
	}
	out.Files = p.files
	if next != nil {
		out.Next, err = s.Cursors.Seal(list, cursor.Position{ID: next.String()})
	}
	return out, err
}

// only returns the change of the file at a path, if it changed; not_found if neither revision has it.
func only(changes []tree.Change, from, to tree.Tree, path string) (out []tree.Change, err error) {
	_, was := from.Find(path)
	_, is := to.Find(path)
	if !was && !is {
		return nil, fault.New(fault.NotFound, "neither of the revisions has a file at this path")
	}
	for _, c := range changes {
		if c.At(path) {
			out = append(out, c)
		}
	}
	return out, nil
}

// resolve reads both revisions and names them. A caller may name those that it may read.
func (s *Service) resolve(ctx context.Context, a *artifact.Artifact, q Query, at *position) (out Review, err error) {
	if out.To, err = s.published(ctx, a, q, cmp.Or(at.to, a.Current)); err != nil {
		return out, err
	}
	at.to = out.To.ID
	switch {
	case at.first:
		return out, nil
	case at.from != "":
		out.From, err = s.published(ctx, a, q, at.from)
		return out, err
	case out.To.Number == 1:
		at.first = true
		return out, nil
	}
	out.From, err = s.before(ctx, a, q, out.To.Number)
	at.from = out.From.ID
	return out, err
}

// published reads a revision that is named, and refuses it unless it is published.
func (s *Service) published(
	ctx context.Context, a *artifact.Artifact, q Query, named id.Revision,
) (artifact.Revision, error) {
	if named == a.Current {
		return a.Shown(), nil
	}
	if _, err := named.Bits(); err != nil {
		return artifact.Revision{}, missing()
	}
	var r *artifact.Revision
	if n := slices.IndexFunc(q.Known, func(r artifact.Revision) bool { return r.ID == named }); n >= 0 {
		r = &q.Known[n]
	} else {
		var err error // the caller may know the newest only
		if r, err = s.Store.Revision(ctx, a.ID, named); err != nil {
			return artifact.Revision{}, err
		}
	}
	if err := readable(r); err != nil {
		return artifact.Revision{}, err
	}
	return *r, nil
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

// before finds the revision that was published before the one with a number above 1.
func (s *Service) before(
	ctx context.Context, a *artifact.Artifact, q Query, number int,
) (artifact.Revision, error) {
	all := q.Known
	if all == nil {
		var err error
		if all, err = s.Store.Revisions(ctx, a.ID); err != nil {
			return artifact.Revision{}, err
		}
	}
	for _, r := range all {
		if r.Number == number-1 {
			return r, readable(&r)
		}
	}
	return artifact.Revision{}, missing()
}

// trees reads the files of both revisions at once.
func (s *Service) trees(ctx context.Context, a *artifact.Artifact, at position) (from, to tree.Tree, err error) {
	g, ctx := async.WithContext(ctx)
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
