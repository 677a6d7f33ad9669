package app

import (
	"fmt"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/tree"
)

// comparisonSides build the URLs of files of both revisions; nil: there is no such revision.
type comparisonSides struct{ before, after func(path string) string }

func (s comparisonSides) change(c tree.Change) pages.FileChange {
	out := pages.FileChange{Kind: c.Kind, Path: c.Path()}
	if c.Kind == tree.Renamed {
		out.Was = c.From.Path
	}
	if c.From != nil && s.before != nil {
		out.Before = &pages.FileVersion{URL: s.before(c.From.Path), Size: c.From.Size}
	}
	if c.To != nil {
		out.After = &pages.FileVersion{URL: s.after(c.To.Path), Size: c.To.Size}
	}
	return out
}

// places returns where each file that differs stands among them.
func (c shownComparison) places() map[string]int {
	out := make(map[string]int, len(c.Changes))
	for n, one := range c.Changes {
		out[one.Path()] = n
	}
	return out
}

// anchor returns the id of the section of a file. It is the same on every page of a comparison.
func (c shownComparison) anchor(path string) string { return fmt.Sprintf("f%d", c.at[path]+1) }

// counted says how many files differ in which way.
func counted(c contract.ComparisonCounts) string {
	var parts []string
	for _, of := range []struct {
		n    int
		kind string
	}{{c.Added, tree.Added}, {c.Removed, tree.Removed}, {c.Changed, tree.Changed}, {c.Renamed, tree.Renamed}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.kind))
		}
	}
	return strings.Join(parts, ", ")
}

// maxChanges is how many files that differ a page lists, from the first file on it.
const maxChanges = 500

// changes lists files that differ. Files of this page link to their sections, others to pages of their own.
func (c shownComparison) changes(s comparisonSides) []pages.FileChange {
	here := map[string]bool{}
	for _, f := range c.Files {
		here[f.Path()] = true
	}
	listed := c.Changes
	if len(c.Files) > 0 && len(listed) > maxChanges {
		listed = listed[c.at[c.Files[0].Path()]:]
	}
	var out []pages.FileChange
	for _, one := range listed[:min(len(listed), maxChanges)] {
		row := s.change(one)
		if row.URL = c.alone(row.Path); here[row.Path] {
			row.URL = "#" + c.anchor(row.Path)
		}
		out = append(out, row)
	}
	return out
}

// files returns the files of this page. The number of pictures is limited, because the browser loads every one.
// maxPictures is how many files of a page show pictures, because a browser loads all of them at once.
const maxPictures = 8

func (c shownComparison) files(s comparisonSides) []pages.ComparedFile {
	var out []pages.ComparedFile
	pictures := 0
	for _, f := range c.Files {
		row := pages.ComparedFile{
			FileChange: s.change(f.Change),
			Anchor:     c.anchor(f.Path()),
			Note:       note(f),
			Split:      c.View == "split",
			Resumed:    f.Resumed,
			Goes:       f.Continues,
		}
		if c.File == "" {
			row.Alone = c.alone(row.Path)
		}
		if f.Kind != tree.Renamed && !f.Resumed && shownByImages(media.Of(f.Path()).ContentType) {
			if pictures++; pictures <= maxPictures {
				row.Picture, row.Note = true, ""
			}
		}
		row.Hunks = hunks(f.Hunks, row.Anchor, row.Split)
		row.Blocks = blocks(f.Blocks)
		row.Table = table(f.Table)
		out = append(out, row)
	}
	return out
}

// note explains why the contents of a file are not shown.
func note(f comparison.File) string {
	switch f.Omitted {
	case comparison.NotText:
		return "This file is not text, so its contents are not compared. Open both to see them."
	case comparison.TooLarge:
		return fmt.Sprintf("Files of more than %d kB are not compared. Open both to see them.", limits.ComparedFile/1000)
	case comparison.TooManyLines:
		return fmt.Sprintf("Files of %d lines or more are not compared. Open both to see them.", limits.ComparedLines)
	case comparison.LongLine:
		return fmt.Sprintf("A line of this file has more than %d bytes, so comparing lines says little. Open both "+
			"to see them.", limits.ComparedLine)
	}
	if f.Kind != tree.Renamed && len(f.Hunks)+len(f.Blocks) == 0 && f.Table == nil {
		return "The file is empty."
	}
	return ""
}

// operations name operations for the templates.
var operations = map[comparison.Op]string{
	comparison.Same:    "same",
	comparison.Removed: "removed",
	comparison.Added:   "added",
	comparison.Changed: "changed",
}

func hunks(list []comparison.Hunk, anchor string, split bool) (out []pages.Hunk) {
	for _, h := range list {
		row := pages.Hunk{Header: h.Header(), Anchor: fmt.Sprintf("%s-at-%d-%d", anchor, h.From, h.To)}
		lines := make([]pages.Line, len(h.Lines))
		for n, l := range h.Lines {
			lines[n] = pages.Line{
				Op:     operations[l.Op],
				From:   l.From,
				To:     l.To,
				Anchor: anchor,
				Text:   l.Text,
				Cut:    l.Cut,
			}
		}
		if row.Segments = [][]pages.Line{lines}; split {
			row.Segments = beside(lines)
		}
		out = append(out, row)
	}
	return out
}

// beside divides lines into segments whose sides stand next to each other. Unchanged lines occur once for each side.
// Changed ones come old side first, so that they still read well where a narrow screen puts one below the other.
func beside(lines []pages.Line) (out [][]pages.Line) {
	for n, l := range lines {
		same := l.Op == "same"
		if n == 0 || same != (lines[n-1].Op == "same") {
			out = append(out, nil)
		}
		last := &out[len(out)-1]
		old, fresh := l, l
		old.Side, fresh.Side = "old", "new"
		switch {
		case same:
			*last = append(*last, old, fresh)
		case l.Op == "removed":
			*last = append(*last, old)
		default:
			*last = append(*last, fresh)
		}
	}
	return out
}

func blocks(list []comparison.Block) (out []pages.Block) {
	for _, b := range list {
		row := pages.Block{
			Op:      operations[b.Op],
			Kind:    string(b.Kind),
			From:    b.From,
			To:      b.To,
			Skipped: b.Skipped,
		}
		for _, r := range b.Runs {
			row.Runs = append(row.Runs, pages.Run{Op: operations[r.Op], Text: r.Text})
		}
		out = append(out, row)
	}
	return out
}

func table(t *comparison.Table) *pages.ComparedTable {
	if t == nil {
		return nil
	}
	out := pages.ComparedTable{Head: row(t.Head)}
	for _, r := range t.Rows {
		out.Rows = append(out.Rows, row(r))
	}
	return &out
}

func row(r comparison.Row) pages.Row {
	out := pages.Row{
		Op:      operations[r.Op],
		From:    r.From,
		To:      r.To,
		Skipped: r.Skipped,
	}
	for _, c := range r.Cells {
		out.Cells = append(out.Cells, pages.Cell{Op: operations[c.Op], Before: c.Before, After: c.After})
	}
	return out
}
