package pages

import (
	"fmt"
	"html/template"
	"strings"
	"time"
	"unicode"
)

// functions are the functions of the templates.
var functions = template.FuncMap{
	"asset":   AssetPath,
	"plain":   Plain,
	"visible": Visible,
	"size":    size,
	"most":    most,
	"span":    Span,
	"life":    Life,
	"wait":    Wait,
	"utc":     utc,
	"ago":     func(at time.Time) string { return utc(at) }, // places replaces it, and the next
	"site":    func() Site { return Site{} },
	"machine": machine,
	"plural":  plural,
	"command": func(id, text string) command { return command{id, text} },
}

// command is a command line with a button that copies it; ID is that of its element.
type command struct{ ID, Text string }

// maxShownRunes is how much of a user-controlled text a page shows.
const maxShownRunes = 200

// Plain returns a user-controlled text as a page shows it. It replaces characters that are invisible, break lines or
// change the writing direction, so that one name cannot pass for another, and cuts long text.
func Plain(text string) string {
	shown, n := strings.Builder{}, 0
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if n++; n > maxShownRunes {
			shown.WriteRune('…')
			break
		}
		if disturbs(r) {
			r = '\uFFFD'
		}
		shown.WriteRune(r)
	}
	if strings.TrimSpace(shown.String()) == "" {
		return "(no name)"
	}
	return shown.String()
}

// The format characters that some scripts and emoji need, or that hyphenate. They hide no text and do not change its
// direction.
const softHyphen, zeroWidthNonJoiner, zeroWidthJoiner = '\u00AD', '\u200C', '\u200D'

// disturbs reports whether a character is invisible, breaks lines or changes the writing direction. exhibit.js decides
// it the same way.
func disturbs(r rune) bool {
	switch r {
	case softHyphen, zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) // these are visible
}

// size formats a number of bytes in the decimal units of the viewer.
func size(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n)/1000, 0
	for ; value >= 999.5 && unit < 3; unit++ { // 999.5 would be rounded to 1000
		value /= 1000
	}
	text := fmt.Sprintf("%.1f", value)
	if value >= 10 {
		text = fmt.Sprintf("%.0f", value)
	}
	return strings.TrimSuffix(text, ".0") + " " + []string{"kB", "MB", "GB", "TB"}[unit]
}

// most formats a limit in bytes, which is usually a round number of binary units.
func most(n int64) string {
	const mebi = 1 << 20
	if n%mebi == 0 {
		return fmt.Sprintf("%d MiB", n/mebi)
	}
	return size(n)
}

// Span formats a duration.
func Span(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if d >= unit.length && d%unit.length == 0 {
			return plural(int(d/unit.length), unit.name)
		}
	}
	return plural(int(d/time.Second), "second")
}

// Life formats how long artifacts last; zero: they do not expire.
func Life(d time.Duration) string {
	if d == 0 {
		return "forever"
	}
	return Span(d)
}

// Wait formats how long a person has to wait, rounded up.
func Wait(d time.Duration) string {
	unit, name := time.Second, "second"
	switch {
	case d > 90*time.Minute:
		unit, name = time.Hour, "hour"
	case d > 90*time.Second:
		unit, name = time.Minute, "minute"
	}
	return plural(int(max(1, (d+unit-1)/unit)), name)
}

// ago formats an instant as people speak of it: relative to now up to a month, then as a date.
func ago(at, now time.Time) string {
	d := now.Sub(at)
	form := "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	switch {
	case d < 45*time.Second:
		return "just now"
	case d < 90*time.Minute:
		return fmt.Sprintf(form, plural(max(1, int(d.Round(time.Minute)/time.Minute)), "minute"))
	case d < 36*time.Hour:
		return fmt.Sprintf(form, plural(int(d.Round(time.Hour)/time.Hour), "hour"))
	case d < 31*24*time.Hour:
		return fmt.Sprintf(form, plural(int(d.Round(24*time.Hour)/(24*time.Hour)), "day"))
	}
	return at.UTC().Format("2 January 2006")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func utc(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }
