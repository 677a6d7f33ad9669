package pages

import (
	"fmt"
	"strings"
)

// Comparison shows what changed between two revisions of an artifact.
type Comparison struct {
	Layout
	ID, Title string     // of the artifact
	From, To  Revision   // From has no number if To is the first one
	Revisions []Revision // to choose from, newest first
	View      string     // one of ComparisonViews
	Views     []ViewLink
	Only      string       // path of the only file on show; empty: all are
	All       string       // where all are
	Total     int          // files that differ
	Counted   string       // how many of them differ in which way
	Changes   []FileChange // all, or a part of many
	Files     []ComparedFile
	Dealt     []Thread // that the revisions in between and To have dealt with
	MoreDealt string   // where there may be others; empty: these are all
	Pages
}

// ComparisonViews are the ways in which a comparison is shown.
var ComparisonViews = []Choice{{"", "By content"}, {"unified", "Line by line"}, {"split", "Side by side"}}

// ViewLink leads to another view of the same.
type ViewLink struct {
	Name, Path string
	Here       bool
}

// Itself reports whether a revision is compared with itself.
func (c Comparison) Itself() bool { return c.From.ID == c.To.ID }

// FileChange is a file that differs between two revisions.
type FileChange struct {
	Kind          string // added, removed, changed, renamed
	Path          string
	Was           string // the former path, if it was renamed
	URL           string // where it is compared
	Before, After *FileVersion
}

// FileVersion is a file as a revision has it.
type FileVersion struct {
	URL  string
	Size int64
}

// ComparedFile is a file with what changed in it.
type ComparedFile struct {
	FileChange
	Anchor  string
	Note    string // why its contents are not compared, or that they are equal
	Picture bool   // browsers show it as an image
	Split   bool   // hunks are shown side by side
	Hunks   []Hunk
	Blocks  []Block
	Table   *ComparedTable
	Alone   string // a page that shows this alone; empty: here
	Resumed bool   // it began on an earlier page
	Goes    bool   // it goes on on the next page
}

// Hunk is lines around a change.
type Hunk struct {
	Header, Anchor string
	Segments       [][]Line // side by side, each has a row for the longer side; else there is one
}

// Line is a line of a hunk.
type Line struct {
	Op       string // same, removed, added
	Side     string // old or new, if the other side of a line that is the same in both stands beside it
	From, To int    // 0: not there, or shown on the other side
	Anchor   string // of its file
	Text     string
	Cut      bool // the file ends here without a line end
}

// Mark returns the sign before the line.
func (l Line) Mark() string {
	return map[string]string{"removed": "−", "added": "+"}[l.Op]
}

// Block is a block of a markdown text that differs.
type Block struct {
	Op, Kind string
	From, To int
	Skipped  int // equal blocks before it
	Runs     []Run
}

// place says where a block is, and was.
func place(from, to int) string {
	switch {
	case from == 0:
		return fmt.Sprintf("line %d", to)
	case to == 0:
		return fmt.Sprintf("was line %d", from)
	case from == to:
		return fmt.Sprintf("line %d", to)
	}
	return fmt.Sprintf("line %d, was %d", to, from)
}

// Place says where the block is.
func (b Block) Place() string { return place(b.From, b.To) }

// Run is words of a block.
type Run struct{ Op, Text string }

// ComparedTable is the rows of a table that differ.
type ComparedTable struct {
	Head Row
	Rows []Row
}

// Row is a row of a table with all of its cells.
type Row struct {
	Op       string
	From, To int
	Skipped  int // equal rows before it
	Cells    []Cell
}

// Width returns how many cells the row takes with its number.
func (r Row) Width() int { return len(r.Cells) + 1 }

// Number says which row it is, and was.
func (r Row) Number() string {
	switch {
	case r.To == 0:
		return fmt.Sprintf("was %d", r.From)
	case r.From == 0 || r.From == r.To:
		return fmt.Sprint(r.To)
	}
	return fmt.Sprintf("%d, was %d", r.To, r.From)
}

// Cell is a cell in one or both revisions.
type Cell struct{ Op, Before, After string }

func (Comparison) template() string { return "comparison.html" }

// Visible returns lines of strangers' text as a page shows them: what is invisible or changes the direction of writing
// is replaced, so that the text reads as it is stored.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return '␍'
		case disturbs(r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
