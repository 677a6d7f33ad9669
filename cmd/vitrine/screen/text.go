package screen

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"vitrine/shared/platform/text"
)

// Clean makes one line of an untrusted text. It replaces control characters, escape sequences and marks that change the
// writing direction by U+FFFD.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// steers reports whether a terminal interprets a character instead of showing it.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

var (
	secrets = regexp.MustCompile(`\bap_([a-z]{2})_(production|preview|live)_[A-Za-z0-9._-]+`)
	queries = regexp.MustCompile(`(https?://[^\s?#"'<>]+)[?#][^\s"'<>]*`)
)

// Scrub removes credentials and the signed parts of URLs from a message. Errors should not contain them, so this is a
// second line of defence.
func Scrub(message string) string {
	message = secrets.ReplaceAllString(message, "ap_${1}_[hidden]")
	return queries.ReplaceAllString(message, "${1}[…]")
}

// escapeControls escapes characters that JSON does not escape and a terminal interprets: DEL, the C1 control characters
// and marks of direction. JSON already escapes those below a space, except for the line feed at the end.
func escapeControls(text []byte) []byte {
	var b strings.Builder
	for _, r := range string(text) {
		if r >= 0x7f && steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return []byte(b.String())
}

// Bytes formats a size.
func Bytes(n int64) string { return text.Size(n) }

// Count formats a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(int64(n)) + " " + noun + "s"
}

// Number formats a number for people.
func Number(n int64) string { return text.Number(n) }

// When formats an instant, with the time until then.
func When(t, now time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04 UTC")
	switch ahead := t.Sub(now); {
	case ahead <= 0:
		return text
	case ahead < 2*time.Hour:
		return text + " (in " + Count(int(ahead.Round(time.Minute)/time.Minute), "minute") + ")"
	case ahead < 48*time.Hour:
		return text + " (in " + Count(int(ahead.Round(time.Hour)/time.Hour), "hour") + ")"
	default:
		return text + " (in " + Count(int(ahead.Round(24*time.Hour)/(24*time.Hour)), "day") + ")"
	}
}

func lookup(environ []string, name string) (value string) {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v // the last value counts, as in os/exec
		}
	}
	return value
}
