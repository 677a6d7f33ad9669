// Package screen writes the output of the CLI: results to stdout, everything else to stderr.
package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"vitrine/cmd/vitrine/failure"
)

// Mode is the output format.
type Mode uint8

// Modes. Rich and Plain have the same layout; Plain has no escape codes and repaints no line.
const (
	Plain Mode = iota
	Rich
	JSON
)

// Options say where and how to write.
type Options struct {
	Out, Err       io.Writer
	Terminal       bool     // Out is a terminal
	Environ        []string // in the form of os.Environ
	JSON, Quiet    bool
	Color, NoColor bool // the flags, which take precedence over the terminal
}

// Screen writes the output of one command. It is safe for concurrent use.
type Screen struct {
	mode     Mode
	guarded  bool // stdout interprets control characters
	quiet    bool
	bars     bool // stderr is a terminal that may be repainted
	raw      io.Writer
	out, err io.Writer

	mu    sync.Mutex
	held  []string // notes that wait until a JSON command has succeeded
	drawn bool     // a progress bar is on the last line of stderr
}

// Row is a named line below a result.
type Row struct{ Name, Value string }

var (
	strong = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	wrong  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Red)
)

// New returns a screen.
func New(o Options) *Screen {
	s := &Screen{mode: modeOf(o), quiet: o.Quiet, raw: o.Out}
	s.guarded = o.Terminal || s.mode == Rich
	out, err := colorprofile.NoTTY, colorprofile.NoTTY
	if s.mode == Rich {
		out, err = colorprofile.Detect(o.Out, o.Environ), colorprofile.Detect(o.Err, o.Environ)
		if o.Color {
			out, err = max(out, colorprofile.ANSI), max(err, colorprofile.ANSI)
		}
	}
	s.bars = err > colorprofile.NoTTY && !o.Quiet
	s.out = &colorprofile.Writer{Forward: o.Out, Profile: out}
	s.err = &colorprofile.Writer{Forward: o.Err, Profile: err}
	return s
}

// modeOf returns the mode. Flags take precedence over the environment, and that over the terminal.
func modeOf(o Options) Mode {
	env := func(name string) string { return lookup(o.Environ, name) }
	switch {
	case o.JSON:
		return JSON
	case o.Color:
		return Rich
	case o.NoColor, env("NO_COLOR") != "", env("CI") != "", env("TERM") == "dumb":
		return Plain
	case colorprofile.Detect(o.Out, o.Environ) <= colorprofile.NoTTY:
		return Plain
	}
	return Rich
}

// IsJSON reports whether results are written as JSON.
func (s *Screen) IsJSON() bool { return s.mode == JSON }

// Result writes the result of a command for people: the most important line, then named lines. Quiet output has the
// first line only.
func (s *Screen) Result(first string, rows ...Row) error {
	text := strong.Render(Clean(first)) + "\n"
	if s.quiet {
		rows = nil
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Name))
	}
	for _, r := range rows {
		text += fmt.Sprintf("  %s  %s\n", faint.Render(fmt.Sprintf("%-*s", width, r.Name)), Clean(r.Value))
	}
	return s.Text(text)
}

// Object writes the result of a command for programs: one JSON object on one line.
func (s *Screen) Object(v any) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.raw.Write(text); err != nil {
		return unwritten(err)
	}
	for _, note := range s.held {
		fmt.Fprintln(s.err, note)
	}
	s.held = nil
	return nil
}

// Text writes a text of our own to stdout unchanged.
func (s *Screen) Text(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.out, text)
	return unwritten(err)
}

// unwritten returns the failure of a result that could not be written.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return failure.New(failure.Other, failure.Unwritten, "the result cannot be written to stdout: %v", err).
		Advise("The command has done its work; run it again when stdout can be written.")
}

// Note writes a remark about the result. With --json, notes wait for the result, so that stderr of a failed command is
// the error object alone. With --quiet, they are dropped.
func (s *Screen) Note(format string, args ...any) {
	if s.quiet {
		return
	}
	text := Clean(Scrub(fmt.Sprintf(format, args...)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mode == JSON {
		s.held = append(s.held, text)
		return
	}
	s.wipe()
	fmt.Fprintln(s.err, faint.Render(text))
}

// Prompt asks the person to act now. It writes to stderr at once, in every mode and unabridged, because the command
// waits for the person.
func (s *Screen) Prompt(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	for _, line := range lines {
		fmt.Fprintln(s.err, Clean(line))
	}
}

// wipe removes a progress bar from the last line. The bar returns when it is drawn again.
func (s *Screen) wipe() {
	if s.drawn {
		fmt.Fprint(s.err, "\r\x1b[2K")
		s.drawn = false
	}
}

// encode returns one line of JSON that is safe on a terminal: links stay readable, and control characters are escaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return escapeControls(b.Bytes()), nil
}
