package text

import (
	"strings"
	"testing"
)

func TestAMessageIsLinesOfVisibleText(t *testing.T) {
	for given, want := range map[string]string{
		"":                            "",
		" \r\n\t\n":                   "",
		"one":                         "one",
		"\n\n  one  two\r\nthree\r\n": "one two\nthree",
		"one\n\ntwo":                  "one\n\ntwo",
		"gpj\u202eexe\u2066\x00\x1b[": "gpjexe [",
		"<b>&amp;</b>":                "<b>&amp;</b>",
		"not \xff UTF-8":              "not UTF-8",
	} {
		if got, ok := Message(given, 100); got != want || !ok {
			t.Errorf("%q becomes %q, not %q; it fits: %t", given, got, want, ok)
		}
	}
	for given, fits := range map[string]bool{
		strings.Repeat("é", 10):            true,
		strings.Repeat("é", 10) + "\u200b": true, // it is counted without what is left out
		strings.Repeat("é", 11):            false,
	} {
		if _, ok := Message(given, 10); ok != fits {
			t.Errorf("%q fits: %t", given, ok)
		}
	}
}

func TestAnEmailAddressStandsAlone(t *testing.T) {
	for given, want := range map[string]bool{
		"ada@example.test":                true,
		"  ada@example.test ":             true,
		"ada+report@example.test":         true,
		"":                                false,
		"ada":                             false,
		"ada@":                            false,
		"@example.test":                   false,
		"Ada <ada@example.test>":          false,
		"<ada@example.test>":              false,
		"ada@example.test, eve@evil.com":  false,
		"ada@example.test\nBcc: e@e.e":    false,
		"\"a b\"@example.test":            false,
		"a\u202ea@example.test":           false,
		strings.Repeat("a", 251) + "@e.e": false,
		"a@b@c":                           false,
	} {
		got, ok := Email(given)
		if ok != want || ok && got != strings.TrimSpace(given) {
			t.Errorf("%q becomes %q; it is an address: %t", given, got, ok)
		}
	}
}
