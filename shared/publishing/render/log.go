package render

import (
	"context"
	"strconv"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/prose"
)

func init() { views[media.LogView] = viewer{show: logView, weight: 40, most: maxText} }

// logView shows a text with the colours that terminals show.
func logView(ctx context.Context, s Source, b *body, _ Query) error {
	return s.numberedText(ctx, b, terminalLines)
}

// terminalLines returns the lines of a program's output as HTML, coloured.
func terminalLines(text string) []string {
	var l lineWriter
	var p pen
	last := 0
	for _, at := range prose.Control.FindAllStringIndex(text, -1) {
		l.write(text[last:at[0]], p.class())
		if sequence := text[at[0]:at[1]]; strings.HasPrefix(sequence, "\x1b[") && strings.HasSuffix(sequence, "m") {
			p.set(sequence[2 : len(sequence)-1])
		}
		last = at[1]
	}
	l.write(text[last:], p.class())
	return append(l.done, l.line.String())
}

// pen is the style in which a terminal writes. Colours count from 1, and 0 is none.
type pen struct {
	front, back                    int
	bold, faint, italic, underline bool
}

func (p *pen) class() string {
	var c []string
	add := func(on bool, name string) {
		if on {
			c = append(c, name)
		}
	}
	add(p.bold, "a-bold")
	add(p.faint, "a-faint")
	add(p.italic, "a-italic")
	add(p.underline, "a-under")
	if p.front > 0 {
		c = append(c, "a-f"+strconv.Itoa(p.front-1))
	}
	if p.back > 0 {
		c = append(c, "a-b"+strconv.Itoa(p.back-1))
	}
	return strings.Join(c, " ")
}

// set applies the parameters of a sequence that sets colours.
func (p *pen) set(parameters string) {
	codes := strings.FieldsFunc(parameters+";", func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		*p = pen{}
	}
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i])
		switch {
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			i += used
			if n == 38 {
				p.front = colour
			} else {
				p.back = colour
			}
		default:
			p.one(n)
		}
	}
}

func (p *pen) one(n int) {
	switch {
	case n == 0:
		*p = pen{}
	case n == 1:
		p.bold = true
	case n == 2:
		p.faint = true
	case n == 3:
		p.italic = true
	case n == 4:
		p.underline = true
	case n == 22:
		p.bold, p.faint = false, false
	case n == 23:
		p.italic = false
	case n == 24:
		p.underline = false
	case n >= 30 && n <= 37:
		p.front = n - 30 + 1
	case n == 39:
		p.front = 0
	case n >= 40 && n <= 47:
		p.back = n - 40 + 1
	case n == 49:
		p.back = 0
	case n >= 90 && n <= 97:
		p.front = n - 90 + 1
	case n >= 100 && n <= 107:
		p.back = n - 100 + 1
	}
}

// extended returns the nearest of the eight colours to one of 256 or one of red, green and blue, and how many codes the
// colour takes.
func extended(codes []string) (colour, used int) {
	number := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i])
		return n
	}
	switch number(0) {
	case 5:
		n := number(1)
		switch {
		case n < 16:
			return n%8 + 1, 2
		case n < 232:
			n -= 16
			return nearest(n/36*51, n/6%6*51, n%6*51), 2
		}
		return 0, 2
	case 2:
		return nearest(number(1), number(2), number(3)), 4
	}
	return 0, 0
}

// nearest returns the nearest of the eight colours, counted from 1, or 0 for grey.
func nearest(r, g, b int) int {
	high := max(r, g, b)
	if high-min(r, g, b) < 32 {
		return 0
	}
	n := 0
	for i, part := range []int{r, g, b} {
		if part*2 > high {
			n |= 1 << i
		}
	}
	return n + 1
}
