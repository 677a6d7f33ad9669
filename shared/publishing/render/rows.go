package render

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	maxColumns = 200
	maxCell    = 1 << 10 // bytes of a cell
	maxRow     = 1 << 20 // bytes of a row that is read
)

// rowReader reads the rows of a file one by one. next returns io.EOF after the last one.
type rowReader interface {
	next() (record, error)
	header() []string
}

// rows returns the reader for the extension of the file.
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

// separator guesses from the first line of a CSV file which character divides its cells.
func separator(in *bufio.Reader) byte {
	head, _ := in.Peek(4 << 10)
	line, _, _ := strings.Cut(string(head), "\n")
	best, most := byte(','), strings.Count(line, ",")
	for _, c := range []byte{';', '\t', '|'} {
		if n := strings.Count(line, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// cellReader reads CSV as encoding/csv does with lazy quotation marks, but holds only the part of a record that is
// shown. Rows of endless commas and cells without an end therefore take little memory. The first row names the columns.
type cellReader struct {
	in    *bufio.Reader
	comma byte
	line  int // number of the current line, from 1
	names []string
	clip  *clipper
	row   []string // the shown columns, and one more if there are more
	cell  []byte   // the shown part of a cell, and a rune more if there is more
}

func newCellReader(in *bufio.Reader, comma byte, b *body) (*cellReader, error) {
	c := &cellReader{in: in, comma: comma, line: 1, clip: &clipper{b: b}}
	_, err := c.record()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", errFailed, err)
	}
	c.names = c.clip.row(c.row)
	return c, nil
}

func (c *cellReader) header() []string { return c.names }

func (c *cellReader) next() (record, error) {
	line, err := c.record()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return record{}, io.EOF
		}
		return record{}, fmt.Errorf("%w: %w", errFailed, err)
	}
	return record{line, c.clip.row(c.row)}, nil
}

// record reads the next row that is not empty, and returns the number of its first line.
func (c *cellReader) record() (line int, err error) {
	c.row = c.row[:0]
	b, err := c.read()
	for err == nil && b == '\n' {
		b, err = c.read()
	}
	if err != nil {
		return 0, err
	}
	for line = c.line; ; {
		if err == nil && b == '"' {
			b, err = c.quoted()
		}
		for err == nil && b != c.comma && b != '\n' {
			c.add(b)
			b, err = c.read()
		}
		if len(c.row) <= maxColumns {
			c.row = append(c.row, string(c.cell))
		}
		c.cell = c.cell[:0]
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if err != nil || b == '\n' {
			return line, nil
		}
		b, err = c.read()
	}
}

// quoted reads a cell after its first quotation mark, and returns the comma or the line end after it. A quotation mark
// before any other character is part of the cell.
func (c *cellReader) quoted() (byte, error) {
	for {
		b, err := c.read()
		if err != nil {
			return 0, err
		}
		if b != '"' {
			c.add(b)
			continue
		}
		b, err = c.read()
		if err != nil || b == c.comma || b == '\n' {
			return b, err
		}
		if c.add('"'); b != '"' {
			c.add(b)
		}
	}
}

func (c *cellReader) add(b byte) {
	if len(c.cell) < maxCell+utf8.UTFMax {
		c.cell = append(c.cell, b)
	}
}

// read reads a byte. It skips a carriage return before a line feed or at the end of the file.
func (c *cellReader) read() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil && b == '\r' {
		switch next, _ := c.in.Peek(1); {
		case len(next) == 0:
			_, err := c.in.ReadByte()
			return 0, err
		case next[0] == '\n':
			b, err = c.in.ReadByte()
		}
	}
	if err == nil && b == '\n' {
		c.line++
	}
	return b, err
}

// clipper cuts rows that are too wide and cells that are too long, and notes each once.
type clipper struct {
	b           *body
	wide, large bool
}

func (c *clipper) row(cells []string) []string {
	if len(cells) > maxColumns {
		if cells = cells[:maxColumns]; !c.wide {
			c.b.note("Only the first %d columns are shown.", maxColumns)
			c.wide = true
		}
	}
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = strings.Clone(clip(cell, maxCell))
		if len(cell) > maxCell && !c.large {
			c.b.note("Cells above %s are cut.", size(maxCell))
			c.large = true
		}
	}
	return out
}

// lineReader reads JSON lines. The members of objects are columns, in the order of their first appearance.
type lineReader struct {
	in    *bufio.Reader
	clip  *clipper
	line  int
	names []string
	at    map[string]int
	ahead []record // sampled rows that are not returned yet
	cut   bool
}

// sampled is how many lines are read ahead to learn the columns.
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

// readLine reads a line and returns at most maxRow bytes of it.
func (l *lineReader) readLine() (string, error) {
	l.line++
	var out []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if room := maxRow - len(out); room > 0 {
			out = append(out, part[:min(room, len(part))]...)
		} else if !l.cut {
			l.clip.b.note("Lines above %s are cut.", size(maxRow))
			l.cut = true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(out), err
		}
	}
}

// parse returns a line as a row. A line that is not an object is the value of one column.
func (l *lineReader) parse(text string, learn bool) record {
	r := record{line: l.line}
	names, values, ok := members(text)
	if !ok {
		names, values = []string{"value"}, []string{strings.TrimSpace(text)}
	}
	cells := make([]string, len(l.names))
	for i, name := range names {
		at, known := l.at[name]
		if !known && (!learn || len(l.names) == maxColumns) {
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

// members returns the names and values of a JSON object in order.
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
