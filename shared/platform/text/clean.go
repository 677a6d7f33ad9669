package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/shared/platform/fault"
)

// Clean returns a text of several lines that a person or an agent wrote, as Visible does and without the spaces around
// it. It fails with invalid_request if the rest is empty, has more than most bytes, or the text is not UTF-8.
func Clean(value string, most int) (string, error) {
	if !utf8.ValidString(value) {
		return "", fault.New(fault.InvalidRequest, "the text is not UTF-8; send it in UTF-8")
	}
	value = strings.TrimSpace(Visible(value))
	switch {
	case !strings.ContainsFunc(value, func(r rune) bool { return r != ' ' && unicode.IsPrint(r) }):
		return "", fault.New(fault.InvalidRequest, "the text is empty; write at least one character that can be seen")
	case len(value) > most:
		return "", fault.New(fault.InvalidRequest, "the text has %s, and at most %s fit; shorten it",
			ExactSize(int64(len(value))), ExactSize(int64(most)))
	}
	return value, nil
}

// Visible returns a text in normal form C, with line feeds as line ends. It drops what readers do not see and programs
// obey: control characters, marks of direction, invisible spaces and operators, and tags. A joiner stays between
// letters and between emoji, which it joins or keeps apart.
func Visible(value string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if Hidden(r) && !joiner(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(value, "\r\n", "\n")))
	kept := runes[:0]
	for n, r := range runes {
		if joiner(r) && (len(kept) == 0 || !joined(kept[len(kept)-1]) || n+1 == len(runes) || !joined(runes[n+1])) {
			continue
		}
		kept = append(kept, r)
	}
	return norm.NFC.String(string(kept))
}

// hidden are the characters besides control characters that Visible drops, and the joiners.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x200B, Hi: 0x200F, Stride: 1}, // zero width space, joiners, marks of direction
		{Lo: 0x2028, Hi: 0x202E, Stride: 1}, // separators, embeddings and overrides of direction
		{Lo: 0x2060, Hi: 0x2064, Stride: 1}, // word joiner, invisible operators
		{Lo: 0x2066, Hi: 0x2069, Stride: 1}, // isolates of direction
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1}, // byte order mark
		{Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1}, // marks of annotations
	},
	R32: []unicode.Range32{{Lo: 0xE0000, Hi: 0xE007F, Stride: 1}}, // tags
}

// Hidden reports whether Visible drops a character, unless it is a joiner between letters or emoji.
func Hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(hidden, r)
}

// joiner reports whether a character joins or keeps apart the ones around it.
func joiner(r rune) bool { return r == '\u200C' || r == '\u200D' }

// joined reports whether a joiner may stand beside a character: a letter, a mark, or an emoji of those in sequences.
func joined(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) || r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF ||
		r == '↔' || r == '↕' || r == '⬛'
}
