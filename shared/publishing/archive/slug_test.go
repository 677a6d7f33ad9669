package archive

import (
	"strings"
	"testing"
)

func TestASlugIsSafeAndTellsTheTitle(t *testing.T) {
	for title, want := range map[string]string{
		"Tide Tables, 2026":      "tide-tables-2026",
		"  ../../etc/passwd ":    "etc-passwd",
		"Größe & Maß":            "größe-maß",
		"日本の地図":                  "日本の地図",
		"photo\u202egpj.exe":     "photo-gpj-exe",
		"":                       "untitled",
		"---":                    "untitled",
		"CON":                    "con", // an id follows, so that it is no device
		strings.Repeat("a", 200): strings.Repeat("a", 48),
		strings.Repeat("é", 200): strings.Repeat("é", 24),
	} {
		if got := Slug(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
