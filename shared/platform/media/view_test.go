package media

import "testing"

func TestViewsGoByThePath(t *testing.T) {
	for path, want := range map[string]View{
		"README.MD":        MarkdownView,
		"a/main.go":        CodeView,
		"Makefile":         CodeView,
		"a/LICENSE":        CodeView,
		"build.log":        LogView,
		"a.tsv":            TableView,
		"a.jsonl":          TableView,
		"a.yml":            DataView,
		"a.ipynb":          NotebookView,
		"a.diff":           PatchView,
		"a.svg":            ImageView,
		"a.mov":            VideoView,
		"a.m4a":            AudioView,
		"index.html":       NoView,
		"a.htm":            NoView,
		"a.pdf":            PDFView,
		"a.zip":            NoView,
		"README.md/x":      NoView,
		"a.woff2":          NoView,
		"":                 NoView,
		".gitignore":       CodeView,
		"a.tar.gz":         NoView,
		"strange.md.exe":   NoView,
		"Dockerfile":       CodeView,
		"dir.md/index.txt": CodeView,
	} {
		if got := ViewOf(path); got != want {
			t.Errorf("%s is shown as %q, want %q", path, got, want)
		}
	}
}

func TestTextIsThatOfMarkdownTablesAndNotebooks(t *testing.T) {
	for path, want := range map[string]bool{"a.md": true, "a.csv": true, "a.ipynb": true, "a.txt": false, "a.json": false, "a.html": false} {
		if HasText(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
