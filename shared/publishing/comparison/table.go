package comparison

import (
	"encoding/csv"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Cell is a cell of a table in one or both revisions.
type Cell struct {
	Op            Op
	Before, After string
}

// Row is a row of a table that differs, with all of its cells. It has the columns of both revisions. Removed columns
// come before the ones that took their place.
type Row struct {
	Op       Op
	From, To int // its number in each revision, from 1; 0: that revision does not have it
	Skipped  int // equal rows since the last one that differs
	Cells    []Cell
}

func (r Row) weight() weight {
	w := weight{0, 1 + len(r.Cells)/8}
	for _, c := range r.Cells {
		w.bytes += len(c.Before) + len(c.After)
	}
	return w
}

// column is a column by its index in each table; -1: that table does not have it.
type column struct{ from, to int }

// maxColumns is how many columns a table has at most that is compared by cells.
const maxColumns = 64

// compareTables returns the first row, and the rows that differ between two tables of comma-separated values. ok is
// false for texts that cannot be compared by cell: those that do not parse, are empty, or have rows that are too wide
// or too long.
func compareTables(before, after string) (head Row, rows []Row, ok bool) {
	from, ok1 := records(before)
	to, ok2 := records(after)
	if !ok1 || !ok2 || len(from)+len(to) == 0 {
		return head, nil, false
	}
	widen(from)
	widen(to)
	columns := columnsOf(first(from), first(to))
	if len(columns) > maxColumns {
		return head, nil, false
	}
	head = compareRow(columns, first(from), first(to))
	head.From, head.To = min(len(from), 1), min(len(to), 1)
	rows = compareRows(columns, rest(from), rest(to))
	long := slices.ContainsFunc(append(rows, head), func(r Row) bool { return r.weight().bytes > maxPiece })
	return head, rows, !long
}

// widen gives the first row a cell for every column of the table, because columns are matched by the first row.
func widen(records [][]string) {
	for _, row := range records {
		for len(records[0]) < len(row) {
			records[0] = append(records[0], "")
		}
	}
}

func first(records [][]string) []string {
	if len(records) == 0 {
		return nil
	}
	return records[0]
}

func rest(records [][]string) [][]string { return records[min(len(records), 1):] }

// records reads the rows of a text.
func records(text string) ([][]string, bool) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comma = separator(text)
	r.FieldsPerRecord = -1
	out, err := r.ReadAll()
	wide := slices.ContainsFunc(out, func(row []string) bool { return len(row) > maxColumns })
	return out, err == nil && !wide
}

// separator returns the character that divides the cells of the first row.
func separator(text string) rune {
	head, _, _ := strings.Cut(text, "\n")
	most, found := 0, ','
	for _, sign := range ",;\t" {
		if n := strings.Count(head, string(sign)); n > most {
			most, found = n, sign
		}
	}
	return found
}

// columnsOf matches columns by their names. A column in the place of another counts as the same one, renamed.
func columnsOf(from, to []string) (out []column) {
	end := column{}
	both := func(n int) {
		for i := range n {
			out = append(out, column{end.from + i, end.to + i})
		}
	}
	for _, d := range lcs.DiffLines(from, to) {
		both(d.Start - end.from)
		renamed := min(d.End-d.Start, d.ReplEnd-d.ReplStart)
		end = column{d.Start, d.ReplStart}
		both(renamed)
		for n := d.Start + renamed; n < d.End; n++ {
			out = append(out, column{n, -1})
		}
		for n := d.ReplStart + renamed; n < d.ReplEnd; n++ {
			out = append(out, column{-1, n})
		}
		end = column{d.End, d.ReplEnd}
	}
	both(len(from) - end.from)
	return out
}

// compareRows returns the rows that differ. from and to are the rows below the first ones.
func compareRows(columns []column, from, to [][]string) (out []Row) {
	shared := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.from < 0 || c.to < 0 })
	before, after := keys(shared, from, false), keys(shared, to, true)
	end := column{}
	skipped := 0
	same := func(n int) { // rows that have equal cells in the columns of both tables
		for i := range n {
			row := compareRow(columns, from[end.from+i], to[end.to+i])
			if skipped++; row.Op != Same {
				row.From, row.To = end.from+i+2, end.to+i+2 // from 1, after the first row
				row.Skipped, skipped = skipped-1, 0
				out = append(out, row)
			}
		}
	}
	for _, d := range lcs.DiffLines(before, after) {
		same(d.Start - end.from)
		at := len(out)
		out = append(out, matchRows(columns, from, to, d)...)
		out[at].Skipped, skipped = skipped, 0
		end = column{d.End, d.ReplEnd}
	}
	same(len(from) - end.from)
	return out
}

// keys returns each row as the text of its cells in the columns that both tables have.
func keys(shared []column, rows [][]string, after bool) []string {
	out := make([]string, len(rows))
	for n, row := range rows {
		var key strings.Builder
		for _, c := range shared {
			at := c.from
			if after {
				at = c.to
			}
			key.WriteString(cell(row, at) + "\x00")
		}
		out[n] = key.String()
	}
	return out
}

// matchRows compares the rows that a change removes with those that it adds.
func matchRows(columns []column, from, to [][]string, d lcs.Diff) (out []Row) {
	next := d.ReplStart
	fresh := func(end int) {
		for ; next < end; next++ {
			row := compareRow(columns, nil, to[next])
			row.Op, row.To = Added, next+2
			out = append(out, row)
		}
	}
	for n := d.Start; n < d.End; n++ {
		match := -1
		for m := next; m < min(next+lookahead, d.ReplEnd) && match < 0; m++ {
			if isSuccessor(columns, from[n], to[m]) {
				match = m
			}
		}
		if match < 0 {
			row := compareRow(columns, from[n], nil)
			row.Op, row.From = Removed, n+2
			out = append(out, row)
			continue
		}
		fresh(match)
		row := compareRow(columns, from[n], to[match])
		row.From, row.To = n+2, match+2
		out = append(out, row)
		next = match + 1
	}
	fresh(d.ReplEnd)
	return out
}

// isSuccessor reports whether a row became another one: at least half of the cells are equal, or the first one is.
func isSuccessor(columns []column, from, to []string) bool {
	equal, all := 0, 0
	for n, c := range columns {
		if c.from < 0 || c.to < 0 {
			continue
		}
		same := cell(from, c.from) == cell(to, c.to)
		if same && n == 0 && cell(from, c.from) != "" {
			return true
		}
		if all++; same {
			equal++
		}
	}
	return 2*equal >= all
}

// compareRow compares two rows cell by cell. Nil means that there is no row.
func compareRow(columns []column, from, to []string) Row {
	row := Row{Cells: make([]Cell, len(columns))}
	for n, c := range columns {
		one := Cell{Before: cell(from, c.from), After: cell(to, c.to)}
		switch {
		case to == nil || c.to < 0:
			one.Op = Removed
		case from == nil || c.from < 0:
			one.Op = Added
		case one.Before != one.After:
			one.Op = Changed
		}
		if row.Cells[n] = one; one.Op != Same {
			row.Op = Changed
		}
	}
	return row
}

// cell returns the cell of a row at an index, empty if the row is shorter.
func cell(row []string, at int) string {
	if at < 0 || at >= len(row) {
		return ""
	}
	return row[at]
}
