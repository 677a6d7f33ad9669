package edit

import (
	"strings"
	"testing"

	"vitrine/shared/platform/limits"
)

// BenchmarkHostileEdits applies what takes long: as many edits of long texts as are allowed.
func BenchmarkHostileEdits(b *testing.B) {
	long := strings.Repeat("a", limits.Text-8)
	tail := strings.Repeat("a", 1000) + "b"
	for name, c := range map[string]struct {
		text        string
		edits       int
		old, change string
		all         bool
	}{
		"one at the end":    {long + "b", 32, "b", "b", false},
		"a near match":      {long + "b", 32, tail, tail, false},
		"a long near match": {long + "b", 32, long[:limits.Text/2] + "b", long[:limits.Text/2] + "b", false},
		"one at the start":  {"b" + long, 32, "b" + long[:1000], "b" + long[:1000], false},
		"many short parts":  {long[:1<<14], 100, "a", "aa", true},
		"many parts":        {long[:1<<20], 2, "a", "c", true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			edits := make([]Replacement, c.edits)
			for n := range edits {
				edits[n] = Replacement{Old: c.old, New: c.change, All: c.all}
			}
			for b.Loop() {
				replaceAll(c.text, edits)
			}
		})
	}
}
