package sweep

import (
	"cmp"
	"context"
	"slices"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// history is the revisions of an artifact, which an export lists as changes of earlier ones.
type history struct {
	store     ExportStore
	revisions []artifact.Revision // by number
	uploaded  map[id.Session]int  // the index of the revision that each session uploaded
	last      artifact.Contents   // whose changes were asked for last, so that they need not be read again
}

// difference is what a revision changes in its base.
type difference struct {
	base    int      // number of an earlier revision; 0: there is none
	changes []change // by path
}

// change is a file that a revision adds or changes, or a path of its base that it lacks.
type change struct {
	path string
	file *tree.File     // nil: the path is removed
	from *export.Source // an earlier file with the same bytes; nil: there is none
	name string         // of a file without an earlier one, safe and unique in the folder of the revision
}

// size returns how many bytes the change adds to an archive.
func (c change) size() int64 {
	if c.file == nil || c.from != nil {
		return 0
	}
	return c.file.Size
}

func newHistory(store ExportStore, revisions []artifact.Revision) *history {
	slices.SortFunc(revisions, func(a, b artifact.Revision) int { return cmp.Compare(a.Number, b.Number) })
	h := &history{store: store, revisions: revisions, uploaded: make(map[id.Session]int, len(revisions))}
	for n, r := range revisions {
		h.uploaded[r.Session] = n
	}
	return h
}

// difference returns what the n-th revision changes, nil if it is not published or lost its files. It is the same each
// time, so that a number of changes says how much of the revision is archived.
func (h *history) difference(ctx context.Context, n int) (*difference, error) {
	r := h.revisions[n]
	files, err := h.files(ctx, r)
	if err != nil || files == nil {
		return nil, err
	}
	base, err := h.base(ctx, n)
	if err != nil {
		return nil, err
	}
	earlier, err := h.earlier(ctx, n, base, files)
	if err != nil {
		return nil, err
	}
	h.last = artifact.Contents{Revision: r, Tree: files}
	return &difference{base: base.Revision.Number, changes: changesOf(base.Tree, h.last, earlier)}, nil
}

// files returns the files of a revision, nil if it is not published or lost them.
func (h *history) files(ctx context.Context, r artifact.Revision) (tree.Tree, error) {
	switch {
	case r.ID == h.last.Revision.ID:
		return h.last.Tree, nil
	case r.Status != artifact.Published:
		return nil, nil
	}
	return h.store.Tree(ctx, r.Artifact, r.ID)
}

// base returns the revision that the n-th one restored, or else the last one before it that has files.
func (h *history) base(ctx context.Context, n int) (artifact.Contents, error) {
	before := h.revisions[:n]
	source := h.revisions[n].Source
	if at := slices.IndexFunc(before, func(b artifact.Revision) bool { return b.ID == source }); at >= 0 {
		before = before[:at+1]
	}
	for _, b := range slices.Backward(before) {
		files, err := h.files(ctx, b)
		if err != nil || files != nil {
			return artifact.Contents{Revision: b, Tree: files}, err
		}
	}
	return artifact.Contents{}, nil
}

// earlier returns the files of the base by their content, and those of each earlier revision that uploaded one of
// files, which comes back. So it reads at most one revision for each change. Bytes that come back as another object, or
// from another artifact, are not found and are archived again.
func (h *history) earlier(
	ctx context.Context, n int, base artifact.Contents, files tree.Tree,
) (map[tree.Content]*export.Source, error) {
	found := make(map[tree.Content]*export.Source, len(base.Tree))
	add := func(c artifact.Contents) {
		for _, f := range c.Tree {
			if found[f.Content()] == nil {
				found[f.Content()] = &export.Source{Revision: c.Revision.Number, Path: f.Path}
			}
		}
	}
	add(base)
	read := map[int]bool{}
	for _, f := range files {
		at, known := h.uploaded[f.Object.Session]
		if f.Size == 0 || !known || at >= n || read[at] || found[f.Content()] != nil {
			continue
		}
		read[at] = true
		its, err := h.files(ctx, h.revisions[at])
		if err != nil {
			return nil, err
		}
		add(artifact.Contents{Revision: h.revisions[at], Tree: its})
	}
	return found, nil
}

// changesOf returns the changes from a base to a revision. It adds the files that the revision brings to earlier ones.
func changesOf(base tree.Tree, r artifact.Contents, earlier map[tree.Content]*export.Source) (out []change) {
	var fresh tree.Tree
	for _, c := range tree.Changes(base, r.Tree) {
		if c.From != nil && (c.To == nil || c.From.Path != c.To.Path) {
			out = append(out, change{path: c.From.Path})
		}
		if c.To == nil {
			continue
		}
		from := earlier[c.To.Content()]
		if from == nil {
			earlier[c.To.Content()] = &export.Source{Revision: r.Revision.Number, Path: c.To.Path}
			fresh = append(fresh, *c.To)
		}
		out = append(out, change{path: c.To.Path, file: c.To, from: from})
	}
	entries, _, _ := archive.Entries(fresh, r.Revision.Entrypoint)
	for n, c := range out { // files in the order of the entries
		if c.file != nil && c.from == nil {
			out[n].name, entries = entries[0].Name, entries[1:]
		}
	}
	slices.SortFunc(out, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return out
}
