package render

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

// TestRealDocumentsAreNotTooMuch shows the largest documents of the modules and packages that this repository uses: the
// bounds of what a parser may spend refuse none of them.
func TestRealDocumentsAreNotTooMuch(t *testing.T) {
	type found struct {
		file string
		size int64
	}
	most := map[string]int{".md": 150, ".ipynb": 5, ".csv": 5, ".yaml": 5, ".yml": 5, ".json": 5, ".patch": 5, ".diff": 5}
	all := map[string][]found{}
	cache := filepath.Dir(filepath.Dir(filepath.Dir(moduleDir(t, "github.com/yuin/goldmark"))))
	packages := filepath.Join("..", "..", "..", "node_modules") + "/"
	for _, dir := range []string{filepath.Join(cache, "github.com"), packages} {
		_ = filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
			if ext := filepath.Ext(file); err == nil && !d.IsDir() && most[ext] > 0 {
				if info, err := d.Info(); err == nil && info.Size() < limits.RenderedMarkdown {
					all[ext] = append(all[ext], found{file, info.Size()})
				}
			}
			return nil
		})
	}
	count := 0
	for ext, files := range all {
		slices.SortFunc(files, func(a, b found) int { return cmp.Compare(b.size, a.size) })
		for _, f := range files[:min(len(files), most[ext])] {
			text, err := os.ReadFile(f.file)
			expect.OK(t, err)
			if count++; ext == ".md" {
				if why := refusal(t, string(text)); why != "" {
					t.Errorf("%s: %s", f.file, why)
				}
				continue
			}
			page := pageOf(t, sourceOf(filepath.Base(f.file), string(text)), Query{})
			wantInert(t, page)
			wantNot(t, page, "the viewer failed")
			_, notes, _ := strings.Cut(page, `<div class="notes">`)
			notes, _, _ = strings.Cut(notes, "</div>")
			if strings.Contains(notes, "takes more than") || strings.Contains(notes, "it has more than") {
				t.Errorf("%s: %s", f.file, notes)
			}
		}
	}
	if count < 150 {
		t.Errorf("%d documents", count)
	}
}
