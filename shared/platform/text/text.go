// Package text decides what the texts of strangers may hold and how long they may be.
//
// What people type as a name is kept as it is or refused; what a program says about itself is cut and cleaned instead,
// because a person is asked to trust it. Pages replace what disturbs them in both kinds when they show it.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Field is a text that people type, which has at least one character that is no space.
type Field struct {
	Name string // on the wire
	Most int    // characters
}

// The fields.
var (
	Title         = Field{"title", limits.TitleRunes}
	WorkspaceName = Field{"workspace_name", limits.WorkspaceNameRunes}
	KeyName       = Field{"name", limits.KeyNameRunes}
	Reason        = Field{"reason_code", limits.ReasonRunes} // why an operator locked something
)

// Clean returns a value without the spaces around it; invalid_request if it is empty or too long then.
func (f Field) Clean(value string) (string, error) {
	value = strings.TrimSpace(value)
	if n := utf8.RuneCountInString(value); n < 1 || n > f.Most {
		return value, fault.New(fault.InvalidRequest, "%s must have 1 to %d characters", f.Name, f.Most)
	}
	return value, nil
}

// ClientName returns the name that an OAuth client registers with, as OneLine has it, and whether it is short enough.
// A client may have no name.
func ClientName(name string) (string, bool) {
	name = OneLine(name)
	return name, utf8.RuneCountInString(name) <= limits.ClientNameRunes
}

// What programs say about themselves is cut at these numbers of characters.
const (
	maxDeviceNameRunes = 64
	maxBrowserRunes    = 200
)

// DeviceName returns the name that a device gives itself, as OneLine has it, cut at maxDeviceNameRunes.
func DeviceName(name string) string {
	return strings.TrimSpace(Cut(OneLine(name), maxDeviceNameRunes))
}

// Browser returns what a browser says about itself, its User-Agent, without what is not printable, cut at
// maxBrowserRunes.
func Browser(agent string) string {
	return Cut(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(agent, "")), maxBrowserRunes)
}

// OneLine returns a text as one line of words with single spaces, without what is invisible or turns the direction of
// writing.
func OneLine(text string) string {
	visible := strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(visible), " ")
}

// Cut returns the first characters of a text, at most so many.
func Cut(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}

// Identifier reports whether a text is UTF-8 of printable characters without spaces. Subjects and addresses of identity
// providers are, so that they neither deceive people nor break lines.
func Identifier(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
}

// LowerASCII returns a text with its ASCII letters in lower case. Other letters stay, because the lower case of some is
// ASCII: an address would become that of another mailbox.
func LowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
