// Package text decides what texts of strangers may contain and how long they may be.
//
// A name that a person types is kept as it is or refused. A name that a program gives itself is cut and cleaned
// instead, because a person is asked to trust the program. Pages clean both kinds again when they show them.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Field is a text that people type. It has at least one character besides spaces.
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

// Clean returns a value without the spaces around it. It fails with invalid_request if the rest is empty or too long.
func (f Field) Clean(value string) (string, error) {
	value = strings.TrimSpace(value)
	if n := utf8.RuneCountInString(value); n < 1 || n > f.Most {
		return value, fault.New(fault.InvalidRequest, "%s must have 1 to %d characters", f.Name, f.Most)
	}
	return value, nil
}

// ClientName applies OneLine to the name that an OAuth client registers, and reports whether the result is short
// enough. The name may be empty.
func ClientName(name string) (string, bool) {
	name = OneLine(name)
	return name, utf8.RuneCountInString(name) <= limits.ClientNameRunes
}

// DeviceName applies OneLine to the name that a device gives itself, and cuts it at maxDeviceNameRunes.
// What programs say about themselves is cut at these numbers of characters.
const (
	maxDeviceNameRunes = 64
	maxBrowserRunes    = 200
)

func DeviceName(name string) string {
	return strings.TrimSpace(Cut(OneLine(name), maxDeviceNameRunes))
}

// Browser returns the printable characters of a browser's User-Agent, cut at maxBrowserRunes.
func Browser(agent string) string {
	return Cut(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(agent, "")), maxBrowserRunes)
}

// OneLine returns a text as one line with single spaces between words. It drops invisible characters and those that
// change the direction of writing.
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

// Cut returns the first most characters of a text.
func Cut(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}

// Clip returns the first whole characters of a text, at most n bytes.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Identifier reports whether a text is UTF-8 of printable characters without spaces. Subjects and addresses from
// identity providers must be, so that they neither deceive people nor break lines.
func Identifier(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) })
}

// LowerASCII returns a text with its ASCII letters in lower case. Other letters stay, because some of them have an
// ASCII letter as lower case: an address would become that of another mailbox.
func LowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
