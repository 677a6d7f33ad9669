package lint

import (
	"strings"
	"testing"
)

func TestTitleIsWhatThePageCallsItself(t *testing.T) {
	for _, tt := range []struct{ path, body, want string }{
		{"index.html", "<!doctype html><title>\n Q3 &amp; Q4\u200b </title><h1>No</h1>", "Q3 & Q4"},
		{"index.html", "<svg><title>Icon</title></svg><title>Page</title>", "Page"},
		{"index.html", "<title></title><h1>Only a heading</h1>", ""},
		{"index.html", "<!-- <title>No</title> --><p>text", ""},
		{"index.html", "<title>" + strings.Repeat("é", 200) + "</title>", strings.Repeat("é", 160)},
		{"a.md", "---\nlayout: post\ntitle: Results of May # draft\n---\n# Other", "Results of May"},
		{"a.md", "---\r\ntitle: \"C# and: more\"\r\n---\r\n", "C# and: more"},
		{"a.md", "---\ntitle: 'One'\n---\n", "One"},
		{"a.md", "---\ntitle: >\n  folded\n---\n# Heading", "Heading"},
		{"a.md", "---\ntitle: never closed\n\n# Heading", "Heading"},
		{"a.md", "text\n\n## The **first** [one](x) `now` ##\n# Second", "The first one now"},
		{"a.md", "```sh\n# a comment\n```\n\nTitle here\n===\n", "Title here"},
		{"a.md", "![badge](b.svg)\n# ![logo](l.png)\n# <b>Name</b> &amp; more", "Name & more"},
		{"a.md", "\n---\n\nno heading, a #hash", ""},
		{"notes.txt", "# Text", ""},
	} {
		if got := Title(tt.path, []byte(tt.body)); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.path, tt.body, got, tt.want)
		}
	}
}
