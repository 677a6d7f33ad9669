package media

import (
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestTheServedTypeComesFromTheExtension(t *testing.T) {
	for _, tt := range []struct {
		path, want string
		attachment bool
	}{
		{"a/index.HTML", "text/html; charset=utf-8", false},
		{"app.mjs", "application/javascript; charset=utf-8", false},
		{"data.csv", "text/csv; charset=utf-8", false},
		{"feed.xml", "text/plain; charset=utf-8", false},
		{"p.avif", "image/avif", false},
		{"m.wasm", "application/wasm", false},
		{"paper.pdf", "application/pdf", true},
		{"archive.tar.gz", "application/octet-stream", true},
		{"Makefile", "application/octet-stream", true},
		{"x.html/y", "application/octet-stream", true},
	} {
		if got := Of(tt.path); got.ContentType != tt.want || got.Attachment != tt.attachment {
			t.Errorf("%s: %+v", tt.path, got)
		}
	}
}

func TestTheRenderModeIsInferredFromTheEntrypoint(t *testing.T) {
	expect.Results(t, ModeOf, map[string]Mode{
		"index.htm": HTML,
		"README.md": Markdown,
		"notes.txt": Text,
		"a.SVG":     Image,
		"a.ogg":     Audio,
		"a.mov":     Video,
		"a.pdf":     HTML,
		"LICENSE":   HTML,
	})
}

func TestViewsGoByThePath(t *testing.T) {
	expect.Results(t, ViewOf, map[string]View{
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
	})
}

func TestTextIsThatOfMarkdownTablesAndNotebooks(t *testing.T) {
	for path, want := range map[string]bool{"a.md": true, "a.csv": true, "a.ipynb": true, "a.txt": false, "a.json": false, "a.html": false} {
		if HasText(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
