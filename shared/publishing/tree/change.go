package tree

import (
	"cmp"
	"slices"
)

// The kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
	Renamed = "renamed"
)

// Change is a file that differs between two revisions.
type Change struct {
	Kind     string
	From, To *File // nil: that revision has no such file
}

// Path returns the path of the file, or its former path if it was removed.
func (c Change) Path() string {
	if c.To != nil {
		return c.To.Path
	}
	return c.From.Path
}

// At reports whether the change is of the file at a path, in either revision.
func (c Change) At(path string) bool {
	return c.Path() == path || c.From != nil && c.From.Path == path
}

// Changes returns the files that differ between two revisions, sorted by path. It compares digests, so that no file is
// read. A removed file counts as renamed if the same bytes are added under another path. An empty file never does,
// because all empty files are equal.
func Changes(from, to Tree) (out []Change) {
	before := make(map[string]*File, len(from))
	for n := range from {
		before[from[n].Path] = &from[n]
	}
	var fresh []*File
	for n := range to {
		old := before[to[n].Path]
		delete(before, to[n].Path)
		switch {
		case old == nil:
			fresh = append(fresh, &to[n])
		case old.SHA256 != to[n].SHA256:
			out = append(out, Change{Changed, old, &to[n]})
		}
	}
	gone := make(map[Content][]*File, len(before))
	for n := range from { // not over the map, so that every call pairs equal files in the same way
		if f := before[from[n].Path]; f != nil {
			gone[f.Content()] = append(gone[f.Content()], f)
		}
	}
	for _, f := range fresh {
		same := gone[f.Content()]
		if len(same) == 0 || f.Size == 0 {
			out = append(out, Change{Kind: Added, To: f})
			continue
		}
		out = append(out, Change{Renamed, same[0], f})
		gone[f.Content()] = same[1:]
	}
	for _, files := range gone {
		for _, f := range files {
			out = append(out, Change{Kind: Removed, From: f})
		}
	}
	slices.SortFunc(out, func(x, y Change) int { return cmp.Compare(x.Path(), y.Path()) })
	return out
}
