package comparison

import (
	"cmp"
	"slices"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/tree"
)

// The kinds of changes.
const (
	added   = "added"
	removed = "removed"
	changed = "changed"
	renamed = "renamed"
)

// change is a file that differs between two revisions.
type change struct {
	kind     string
	from, to *tree.File // nil: that revision has no such file
}

// path returns where the file is, or was.
func (c change) path() string {
	if c.to != nil {
		return c.to.Path
	}
	return c.from.Path
}

// compareTrees returns the files that differ, by path. A removed file is renamed if the same bytes are added under
// another path; an empty one is not, because it equals every other.
func compareTrees(from, to tree.Tree) (out []change) {
	before := make(map[string]*tree.File, len(from))
	for n := range from {
		before[from[n].Path] = &from[n]
	}
	var fresh []*tree.File
	for n := range to {
		old := before[to[n].Path]
		delete(before, to[n].Path)
		switch {
		case old == nil:
			fresh = append(fresh, &to[n])
		case old.SHA256 != to[n].SHA256:
			out = append(out, change{changed, old, &to[n]})
		}
	}
	gone := make(map[tree.Content][]*tree.File, len(before))
	for n := range from { // in the order of the revision, so that every answer pairs alike
		if f := before[from[n].Path]; f != nil {
			gone[f.Content()] = append(gone[f.Content()], f)
		}
	}
	for _, f := range fresh {
		same := gone[f.Content()]
		if len(same) == 0 || f.Size == 0 {
			out = append(out, change{kind: added, to: f})
			continue
		}
		out = append(out, change{renamed, same[0], f})
		gone[f.Content()] = same[1:]
	}
	for _, files := range gone {
		for _, f := range files {
			out = append(out, change{kind: removed, from: f})
		}
	}
	slices.SortFunc(out, func(x, y change) int { return cmp.Compare(x.path(), y.path()) })
	return out
}

// only returns the change of the file at a path, if it changed; not_found if neither revision has it.
func only(changes []change, from, to tree.Tree, path string) ([]change, error) {
	_, was := from.Find(path)
	_, is := to.Find(path)
	if !was && !is {
		return nil, fault.New(fault.NotFound, "neither of the revisions has a file at this path")
	}
	return slices.DeleteFunc(changes, func(c change) bool {
		return c.path() != path && (c.from == nil || c.from.Path != path)
	}), nil
}

// entry returns the change without its diff.
func (c change) entry() contract.ComparedFile {
	out := contract.ComparedFile{
		Path:   c.path(),
		Change: c.kind,
		From:   version(c.from),
		To:     version(c.to),
	}
	if c.kind == renamed {
		out.PreviousPath = c.from.Path
	}
	return out
}

func version(f *tree.File) *contract.FileVersion {
	if f == nil {
		return nil
	}
	return &contract.FileVersion{SizeBytes: f.Size, SHA256: f.SHA256.String()}
}
