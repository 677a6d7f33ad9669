package screen

import (
	"strings"

	"charm.land/lipgloss/v2"
	"rsc.io/qr"
)

// quietZone is how many light modules surround a code, so that cameras find it (ISO/IEC 18004).
const quietZone = 4

// paper is the colour of a code where the terminal has colours: black on white.
var paper = lipgloss.NewStyle().Foreground(lipgloss.Black).Background(lipgloss.BrightWhite)

// QR draws an address as a QR code for a camera, with two modules in each character. JSON and quiet output omit it.
// Without colours it assumes a dark terminal: the light modules are printed.
func (s *Screen) QR(address string) error {
	if s.mode == JSON || s.quiet {
		return nil
	}
	code, err := qr.Encode(address, qr.L) // the lowest level of error correction is enough, because a screen has no stains
	if err != nil {
		return err
	}
	var text strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		line := halves(code, y, s.mode == Rich)
		if s.mode == Rich {
			line = paper.Render(line)
		}
		text.WriteString(line + "\n")
	}
	return s.Text(text.String())
}

// halves returns two rows of modules as half blocks. It draws the dark modules if ink is set, and the light ones
// otherwise.
func halves(code *qr.Code, y int, ink bool) string {
	blocks := map[[2]bool]rune{
		{false, false}: ' ',
		{true, false}:  '▀',
		{false, true}:  '▄',
		{true, true}:   '█',
	}
	var line strings.Builder
	for x := -quietZone; x < code.Size+quietZone; x++ {
		upper := code.Black(x, y) == ink
		lower := code.Black(x, y+1) == ink && (ink || y+1 < code.Size+quietZone)
		line.WriteRune(blocks[[2]bool{upper, lower}])
	}
	return line.String()
}
