package anchor

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/prose"
)

// Reads implements feedback.Anchors.
func (Checker) Reads(a feedback.Anchor, size int64) bool {
	return (a.Kind == feedback.OnLines || a.Kind == feedback.OnText) && size <= prose.Most
}

// Check implements feedback.Anchors. The kinds artifact and file need no file. The message of a failure begins with
// anchor_not_found if the file does not have what the anchor names, and says what to do. A quote that is not in a page with
// scripts is no failure, because scripts write text, too.
func (Checker) Check(of feedback.Anchor, s feedback.Source) (feedback.Anchor, error) {
	a := anchor(of)
	err := a.valid()
	if err != nil {
		return feedback.Anchor{}, err
	}
	a = a.cleaned()
	switch a.Kind {
	case feedback.OnLines:
		a.Verified, err = a.findLines(s)
	case feedback.OnText:
		a.Verified, err = a.findQuote(s)
	default:
		a.Verified = true
	}
	return feedback.Anchor(a), err
}

// findLines fails if the file is no text or ends before the last line of the anchor.
func (a anchor) findLines(s feedback.Source) (found bool, err error) {
	source, err := prose.Source(s.Body)
	if err != nil || s.Size > prose.Most {
		return false, unreadable(cmp.Or(err, prose.ErrLarge))
	}
	count := bytes.Count(source, []byte("\n"))
	if len(source) > 0 && source[len(source)-1] != '\n' {
		count++
	}
	if a.To > count {
		return false, missing("the last line of the file is %d; name lines up to it, or use the kind file", count)
	}
	return true, nil
}

// findQuote reports whether the quote is in the file, between its prefix and suffix. Not finding it is a failure unless
// the file is a page with scripts.
func (a anchor) findQuote(s feedback.Source) (found bool, err error) {
	p, err := prose.Of(s.Path, s.Body)
	if err != nil || s.Size > prose.Most {
		return false, unreadable(cmp.Or(err, prose.ErrLarge))
	}
	if found = strings.Contains(fold(p.Text), fold(a.Prefix+a.Exact+a.Suffix)); found || p.Scripts {
		return found, nil
	}
	return false, missing("readers of the file do not see this quote between this prefix and suffix; copy the quote " +
		"from the page without markup, leave prefix and suffix out, or use the kind lines or file")
}

func unreadable(why error) error {
	return missing("the file cannot be searched, because %v; use the kind file", why)
}

func missing(format string, args ...any) error {
	return fault.New(fault.InvalidRequest, "anchor_not_found: "+format, args...)
}

var runs = regexp.MustCompile(` {2,}`)

// fold makes equal what looks equal in a quote and in the text that has it: white space, normal forms, and characters
// that only tell where a word may break or how its letters join.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			gap = true
		case r == '\u00AD', text.Hidden(r):
		default:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}
