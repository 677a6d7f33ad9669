package render

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

var world = flag.String("world", "", "folders, with colons between them, whose files TestFilesOfTheWorldAreRendered shows")

// TestFilesOfTheWorldAreRendered shows files of the modules and packages that this repository uses, or all files of the
// folders that -world names.
func TestFilesOfTheWorldAreRendered(t *testing.T) {
	if *world != "" {
		for _, dir := range strings.Split(*world, ":") {
			showWorld(t, dir)
		}
		return
	}
	const each = 12 // files of an extension, of a folder of many
	cache := filepath.Dir(filepath.Dir(filepath.Dir(moduleDir(t, "github.com/yuin/goldmark"))))
	root := filepath.Join("..", "..", "..", "node_modules")
	for _, ext := range []string{
		".md", ".json", ".yaml", ".yml", ".csv", ".patch", ".diff", ".svg", ".go", ".ts", ".txt", ".ipynb",
	} {
		seen := 0
		for _, dir := range []string{filepath.Join(cache, "github.com"), root} {
			_ = filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() || filepath.Ext(file) != ext {
					return nil
				}
				info, err := d.Info()
				if err != nil || info.Size() > 200_000 || info.Size() < 300 {
					return nil
				}
				text, err := os.ReadFile(file)
				if err != nil {
					return nil
				}
				if wantShown(t, file, string(text)); t.Failed() {
					t.Fatal(file)
				}
				if seen++; seen%each == 0 {
					return filepath.SkipAll
				}
				return filepath.SkipDir // one of each folder
			})
		}
		t.Logf("%d files %s", seen, ext)
	}
}

// TestRealDocumentsAreNotTooMuch shows the largest documents of the modules and packages that this repository uses: the
// bounds of what a parser may spend refuse none of them.
func TestRealDocumentsAreNotTooMuch(t *testing.T) {
	type found struct {
		file string
		size int64
	}
	most := map[string]int{".md": 150, ".ipynb": 20, ".csv": 20, ".yaml": 20, ".yml": 20, ".json": 10, ".patch": 20, ".diff": 20}
	all := map[string][]found{}
	cache := filepath.Dir(filepath.Dir(filepath.Dir(moduleDir(t, "github.com/yuin/goldmark"))))
	for _, dir := range []string{filepath.Join(cache, "github.com"), filepath.Join("..", "..", "..", "node_modules") + "/"} {
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
			if err != nil {
				t.Fatal(err)
			}
			if count++; ext == ".md" {
				if why := refusal(t, string(text)); why != "" {
					t.Errorf("%s: %s", f.file, why)
				}
				continue
			}
			var page strings.Builder
			if err := New().Page(t.Context(), &page, sourceOf(filepath.Base(f.file), string(text)), Query{}); err != nil {
				t.Fatal(err)
			}
			_, notes, _ := strings.Cut(page.String(), `<div class="notes">`)
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

// wantShown checks that the view of a file shows it, inert.
func wantShown(t *testing.T, file, text string) string {
	t.Helper()
	page := pageOf(t, sourceOf(filepath.Base(file), text), Query{})
	wantInert(t, page)
	wantNot(t, page, "the viewer failed", "it takes too long")
	return page
}

// showWorld shows all files of a folder that have a view, and names those that took longest and those that fell back.
func showWorld(t *testing.T, dir string) {
	type shown struct {
		took time.Duration
		file string
	}
	var all []shown
	counts := map[media.View]int{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		view := media.ViewOf(file)
		if err != nil || !d.Type().IsRegular() || view == media.NoView {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		at := time.Now()
		page := wantShown(t, file, string(text))
		all = append(all, shown{time.Since(at), file})
		counts[view]++
		if strings.Contains(page, "This file cannot be shown as") || strings.Contains(page, "Formulas that are shown as text") {
			_, notes, _ := strings.Cut(page, `<div class="notes">`)
			notes, _, _ = strings.Cut(notes, "</div>")
			t.Logf("%s: %s", file, notes)
		}
		if t.Failed() {
			t.Fatal(file)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d files of %s (%v)", len(all), dir, err)
	}
	slices.SortFunc(all, func(a, b shown) int { return int(b.took - a.took) })
	t.Logf("%d files of %s: %v", len(all), dir, counts)
	for _, s := range all[:min(len(all), 10)] {
		t.Logf("%7d ms %s", s.took.Milliseconds(), s.file)
	}
}
