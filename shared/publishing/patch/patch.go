// Package patch applies a unified diff to a base, exactly or not at all.
package patch

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
)

// Reason says why a patch does not apply. Clients read it.
type Reason string

// The reasons.
const (
	BaseMismatch   Reason = "base_hash_mismatch"   // the base is not the file that the client diffed against
	Unparsable     Reason = "parse_error"          // the diff is not a unified diff
	Inapplicable   Reason = "apply_failed"         // a hunk does not fit the base
	ResultMismatch Reason = "result_hash_mismatch" // the result is not the file that the client promised
)

// Error implements error.
func (r Reason) Error() string { return string(r) }

// ErrTooLarge means that the result would exceed its cap.
var ErrTooLarge = errors.New("the result of a patch is too large")

// Apply returns base with the hunks of diff applied. Both are bytes: lines end at LF, and CR is data. Hunks apply at
// the line that they name, without fuzz or offset, in increasing order, and the counts of their headers must hold.
// Lines that no hunk touches are copied unchanged. Steps and memory are linear in base, diff and result. Errors:
// Unparsable, Inapplicable, ErrTooLarge as soon as the result has more than limit bytes.
func Apply(base, diff []byte, limit int64) ([]byte, error) {
	lines := reader{rest: diff}
	if err := lines.prelude(); err != nil {
		return nil, err
	}
	b := builder{base: base, limit: limit}
	for !lines.done() {
		h, err := lines.header()
		if err != nil {
			return nil, err
		}
		if err := b.seek(h); err != nil {
			return nil, err
		}
		if err := b.hunk(&lines, h); err != nil {
			return nil, err
		}
	}
	if err := b.write(b.base[b.at:]); err != nil {
		return nil, err
	}
	return b.out, nil
}

// header is the first line of a hunk.
type header struct {
	oldStart, oldCount int
	newStart, newCount int
}

var headers = regexp.MustCompile(`^@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?: .*)?$`)

// reader reads a diff line by line.
type reader struct{ rest []byte }

func (r *reader) done() bool { return len(r.rest) == 0 }

// next returns a line without its LF, which the last line may lack.
func (r *reader) next() []byte {
	line, rest, _ := bytes.Cut(r.rest, []byte{'\n'})
	r.rest = rest
	return line
}

// preludeWords begin the lines that may precede the first hunk.
var preludeWords = []string{"--- ", "+++ ", "diff ", "index "}

// maxPreludeLines bounds the number of lines before the first hunk.
const maxPreludeLines = 4

// prelude skips the lines before the first hunk.
func (r *reader) prelude() error {
	for range maxPreludeLines {
		found := false
		for _, word := range preludeWords {
			found = found || bytes.HasPrefix(r.rest, []byte(word))
		}
		if !found {
			break
		}
		r.next()
	}
	if !bytes.HasPrefix(r.rest, []byte("@@ ")) {
		return Unparsable // a diff without hunks changes no line
	}
	return nil
}

// header reads the first line of a hunk.
func (r *reader) header() (header, error) {
	m := headers.FindSubmatch(r.next())
	if m == nil {
		return header{}, Unparsable
	}
	number := func(s []byte, absent int) int {
		n, err := strconv.Atoi(string(s))
		if err != nil {
			return absent
		}
		return n
	}
	h := header{number(m[1], 0), number(m[2], 1), number(m[3], 0), number(m[4], 1)}
	if h.oldCount == 0 && h.newCount == 0 || h.oldStart == 0 && h.oldCount > 0 || h.newStart == 0 && h.newCount > 0 {
		return header{}, Unparsable
	}
	return h, nil
}

// noNewline consumes a "\ No newline at end of file" marker and reports whether there was one.
func (r *reader) noNewline() bool {
	if !bytes.HasPrefix(r.rest, []byte(`\ `)) {
		return false
	}
	r.next()
	return true
}

// builder builds the result in one pass over the base.
type builder struct {
	base  []byte
	limit int64

	at      int // offset of the next byte of base
	oldLine int // lines of base before at
	out     []byte
	newLine int  // lines written
	closed  bool // the last written line has no LF, so no other may follow
}

// seek copies the lines before a hunk. The hunk must begin where its header says, in the base and in the result.
func (b *builder) seek(h header) error {
	before := h.oldStart - 1
	if h.oldCount == 0 { // a side without lines names the line before the hunk
		before = h.oldStart
	}
	if before < b.oldLine {
		return Inapplicable
	}
	from := b.at
	for b.oldLine < before {
		line := b.line()
		if len(line) == 0 {
			return Inapplicable
		}
		b.at += len(line)
		b.oldLine++
		b.newLine++
	}
	want := h.newStart - 1
	if h.newCount == 0 {
		want = h.newStart
	}
	if b.newLine != want {
		return Inapplicable
	}
	return b.write(b.base[from:b.at])
}

// line returns the next line of the base with its LF, empty at the end.
func (b *builder) line() []byte {
	rest := b.base[b.at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i+1]
	}
	return rest
}

// hunk applies the lines of a hunk.
func (b *builder) hunk(lines *reader, h header) error {
	for h.oldCount > 0 || h.newCount > 0 {
		if lines.done() {
			return Unparsable
		}
		raw := lines.next()
		if len(raw) == 0 {
			return Unparsable
		}
		noNewline := lines.noNewline()
		var err error
		switch raw[0] {
		case ' ':
			h.oldCount, h.newCount = h.oldCount-1, h.newCount-1
			if err = b.take(raw[1:], noNewline); err == nil {
				err = b.add(raw[1:], noNewline)
			}
		case '-':
			h.oldCount--
			err = b.take(raw[1:], noNewline)
		case '+':
			h.newCount--
			err = b.add(raw[1:], noNewline)
		default:
			err = Unparsable
		}
		if err == nil && (h.oldCount < 0 || h.newCount < 0) {
			err = Unparsable
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take skips a line of the base, which must have this text.
func (b *builder) take(text []byte, noNewline bool) error {
	line := b.line()
	body, hasEnd := bytes.CutSuffix(line, []byte{'\n'})
	if len(line) == 0 || hasEnd == noNewline || !bytes.Equal(body, text) { // a line has either its LF or the marker
		return Inapplicable
	}
	b.at += len(line)
	b.oldLine++
	return nil
}

// add writes a line.
func (b *builder) add(text []byte, noNewline bool) error {
	if err := b.write(text); err != nil {
		return err
	}
	b.newLine++
	if noNewline {
		b.closed = true
		return nil
	}
	return b.write([]byte{'\n'})
}

// write appends to the result. It fails if the result would exceed its cap, or if no line may follow.
func (b *builder) write(p []byte) error {
	switch {
	case len(p) == 0:
		return nil
	case b.closed:
		return Inapplicable
	case int64(len(b.out))+int64(len(p)) > b.limit:
		return ErrTooLarge
	}
	b.out = append(b.out, p...)
	return nil
}
