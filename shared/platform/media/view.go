package media

import (
	"path"
	"strings"
)

// View is how the page of a file shows the file.
type View string

// The views. A file with NoView may still be shown as text if it is text.
const (
	NoView        View = ""
	MarkdownView  View = "markdown"
	CodeView      View = "code"
	LogView       View = "log"
	TableView     View = "table"
	DataView      View = "data"
	NotebookView  View = "notebook"
	PatchView     View = "patch"
	ImageView     View = "image"
	AudioView     View = "audio"
	VideoView     View = "video"
	PDFView       View = "PDF"
	DirectoryView View = "directory"
)

var views = map[View][]string{
	MarkdownView: {"md", "markdown", "mdown", "mkd"},
	TableView:    {"csv", "tsv", "jsonl", "ndjson"},
	DataView:     {"json", "map", "geojson", "webmanifest", "yaml", "yml"},
	NotebookView: {"ipynb"},
	PatchView:    {"diff", "patch"},
	LogView:      {"log", "ansi", "out"},
	ImageView:    {"png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico"},
	AudioView:    {"mp3", "wav", "m4a", "ogg"},
	PDFView:      {"pdf"},
	VideoView:    {"mp4", "webm", "mov"},
	CodeView: {
		"txt", "text", "xml", "css", "js", "mjs", "cjs", "jsx", "ts", "tsx", "vue", "svelte", "scss", "sass", "less",
		"go", "mod", "sum", "rs", "py", "pyi", "rb", "java", "kt", "kts", "scala", "clj", "groovy", "gradle", "c", "h",
		"cc", "cpp", "cxx", "hpp", "hh", "cs", "fs", "vb", "swift", "m", "mm", "php", "pl", "pm", "lua", "r", "jl", "dart",
		"ex", "exs", "erl", "hs", "ml", "mli", "elm", "nim", "zig", "v", "sv", "vhd", "asm", "s", "sol", "sh", "bash",
		"zsh", "fish", "ps1", "bat", "cmd", "sql", "graphql", "gql", "proto", "thrift", "toml", "ini", "cfg", "conf",
		"properties", "env", "tf", "hcl", "nix", "cmake", "mk", "dockerfile", "tex", "bib", "rst", "adoc", "org", "vim",
		"el", "lisp", "scm", "awk", "sed", "xsl", "xsd", "plist", "srt", "vtt", "eml", "lock", "gitignore", "editorconfig",
	},
}

var viewOf = func() map[string]View {
	all := map[string]View{}
	for view, extensions := range views {
		for _, e := range extensions {
			all[e] = view
		}
	}
	return all
}()

// textNames are the names of files that are text but have no telling extension.
var textNames = map[string]bool{
	"dockerfile": true, "makefile": true, "license": true, "readme": true, "notice": true, "authors": true,
	"changelog": true, "copying": true, "jenkinsfile": true, "gemfile": true, "rakefile": true, "procfile": true,
}

// ViewOf returns how the page of a file shows it, or NoView if the path does not tell. HTML has no page, because
// browsers show its own bytes.
func ViewOf(file string) View {
	if v, ok := viewOf[extension(file)]; ok {
		return v
	}
	if textNames[strings.ToLower(path.Base(file))] {
		return CodeView
	}
	return NoView
}

// HasText reports whether the page of a file has a plain text form that differs from the file in bytes or media type.
// Markdown, tables and notebooks have one.
func HasText(file string) bool {
	switch ViewOf(file) {
	case MarkdownView, TableView, NotebookView:
		return true
	}
	return false
}

// IsText reports whether the page of a file shows it as text, even if browsers save the file itself.
func IsText(file string) bool {
	switch ViewOf(file) {
	case MarkdownView, CodeView, LogView, TableView, DataView, NotebookView, PatchView:
		return true
	}
	return false
}
