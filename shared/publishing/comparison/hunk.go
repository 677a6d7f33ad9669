package comparison

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Op tells which of two revisions have a line, a word or a cell.
type Op int

// The operations.
const (
	Same Op = iota // both have it
	Removed
	Added
	Changed // both have it, with other contents
)

// Line is a line of a text in one or both revisions.
type Line struct {
	Op       Op
	From, To int    // its number in each revision; 0: that revision does not have it
	Text     string // without the line end
	Cut      bool   // the last line of its file, without a line end
}

// Hunk is a run of lines: changed ones and some around them. A long one is divided into several.
type Hunk struct {
	From, FromCount int // the first line and the number of lines
	To, ToCount     int
	Lines           []Line
	size            int // bytes of the lines in a diff
}

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// hunksOf returns the hunks that turn one text into another.
func hunksOf(before, after string) (out []Hunk, err error) {
	u, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return nil, err
	}
	for _, h := range u.Hunks {
		part := Hunk{From: h.FromLine, To: h.ToLine}
		for _, line := range h.Lines {
			if !part.add(line) {
				out = append(out, part)
				part = Hunk{From: part.From + part.FromCount, To: part.To + part.ToCount}
				part.add(line)
			}
		}
		out = append(out, part)
	}
	return out, nil
}

// noLineEnd follows a line without a line end in a diff.
const noLineEnd = "\\ No newline at end of file\n"

// add adds a line. It returns false, without effect, if the line makes the hunk too long.
func (h *Hunk) add(line udiff.Line) bool {
	text, ended := strings.CutSuffix(line.Content, "\n")
	out := Line{Text: text, Cut: !ended}
	size := len(text) + len("+\n")
	if out.Cut {
		size += len(noLineEnd)
	}
	if len(h.Lines) > 0 && (h.size+size > maxPiece || len(h.Lines) >= maxPieceLines) {
		return false
	}
	h.size += size
	if line.Kind != udiff.Insert {
		out.From = h.From + h.FromCount
		h.FromCount++
	}
	if line.Kind != udiff.Delete {
		out.To = h.To + h.ToCount
		h.ToCount++
	}
	switch line.Kind {
	case udiff.Delete:
		out.Op = Removed
	case udiff.Insert:
		out.Op = Added
	}
	h.Lines = append(h.Lines, out)
	return true
}

// Header returns the line that begins the hunk in a diff.
func (h Hunk) Header() string {
	return "@@ -" + lineRange(h.From, h.FromCount) + " +" + lineRange(h.To, h.ToCount) + " @@"
}

// String returns the hunk in the form of a unified diff.
func (h Hunk) String() string {
	var out strings.Builder
	out.WriteString(h.Header() + "\n")
	for _, line := range h.Lines {
		out.WriteByte(" -+"[line.Op])
		out.WriteString(line.Text + "\n")
		if line.Cut {
			out.WriteString(noLineEnd)
		}
	}
	return out.String()
}

func (h Hunk) weight() weight { return weight{len(h.Header()) + 1 + h.size, len(h.Lines)} }

// lineRange writes a range as GNU diff does. A range without lines has the number of the line before it.
func lineRange(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
