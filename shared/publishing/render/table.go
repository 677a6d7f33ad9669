package render

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"vitrine/shared/platform/media"
)

const (
	maxTable = 20 << 20 // bytes that are read
	maxRows  = 5_000    // that are shown
	maxCells = 200_000
)

func init() { views[media.TableView] = viewer{show: tableView, weight: 8, most: maxTable} }

// tableView shows the rows of CSV, TSV and JSON lines as a table, with a summary of the columns.
func tableView(ctx context.Context, s Source, b *body, q Query) error {
	t, err := s.table(ctx, b, sortOf(q.Sort))
	if err != nil {
		return err
	}
	t.write(b, s.pageOf(s.Path))
	return nil
}

// record is a row of a table.
type record struct {
	line  int // in the file
	cells []string
}

// table is the part of a file of rows that is read.
type table struct {
	columns []column
	rows    []record
	order   order
	count   int // rows that were read
	heap    topRows
}

// table reads at most maxTable bytes of a file of rows. It keeps only the rows that are shown.
func (s Source) table(ctx context.Context, b *body, o order) (*table, error) {
	file, err := s.open(ctx, maxTable)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := &countingReader{r: file}
	rows, err := s.rows(in, b)
	if err != nil {
		return nil, cmp.Or(in.err, err)
	}
	t := &table{order: o}
	for _, name := range rows.header() {
		t.columns = append(t.columns, column{name: name})
	}
	for {
		r, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, cmp.Or(in.err, err)
		}
		if t.add(r); t.count%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if in.err != nil {
		return nil, in.err
	}
	t.finish()
	if s.File.Size > maxTable {
		b.note("Only the first %s of %s are read.", size(maxTable), size(s.File.Size))
	}
	return t, nil
}

// countingReader records why reading failed, because parsers hide the cause.
type countingReader struct {
	r   io.Reader
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = fmt.Errorf("%w: %w", errRead, err)
	}
	return n, err
}

// add adds a row to the columns and, if it is shown, to the table.
func (t *table) add(r record) {
	t.count++
	for len(t.columns) < len(r.cells) {
		t.columns = append(t.columns, column{before: t.count - 1})
	}
	for i, cell := range r.cells {
		t.columns[i].add(cell)
	}
	switch most := t.shown(); {
	case t.order.column < 0 && len(t.rows) < most:
		t.rows = append(t.rows, r)
	case t.order.column >= 0:
		t.heap.order = t.order
		heap.Push(&t.heap, r)
		for len(t.heap.rows) > most {
			heap.Pop(&t.heap)
		}
	}
}

// shown returns how many rows a page shows.
func (t *table) shown() int {
	return min(maxRows, maxCells/max(1, len(t.columns)))
}

func (t *table) finish() {
	if t.order.column >= 0 {
		t.rows = t.heap.rows
		slices.SortFunc(t.rows, t.order.compare)
	}
	if most := t.shown(); len(t.rows) > most {
		t.rows = t.rows[:most]
	}
	for i := range t.columns {
		c := &t.columns[i]
		c.empty = t.count - c.before - c.filled
		c.numbersEnabled = c.filled > 0 && c.numbers == c.filled
	}
}

// write writes the table and its summary.
func (t *table) write(b *body, page string) {
	if len(t.columns) == 0 {
		b.printf(`<p class="v-empty">This table is empty.</p>`)
		return
	}
	b.printf(`<p class="v-count">%s, %s</p>`, counted(t.count, "row"), counted(len(t.columns), "column"))
	t.writeSummary(b)
	b.printf(`<div class="v-wide v-grid" tabindex="0"><table><thead><tr><th scope="col" class="v-nr">Line</th>`)
	for i, c := range t.columns {
		t.writeHeading(b, page, i, c)
	}
	b.printf("</tr></thead><tbody>")
	written := 0
	for _, r := range t.rows {
		if b.full() {
			break
		}
		written++
		b.printf(`<tr data-line="%d"><th scope="row" class="v-nr">%d</th>`, r.line, r.line)
		for i, c := range t.columns {
			cell := ""
			if i < len(r.cells) {
				cell = r.cells[i]
			}
			if c.numbersEnabled {
				b.printf(`<td class="v-num">%s</td>`, escape(cell))
			} else {
				b.printf(`<td dir="auto">%s</td>`, escape(cell))
			}
		}
		b.printf("</tr>\n")
	}
	b.printf("</tbody></table></div>")
	if written < t.count {
		b.note("Only %d of %d rows are shown; the summary and the order are those of all rows that were read.", written, t.count)
	}
}

// writeHeading writes the name of a column as a link that sorts by it.
func (t *table) writeHeading(b *body, page string, i int, c column) {
	state, next := "", strconv.Itoa(i+1)
	if t.order.column == i {
		if state = ` aria-sort="ascending"`; t.order.descending {
			state = ` aria-sort="descending"`
		} else {
			next += "d"
		}
	}
	class := ""
	if c.numbersEnabled {
		class = ` class="v-num"`
	}
	b.printf(`<th scope="col"%s%s><a href="%s?sort=%s">%s</a></th>`, class, state, escape(page), next, escape(c.title(i)))
}

func (c column) title(i int) string {
	if strings.TrimSpace(c.name) == "" {
		return "Column " + strconv.Itoa(i+1)
	}
	return c.name
}

func (t *table) writeSummary(b *body) {
	b.printf(`<details class="v-summary"><summary>Summary of the columns</summary><div class="v-wide" tabindex="0"><table><thead><tr>` +
		`<th scope="col">Column</th><th scope="col">Filled</th><th scope="col">Empty</th><th scope="col">Least</th>` +
		`<th scope="col">Most</th></tr></thead><tbody>`)
	for i, c := range t.columns {
		least, most := c.first, c.last
		class := ""
		if c.numbersEnabled {
			least, most = c.leastText, c.mostText
			class = ` class="v-num"`
		}
		b.printf(`<tr><th scope="row">%s</th><td class="v-num">%d</td><td class="v-num">%d</td><td%s>%s</td><td%s>%s</td></tr>`,
			escape(c.title(i)), c.filled, c.empty, class, escape(clip(least, 80)), class, escape(clip(most, 80)))
	}
	b.printf("</tbody></table></div></details>")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
