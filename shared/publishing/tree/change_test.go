package tree

import (
	"fmt"
	"slices"
	"testing"
)

func TestChangesPairEqualFiles(t *testing.T) {
	file := func(path, body string) File {
		return File{Path: path, Size: int64(len(body)), SHA256: DigestOf(body)}
	}
	for name, c := range map[string]struct {
		from, to Tree
		want     []string
	}{
		"equal trees":  {Tree{file("a", "1")}, Tree{file("a", "1")}, nil},
		"other bytes":  {Tree{file("a", "1")}, Tree{file("a", "2")}, []string{"changed a a"}},
		"a new file":   {nil, Tree{file("a", "1")}, []string{"added - a"}},
		"a file less":  {Tree{file("a", "1")}, nil, []string{"removed a -"}},
		"another path": {Tree{file("a", "1")}, Tree{file("b", "1")}, []string{"renamed a b"}},
		"one of two equal files under two other paths": {
			Tree{file("a", "1"), file("b", "1")}, Tree{file("b", "1"), file("c", "1"), file("d", "1")},
			[]string{"renamed a c", "added - d"},
		},
		"an empty file under another path": {
			Tree{file("a", "")}, Tree{file("b", "")}, []string{"removed a -", "added - b"},
		},
	} {
		var got []string
		for _, c := range Changes(c.from, c.to) {
			got = append(got, fmt.Sprint(c.Kind, " ", pathOf(c.From), " ", pathOf(c.To)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Changes of %s = %q, want %q", name, got, c.want)
		}
	}
}

func pathOf(f *File) string {
	if f == nil {
		return "-"
	}
	return f.Path
}
