package comparison

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Run is a run of words that are in one or both revisions.
type Run struct {
	Op   Op
	Text string
}

// compareWords returns both texts as one, in runs. Two changes with only space between them are joined, so that they
// read as one. If wraps is set, all space counts as equal.
func compareWords(before, after string, wraps bool) []Run {
	from, to := words(before), words(after)
	var out runs
	var at lcs.Diff // the last change
	for _, d := range joined(lcs.DiffLines(folded(from, wraps), folded(to, wraps)), from) {
		out.add(Same, to[at.ReplEnd:d.ReplStart])
		out.add(Removed, from[d.Start:d.End])
		out.add(Added, to[d.ReplStart:d.ReplEnd])
		at = d
	}
	out.add(Same, to[at.ReplEnd:])
	return out
}

// folded returns words with all space made equal if wraps is set.
func folded(words []string, wraps bool) []string {
	if !wraps {
		return words
	}
	out := make([]string, len(words))
	for n, word := range words {
		if out[n] = word; strings.TrimSpace(word) == "" {
			out[n] = " "
		}
	}
	return out
}

type runs []Run

func (r *runs) add(op Op, words []string) {
	if len(words) > 0 {
		*r = append(*r, Run{op, strings.Join(words, "")})
	}
}

// joined joins changes that have only space between them.
func joined(diffs []lcs.Diff, from []string) (out []lcs.Diff) {
	for _, d := range diffs {
		if last := len(out) - 1; last >= 0 && strings.TrimSpace(strings.Join(from[out[last].End:d.Start], "")) == "" {
			out[last].End, out[last].ReplEnd = d.End, d.ReplEnd
			continue
		}
		out = append(out, d)
	}
	return out
}

// words divides a text into words, runs of space, and single characters.
func words(text string) (out []string) {
	for len(text) > 0 {
		first, size := utf8.DecodeRuneInString(text)
		if kind := kindOf(first); kind != sign {
			size = strings.IndexFunc(text, func(r rune) bool { return kindOf(r) != kind })
			if size < 0 {
				size = len(text)
			}
		}
		out = append(out, text[:size])
		text = text[size:]
	}
	return out
}

// The kinds of characters.
const (
	sign = iota // stands for itself
	letter
	space
)

func kindOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return space
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai): // written without spaces
		return sign
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
		return letter
	}
	return sign
}
