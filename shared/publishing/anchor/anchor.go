// Package anchor holds what a remark is about against the bytes of its file: lines of it, or a quote of what readers see.
package anchor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/feedback"
)

// The longest quote, and the longest text before or after it, in characters.
const (
	maxExact   = 300
	maxContext = 32
)

// Checker implements feedback.Anchors.
type Checker struct{}

var _ feedback.Anchors = Checker{}

// anchor is an anchor that is held against its file.
type anchor feedback.Anchor

// valid checks the shape of an anchor without its file. The failure is invalid_request and says what to write.
func (a anchor) valid() error {
	lines, quotes := a.From != 0 || a.To != 0, a.Exact != "" || a.Prefix != "" || a.Suffix != ""
	switch a.Kind {
	case feedback.OnArtifact, feedback.OnFile:
		if lines || quotes {
			return invalid("an anchor of the kind %s has no other members; leave them out, or choose another kind", a.Kind)
		}
		return nil
	case feedback.OnLines:
		if quotes || a.From < 1 || a.To < a.From {
			return invalid("an anchor of the kind lines has from and to only, with 1 <= from <= to")
		}
		return nil
	case feedback.OnText:
		if lines {
			return invalid("an anchor of the kind text has no lines; leave out from and to")
		}
		return a.validQuote()
	}
	return invalid("the kind of an anchor is artifact, file, lines or text")
}

func (a anchor) validQuote() error {
	length := utf8.RuneCountInString
	switch {
	case !utf8.ValidString(a.Exact + a.Prefix + a.Suffix):
		return invalid("the quote is not UTF-8; send it in UTF-8")
	case fold(a.Exact) == "", length(a.Exact) > maxExact:
		return invalid("exact has 1 to %d characters, at least one of which can be seen; quote a shorter passage", maxExact)
	case max(length(a.Prefix), length(a.Suffix)) > maxContext:
		return invalid("prefix and suffix have at most %d characters each; shorten them or leave them out", maxContext)
	}
	return nil
}

// cleaned returns the anchor with texts of visible characters in one line, as it is stored and shown.
func (a anchor) cleaned() anchor {
	for _, s := range []*string{&a.Exact, &a.Prefix, &a.Suffix} {
		*s = oneLine(*s)
	}
	return a
}

// oneLine returns a text with one space for each run of white space, also at its ends.
func oneLine(s string) string {
	inLine := text.Visible(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s))
	return runs.ReplaceAllString(inLine, " ")
}

func invalid(format string, args ...any) error {
	return fault.New(fault.InvalidRequest, format, args...)
}
