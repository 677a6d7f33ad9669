package comparison

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

// texts is a change with what its files hold.
type texts struct {
	change
	before, after string
	omitted       string // why there is no diff
}

// unread tells why the files of a change are not read for a diff, empty if they are.
func (c change) unread() string {
	for _, f := range []*tree.File{c.from, c.to} {
		switch {
		case f == nil || c.kind == renamed:
		case f.Size > limits.ComparedFile:
			return fmt.Sprintf("The file has more than %d bytes; compare it by its digests, or read both.",
				limits.ComparedFile)
		case isBinary(f.Path):
			return notText
		}
	}
	return ""
}

const notText = "The file is not text; compare it by its digests."

// isBinary reports whether the file at a path is no text by its extension, so that it need not be read.
func isBinary(path string) bool {
	kind := media.Of(path).ContentType
	for _, prefix := range []string{"image/", "audio/", "video/", "font/", "application/wasm", "application/pdf"} {
		if strings.HasPrefix(kind, prefix) {
			return !media.IsSVG(path)
		}
	}
	return false
}

// unfit tells why what was read has no diff, empty if it has one.
func (t texts) unfit() string {
	for _, text := range []string{t.before, t.after} {
		switch {
		case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
			return notText
		case strings.Count(text, "\n") >= limits.ComparedLines:
			return fmt.Sprintf("The file has %d lines or more; read both revisions of it.", limits.ComparedLines)
		case longestLine(text) > limits.ComparedLine:
			return fmt.Sprintf("The file has a line of more than %d bytes, so that a diff by lines says little; read both "+
				"revisions of it.", limits.ComparedLine)
		}
	}
	return ""
}

func longestLine(text string) (most int) {
	for line := range strings.Lines(text) {
		most = max(most, len(line))
	}
	return most
}

// text reads a file, if there is one.
func (s *Service) text(ctx context.Context, home id.Workspace, f *tree.File, out *string) error {
	if f == nil || f.Size == 0 {
		return nil
	}
	body, err := s.Bytes.Open(ctx, home, f.Object, 0, f.Size)
	if fault.KindOf(err) == fault.KindNotFound {
		return missing() // the revision was purged meanwhile
	}
	if err != nil {
		return err
	}
	defer body.Close()
	*out, err = f.ReadAll(body)
	return err
}

// header begins a diff.
func (c change) header() string {
	before, after := "/dev/null", "/dev/null"
	if c.from != nil {
		before = "a/" + c.from.Path
	}
	if c.to != nil {
		after = "b/" + c.to.Path
	}
	return "--- " + before + "\n+++ " + after + "\n"
}

// contextLines is how many unchanged lines a diff shows around a change.
const contextLines = 3

// diff returns the hunks of a unified diff. A long one is divided into several that follow each other.
func diff(before, after string) (pieces []string, err error) {
	u, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return nil, err
	}
	for _, h := range u.Hunks {
		p := piece{from: h.FromLine, to: h.ToLine}
		for _, line := range h.Lines {
			if !p.add(line) {
				pieces = append(pieces, p.String())
				p = piece{from: p.from + p.fromCount, to: p.to + p.toCount}
				p.add(line)
			}
		}
		pieces = append(pieces, p.String())
	}
	return pieces, nil
}

// maxPiece is how long the lines of a hunk may be together, more than of one line and less than of an answer.
const maxPiece = 2 * limits.ComparedLine

// piece is a hunk that is being filled.
type piece struct {
	from, fromCount int
	to, toCount     int
	body            strings.Builder
}

// add adds a line, unless it makes the hunk too long.
func (p *piece) add(line udiff.Line) bool {
	text := line.Content
	if !strings.HasSuffix(text, "\n") {
		text += "\n\\ No newline at end of file\n"
	}
	if p.body.Len() > 0 && p.body.Len()+len(text) >= maxPiece {
		return false
	}
	mark := byte(' ')
	switch line.Kind {
	case udiff.Delete:
		mark = '-'
		p.fromCount++
	case udiff.Insert:
		mark = '+'
		p.toCount++
	default:
		p.fromCount++
		p.toCount++
	}
	p.body.WriteByte(mark)
	p.body.WriteString(text)
	return true
}

// String returns the hunk with its header.
func (p *piece) String() string {
	return "@@ -" + lineRange(p.from, p.fromCount) + " +" + lineRange(p.to, p.toCount) + " @@\n" + p.body.String()
}

// lineRange writes a range as GNU diff does: one without lines is named by the line before it.
func lineRange(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}
