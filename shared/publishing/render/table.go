package render

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"vitrine/shared/platform/limits"
)

// tableView shows the rows of CSV, TSV and JSON lines as a table, with what their columns hold.
func tableView(ctx context.Context, s Source, b *body, q Query) error {
	t, err := s.table(ctx, b, sortOf(q.Sort))
	if err != nil {
		return err
	}
	t.write(b, s.pageOf(s.Path))
	return nil
}

// order is how a table is sorted.
type order struct {
	column     int // from 0; -1: as the file has it
	descending bool
}

// sortOf reads the choice of a reader.
func sortOf(text string) order {
	digits, descending := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > limits.RenderedColumns {
		return order{column: -1}
	}
	return order{column: n - 1, descending: descending}
}

// record is a row of a table.
type record struct {
	line  int // in the file
	cells []string
}

// column sums up what a column holds, in all rows that are read.
type column struct {
	name           string
	filled, empty  int
	numbers        int
	least, most    float64
	first, last    string // texts in their order
	leastText      string // the numbers as the file has them
	mostText       string
	known          bool // first and last are set
	numbersEnabled bool
}

// table is what is read of a file.
type table struct {
	columns []column
	rows    []record
	order   order
	count   int // rows of the file, as far as it is read
	heap    topRows
}

// rowReader reads the rows of a file one by one; io.EOF at its end.
type rowReader interface {
	next() (record, error)
	header() []string
}

// table reads a file of rows: at most limits.RenderedTable bytes of it, of which it keeps the rows that are shown.
func (s Source) table(ctx context.Context, b *body, o order) (*table, error) {
	file, err := s.open(ctx, limits.RenderedTable)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := &countingReader{r: file}
	rows, err := s.rows(in, b)
	if err != nil {
		return nil, err
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
	if s.File.Size > limits.RenderedTable {
		b.note("Only the first %s of %s are read.", size(limits.RenderedTable), size(s.File.Size))
	}
	return t, nil
}

// countingReader remembers why reading failed.
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

// rows reads what the extension of the file says.
func (s Source) rows(in io.Reader, b *body) (rowReader, error) {
	buffered := bufio.NewReaderSize(in, 64<<10)
	if mark, _ := buffered.Peek(3); string(mark) == "\uFEFF" {
		_, _ = buffered.Discard(3)
	}
	switch strings.ToLower(path.Ext(s.Path)) {
	case ".jsonl", ".ndjson":
		return newLineReader(buffered, b), nil
	case ".tsv":
		return newCellReader(buffered, '\t', b)
	}
	return newCellReader(buffered, separator(buffered), b)
}

// separator guesses what stands between the cells of a CSV file by its first line.
func separator(in *bufio.Reader) rune {
	head, _ := in.Peek(4 << 10)
	line, _, _ := strings.Cut(string(head), "\n")
	best, most := ',', strings.Count(line, ",")
	for _, c := range []rune{';', '\t', '|'} {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// cellReader reads CSV. The first row names the columns.
type cellReader struct {
	csv   *csv.Reader
	names []string
	clip  *clipper
}

func newCellReader(in io.Reader, comma rune, b *body) (*cellReader, error) {
	c := &cellReader{csv: csv.NewReader(in), clip: &clipper{b: b}}
	c.csv.Comma, c.csv.LazyQuotes = comma, true
	c.csv.FieldsPerRecord, c.csv.ReuseRecord = -1, true
	first, err := c.csv.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", errFailed, err)
	}
	c.names = c.clip.row(first)
	return c, nil
}

func (c *cellReader) header() []string { return c.names }

func (c *cellReader) next() (record, error) {
	cells, err := c.csv.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return record{}, io.EOF
		}
		return record{}, fmt.Errorf("%w: %w", errFailed, err)
	}
	line, _ := c.csv.FieldPos(0)
	return record{line, c.clip.row(cells)}, nil
}

// clipper cuts rows that are too wide and cells that are too long, and says so once.
type clipper struct {
	b           *body
	wide, large bool
}

func (c *clipper) row(cells []string) []string {
	if len(cells) > limits.RenderedColumns {
		if cells = cells[:limits.RenderedColumns]; !c.wide {
			c.b.note("Only the first %d columns are shown.", limits.RenderedColumns)
			c.wide = true
		}
	}
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = strings.Clone(clip(cell, limits.RenderedCell))
		if len(cell) > limits.RenderedCell && !c.large {
			c.b.note("Cells above %s are cut.", size(limits.RenderedCell))
			c.large = true
		}
	}
	return out
}

// lineReader reads JSON lines. The members of objects are columns, in the order in which they appear first.
type lineReader struct {
	in    *bufio.Reader
	clip  *clipper
	line  int
	names []string
	at    map[string]int
	ahead []record // rows that told the columns
	cut   bool
}

// sampled is how many lines tell which columns there are.
const sampled = 200

func newLineReader(in *bufio.Reader, b *body) *lineReader {
	l := &lineReader{in: in, clip: &clipper{b: b}, at: map[string]int{}}
	for len(l.ahead) < sampled {
		r, err := l.read(true)
		if err != nil {
			break
		}
		l.ahead = append(l.ahead, r)
	}
	return l
}

func (l *lineReader) header() []string { return l.names }

func (l *lineReader) next() (record, error) {
	if len(l.ahead) > 0 {
		r := l.ahead[0]
		l.ahead = l.ahead[1:]
		return r, nil
	}
	return l.read(false)
}

// read reads the next line that is not blank.
func (l *lineReader) read(learn bool) (record, error) {
	for {
		text, err := l.readLine()
		if err != nil && text == "" {
			return record{}, err
		}
		if strings.TrimSpace(text) != "" {
			return l.parse(text, learn), nil
		}
	}
}

// readLine reads a line, at most limits.RenderedRow bytes of it.
func (l *lineReader) readLine() (string, error) {
	l.line++
	var out []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if room := limits.RenderedRow - len(out); room > 0 {
			out = append(out, part[:min(room, len(part))]...)
		} else if !l.cut {
			l.clip.b.note("Lines above %s are cut.", size(limits.RenderedRow))
			l.cut = true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(out), err
		}
	}
}

// parse makes a row of a line. A line that is no object is the value of one column.
func (l *lineReader) parse(text string, learn bool) record {
	r := record{line: l.line}
	names, values, ok := members(text)
	if !ok {
		names, values = []string{"value"}, []string{strings.TrimSpace(text)}
	}
	cells := make([]string, len(l.names))
	for i, name := range names {
		at, known := l.at[name]
		if !known && (!learn || len(l.names) == limits.RenderedColumns) {
			continue
		}
		if !known {
			at = len(l.names)
			l.at[name], l.names = at, append(l.names, clip(name, 200))
		}
		for len(cells) <= at {
			cells = append(cells, "")
		}
		cells[at] = values[i]
	}
	r.cells = l.clip.row(cells)
	return r
}

// members returns the names and values of a JSON object, in its order.
func members(text string) (names, values []string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	for d.More() {
		t, err := d.Token()
		name, is := t.(string)
		var value json.RawMessage
		if err != nil || !is || d.Decode(&value) != nil {
			return nil, nil, false
		}
		shown := string(value)
		if shown == "null" {
			shown = ""
		} else if unquoted := ""; shown[0] == '"' && json.Unmarshal(value, &unquoted) == nil {
			shown = unquoted
		}
		names, values = append(names, name), append(values, shown)
	}
	return names, values, true
}

// add takes a row into the columns and, if it is shown, into the table.
func (t *table) add(r record) {
	t.count++
	for len(t.columns) < len(r.cells) {
		t.columns = append(t.columns, column{})
	}
	for i := range t.columns {
		cell := ""
		if i < len(r.cells) {
			cell = r.cells[i]
		}
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

// shown is how many rows a page shows.
func (t *table) shown() int {
	return min(limits.RenderedRows, limits.RenderedCells/max(1, len(t.columns)))
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
		c.numbersEnabled = c.filled > 0 && c.numbers == c.filled
	}
}

// add takes a cell into the summary.
func (c *column) add(cell string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		c.empty++
		return
	}
	c.filled++
	if !c.known || cell < c.first {
		c.first = cell
	}
	if !c.known || cell > c.last {
		c.last = cell
	}
	c.known = true
	n, ok := parseNumber(cell)
	if !ok {
		return
	}
	if c.numbers == 0 || n < c.least {
		c.least, c.leastText = n, cell
	}
	if c.numbers == 0 || n > c.most {
		c.most, c.mostText = n, cell
	}
	c.numbers++
}

// parseNumber reads a number as tables have it: with a sign, thousands in groups of three, an exponent or a percent sign.
func parseNumber(cell string) (float64, bool) {
	cell = strings.TrimSuffix(strings.TrimSpace(cell), "%")
	if cell == "" || len(cell) > 40 || !strings.ContainsAny(cell[:1], "+-.0123456789") {
		return 0, false
	}
	if whole, _, _ := strings.Cut(cell, "."); strings.Contains(whole, ",") {
		for i, group := range strings.Split(whole, ",") {
			if i > 0 && len(group) != 3 {
				return 0, false
			}
		}
		cell = strings.ReplaceAll(whole, ",", "") + cell[len(whole):]
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return n, err == nil
}

// compare orders two rows: numbers before texts, empty cells last, equal ones as the file has them.
func (o order) compare(a, b record) int {
	x, y := o.cell(a), o.cell(b)
	n, xIs := parseNumber(x)
	m, yIs := parseNumber(y)
	by := 0
	switch {
	case x == "" || y == "":
		return cmp.Or(cmp.Compare(len(y), len(x))*sign(x, y), cmp.Compare(a.line, b.line))
	case xIs && yIs:
		by = cmp.Compare(n, m)
	case xIs != yIs:
		by = cmp.Compare(bit(yIs), bit(xIs))
	default:
		by = strings.Compare(x, y)
	}
	if o.descending {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(a.line, b.line))
}

// sign is 1 where just one of two cells is empty.
func sign(x, y string) int { return bit((x == "") != (y == "")) }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (o order) cell(r record) string {
	if o.column < len(r.cells) {
		return strings.TrimSpace(r.cells[o.column])
	}
	return ""
}

// topRows is a heap whose first row is the last of those that are kept.
type topRows struct {
	order order
	rows  []record
}

func (h *topRows) Len() int           { return len(h.rows) }
func (h *topRows) Less(i, j int) bool { return h.order.compare(h.rows[i], h.rows[j]) > 0 }
func (h *topRows) Swap(i, j int)      { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }
func (h *topRows) Push(x any)         { h.rows = append(h.rows, x.(record)) }
func (h *topRows) Pop() any {
	last := h.rows[len(h.rows)-1]
	h.rows = h.rows[:len(h.rows)-1]
	return last
}

// write writes the table and what sums it up.
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
		least, most, class := c.first, c.last, ""
		if c.numbersEnabled {
			least, most, class = c.leastText, c.mostText, ` class="v-num"`
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
