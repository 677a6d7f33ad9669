// Package comparison tells which files changed between two revisions of an artifact, by their digests, and what changed
// in them: lines of texts, blocks of markdown, and cells of tables.
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

// Service compares revisions. It does not read files that are equal in both. One answer reads a bounded number of files
// of bounded size, and holds a bounded length of diffs. A cursor goes on with the next file or in the middle of a long
// diff.
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
	// Open reads size bytes of an object from an offset. A missing object is not_found, any other failure
	// storage_unavailable.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
}

// Query selects what is compared. A cursor goes on with the revisions of its answer.
type Query struct {
	From   id.Revision // empty: the one published before To
	To     id.Revision // empty: the current one
	Path   string      // of the only file to compare, in either revision; empty: all files
	Cursor string      // empty: from the start
	// Known are revisions of the artifact that the caller has read. The service reads others that it needs.
	Known []artifact.Revision
	// Content compares markdown by block and tables by row. Other files, and those without blocks or rows that differ, are
	// compared by line.
	Content bool
	// Most bounds the lines of an answer. 0 means as many as fit.
	Most int
}

// Review is the difference between two revisions.
type Review struct {
	From, To artifact.Revision // From is zero if To is the first revision
	Changes  []tree.Change     // all changes, by path
	Files    []File            // contents of some of the changes
	Next     string            // cursor of the files after Files; empty: there are none
}

// File is the difference between the contents of a file. At most one of Hunks, Blocks and Table is set, and none is if
// the contents are equal or not compared.
type File struct {
	tree.Change
	Omitted   Omission
	Hunks     []Hunk
	Blocks    []Block
	Table     *Table
	Continues bool // the next answer has the rest
	Resumed   bool // an earlier answer had the beginning
}

// Table has the first row of a table, and the rows below it that differ.
type Table struct {
	Head Row
	Rows []Row
}

// Compare returns a Review in its wire form.
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

// Review compares two published revisions of an artifact of the caller's workspace. a is the artifact as it was read,
// nil if there is none. What the caller cannot read is not_found. A revision without its bytes is revision_retained.
func (s *Service) Review(ctx context.Context, by credential.Actor, a *artifact.Artifact, q Query) (Review, error) {
	if !a.Readable(s.Now()) || a.Owner != by.Workspace.ID || a.Current == "" {
		return Review{}, missing()
	}
	list := cursor.List{Workspace: a.Owner, Name: "comparison/" + string(a.ID) + "/" + q.Path, Now: s.Now()}
	if q.Content {
		list.Name = "content of " + list.Name // a list of its own, because its positions count other pieces
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

// only returns the changes at a path. It is not_found if neither revision has a file there.
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

// resolve reads both revisions and completes at with their ids.
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

// published reads a revision by its id. It refuses one that is not published.
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
		var err error // read although Known is set, because the caller may know only the newest ones
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

// before finds the revision that was published before the one with this number, which is above 1.
func (s *Service) before(
	ctx context.Context, a *artifact.Artifact, q Query, number int,
) (artifact.Revision, error) {
	is := func(r artifact.Revision) bool { return r.Number == number-1 }
	all, n := q.Known, slices.IndexFunc(q.Known, is)
	if n < 0 {
		var err error
		if all, err = s.Store.Revisions(ctx, a.ID); err != nil {
			return artifact.Revision{}, err
		}
		if n = slices.IndexFunc(all, is); n < 0 {
			return artifact.Revision{}, missing()
		}
	}
	return all[n], readable(&all[n])
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
