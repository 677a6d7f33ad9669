// Package patch rebuilds a file from its base and a unified diff, exactly or not at all.
//
// A diff is bytes: lines end at LF, CR is data. Hunks apply at the line that they name, with no fuzz and no offset, in
// increasing order, and the counts of their headers hold. What no hunk touches is copied unchanged. Steps and memory are
// linear in base, diff and result, and the result is capped while it grows.
package patch

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
)

// Reason says why a patch does not apply; clients read it.
type Reason string

// The reasons.
const (
	BaseMismatch   Reason = "base_hash_mismatch"   // the base is another file than the client diffed against
	Unparsable     Reason = "parse_error"          // the diff is no unified diff
	Inapplicable   Reason = "apply_failed"         // a hunk does not fit the base
	ResultMismatch Reason = "result_hash_mismatch" // the result is another file than the client promised
)

// Error makes a reason an error.
func (r Reason) Error() string { return string(r) }

// ErrTooLarge says that the result would exceed its cap.
var ErrTooLarge = errors.New("the result of a patch is too large")

// Apply returns base with the hunks of diff applied; at most `most` bytes. Errors: Unparsable, Inapplicable, ErrTooLarge.
func Apply(base, diff []byte, most int64) ([]byte, error) {
	lines := reader{rest: diff}
	if err := lines.prelude(); err != nil {
		return nil, err
	}
	b := builder{base: base, most: most}
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

// reader takes a diff apart, line by line.
type reader struct{ rest []byte }

func (r *reader) done() bool { return len(r.rest) == 0 }

// next returns a line without its LF. The last one may lack it.
func (r *reader) next() []byte {
	line, rest, _ := bytes.Cut(r.rest, []byte{'\n'})
	r.rest = rest
	return line
}

// preludeWords begin the lines that may stand before the first hunk.
var preludeWords = []string{"--- ", "+++ ", "diff ", "index "}

// maxPreludeLines is how many such lines there may be.
const maxPreludeLines = 4

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
		return Unparsable // also a diff without hunks: it would say nothing
	}
	return nil
}

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

// unended tells whether the marker of a line without LF follows, and takes it.
func (r *reader) unended() bool {
	if !bytes.HasPrefix(r.rest, []byte(`\ `)) {
		return false
	}
	r.next()
	return true
}

// builder walks over the base once, from front to back.
type builder struct {
	base []byte
	most int64

	at      int // byte of base that comes next
	oldLine int // lines of base before at
	out     []byte
	newLine int  // lines written
	closed  bool // the last line written has no LF, so that nothing may follow
}

// seek copies the lines before a hunk. The hunk has to begin where its header says, in the base and in the result.
func (b *builder) seek(h header) error {
	before := h.oldStart - 1
	if h.oldCount == 0 {
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

// line is the next line of the base with its LF, empty at the end.
func (b *builder) line() []byte {
	rest := b.base[b.at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i+1]
	}
	return rest
}

func (b *builder) hunk(lines *reader, h header) error {
	for h.oldCount > 0 || h.newCount > 0 {
		if lines.done() {
			return Unparsable
		}
		raw := lines.next()
		if len(raw) == 0 {
			return Unparsable
		}
		unended := lines.unended()
		var err error
		switch raw[0] {
		case ' ':
			h.oldCount, h.newCount = h.oldCount-1, h.newCount-1
			if err = b.take(raw[1:], unended); err == nil {
				err = b.add(raw[1:], unended)
			}
		case '-':
			h.oldCount--
			err = b.take(raw[1:], unended)
		case '+':
			h.newCount--
			err = b.add(raw[1:], unended)
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

// take passes over a line of the base, which has to be this one.
func (b *builder) take(text []byte, unended bool) error {
	line := b.line()
	body, hasEnd := bytes.CutSuffix(line, []byte{'\n'})
	if len(line) == 0 || hasEnd == unended || !bytes.Equal(body, text) {
		return Inapplicable
	}
	b.at += len(line)
	b.oldLine++
	return nil
}

// add writes a line.
func (b *builder) add(text []byte, unended bool) error {
	if err := b.write(text); err != nil {
		return err
	}
	b.newLine++
	if unended {
		b.closed = true
		return nil
	}
	return b.write([]byte{'\n'})
}

func (b *builder) write(p []byte) error {
	switch {
	case len(p) == 0:
		return nil
	case b.closed:
		return Inapplicable
	case int64(len(b.out))+int64(len(p)) > b.most:
		return ErrTooLarge
	}
	b.out = append(b.out, p...)
	return nil
}
