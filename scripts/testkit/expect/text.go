package expect

import (
	"strings"
	"testing"
)

// Has expects a text that has all parts. What names it. A failure shows its first 3,000 bytes.
func Has(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: lacks %q:\n%.3000s", what, part, text)
		}
	}
}

// Lacks expects a text that has none of the parts.
func Lacks(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s: has %q:\n%.3000s", what, part, text)
		}
	}
}
