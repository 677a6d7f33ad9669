package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// The bounds of a page of files after the first one.
const (
	maxPageFiles = 1000
	maxPageBytes = limits.MiB - 64<<10 // of files in an answer of at most 1 MiB
)

// position is where a page of the files of a revision begins.
type position struct {
	revision id.Revision // empty: the page is the first one, of whichever revision is shown
	after    int         // files on the pages before
	begun    time.Time   // when the first page was read, because the cursors of all pages expire together
	limit    int         // files of the page; 0: as many as fit
}

// list identifies the files of an artifact for cursors. Each cursor names its revision.
func list(a id.Artifact, at time.Time) cursor.List {
	return cursor.List{Workspace: id.NoWorkspace, Name: "files." + string(a), Now: at}
}

// start returns where a page of the files of an artifact begins. Its only error is invalid_request.
func (s *Service) start(a id.Artifact, p cursor.Page) (position, error) {
	now := s.Now()
	out := position{begun: now, limit: p.Limit}
	if p.Cursor == "" {
		return out, nil
	}
	at, err := s.Cursors.Open(list(a, now), p.Cursor)
	if err != nil {
		return out, errCursor
	}
	out.begun = at.At
	_, err = fmt.Sscanf(at.ID, "%s %d", &out.revision, &out.after)
	return out, err
}

// startOf is start for the files of one revision.
func (s *Service) startOf(a id.Artifact, r id.Revision, p cursor.Page) (position, error) {
	at, err := s.start(a, p)
	if err == nil && cmp.Or(at.revision, r) != r {
		err = errCursor
	}
	return at, err
}

// errCursor refuses a cursor that does not go on with the files of the view.
var errCursor = fault.New(fault.InvalidRequest,
	"files_cursor is of another revision or artifact, was changed, or is older than a day; read the view again without it")

// arrange orders the files of a revision for its views: as they were declared if one page has them all, else the
// entrypoint first and the others by path.
func arrange(files tree.Tree, entrypoint string) {
	if len(files) <= limits.ViewFiles {
		return
	}
	rank := func(f tree.File) int {
		if f.Path == entrypoint {
			return 0
		}
		return 1
	}
	slices.SortFunc(files, func(x, y tree.File) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Path, y.Path))
	})
}

// fill adds a page of the files of a revision to its view, and the cursor of the next page.
func (s *Service) fill(out *View, at position) error {
	rest, room := out.Tree[at.after:], maxPageBytes
	most := min(len(rest), cmp.Or(at.limit, maxPageFiles))
	if at.revision == "" {
		most = min(len(rest), limits.ViewFiles)
	}
	out.Files = make([]File, 0, most)
	for _, f := range rest[:most] {
		file := File{f, out.Location.Of(f.Path)}
		if room -= file.size(); room < 0 && at.revision != "" {
			break
		}
		out.Files = append(out.Files, file)
	}
	next := at.after + len(out.Files)
	if next == len(out.Tree) {
		return nil
	}
	where := cursor.Position{At: at.begun, ID: fmt.Sprint(out.Revision.ID, " ", next)}
	var err error
	out.Next, err = s.Cursors.Seal(list(out.Artifact.ID, at.begun), where)
	return err
}

// size returns an upper bound for the bytes of a file in an answer: JSON at most doubles its path and leaves its URLs as
// they are.
func (f File) size() int {
	const others = 300 // names of members, content type, size and digest
	return others + 2*len(f.Path) + len(f.URLs.Bytes) + len(f.URLs.Page) + len(f.URLs.Text)
}
