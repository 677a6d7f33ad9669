package screen

import (
	"io"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"vitrine/cmd/vitrine/failure"
)

// Table writes rows in aligned columns, with the identifier first. Quiet output has the first column only.
func (s *Screen) Table(rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(Clean(cell)))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		if s.quiet {
			row = row[:1]
		}
		line := ""
		for i, cell := range row {
			cell = Clean(cell)
			padded := cell + strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+2)
			if i == 0 {
				padded = strong.Render(cell) + padded[len(cell):]
			}
			line += padded
		}
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return s.Text(text.String())
}

// Verbatim writes the bytes of a file to stdout. It refuses to write control characters to a terminal.
func (s *Screen) Verbatim(body []byte) error {
	if s.guarded && (!utf8.Valid(body) ||
		strings.ContainsFunc(strings.ReplaceAll(string(body), "\r\n", "\n"), steersBody)) {
		return failure.New(failure.Invalid, failure.Unshowable, "the text contains control characters").
			Advise("Save it with --output FILE, or send it through a pipe.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.raw.Write(body)
	return unwritten(err)
}

// Stream writes bytes that are not text to stdout. It is only for a stdout that is not a terminal.
func (s *Screen) Stream(write func(io.Writer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	return unwritten(write(s.raw))
}

// steersBody is steers for texts of many lines. It still refuses a lone carriage return, which would overwrite the
// line.
func steersBody(r rune) bool { return steers(r) && r != '\n' && r != '\t' }

var (
	added   = lipgloss.NewStyle().Foreground(lipgloss.Green)
	removed = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

// Diff writes the lines of a unified diff. On a terminal it colours them and replaces control characters. Elsewhere it
// writes them unchanged, so that programs can apply the diff.
func (s *Screen) Diff(lines []string) error {
	if !s.guarded {
		return s.Verbatim([]byte(strings.Join(lines, "\n") + "\n"))
	}
	var text strings.Builder
	for _, line := range lines {
		shown := Clean(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "        "))
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
			shown = strong.Render(shown)
		case strings.HasPrefix(line, "+"):
			shown = added.Render(shown)
		case strings.HasPrefix(line, "-"):
			shown = removed.Render(shown)
		case strings.HasPrefix(line, "@@"):
			shown = faint.Render(shown)
		}
		text.WriteString(shown + "\n")
	}
	return s.Text(text.String())
}

// IsQuiet reports whether only the first line or column is written.
func (s *Screen) IsQuiet() bool { return s.quiet && s.mode != JSON }
