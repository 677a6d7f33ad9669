package render

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"vitrine/shared/platform/text"
)

// text8 returns a text as UTF-8 without a byte order mark. It replaces bytes that are not UTF-8.
func text8(b []byte) []byte {
	return bytes.ToValidUTF8(bytes.TrimPrefix(b, []byte("\uFEFF")), []byte("\uFFFD"))
}

// clip returns at most n bytes of a text, in whole runes, and an ellipsis if the text is longer.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return text.Clip(s, n) + "…"
}

// size returns a number of bytes in words.
func size(n int64) string { return text.Size(n) }

// lines finds the line of a position in a text.
type lines struct{ starts []int }

func newLines(text []byte) lines {
	l := lines{starts: []int{0}}
	for i, c := range text {
		if c == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// at returns the number of the line at a position, from 1.
func (l lines) at(position int) int {
	i, found := slices.BinarySearch(l.starts, position)
	if found {
		return i + 1
	}
	return i
}

// trimRune removes an incomplete rune at the end of a text that was cut at any byte.
func trimRune(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
