package render

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
