package comparison

import (
	"fmt"
	"strings"
	"testing"
)

// marked writes runs as people mark them by hand.
func marked(runs []Run) string {
	var out strings.Builder
	for _, r := range runs {
		around := [][2]string{{"", ""}, {"[-", "-]"}, {"[+", "+]"}}[r.Op]
		out.WriteString(around[0] + r.Text + around[1])
	}
	return out.String()
}

func TestMarkdownIsDividedIntoBlocks(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                  {"", ""},
		"paragraphs":               {"one\ntwo\n\nthree", "1 paragraph: one|two; 4 paragraph: three"},
		"blank lines with spaces":  {"one\n \t\ntwo\n", "1 paragraph: one; 3 paragraph: two"},
		"other line ends":          {"one\r\n\r\ntwo\r\n", "1 paragraph: one; 3 paragraph: two"},
		"a heading ends a text":    {"text\n# Title\nmore", "1 paragraph: text; 2 heading: # Title; 3 paragraph: more"},
		"a tag is no heading":      {"#tag\n####### seven", "1 paragraph: #tag|####### seven"},
		"items":                    {"- one\n  goes on\n- two\n1. three\n2) four", "1 list item: - one|  goes on; 3 list item: - two; 4 list item: 1. three; 5 list item: 2) four"},
		"emphasis is no item":      {"*so* it is\n-5 degrees\n2026. was", "1 paragraph: *so* it is|-5 degrees; 3 list item: 2026. was"},
		"quotes":                   {"> one\nlazy\n\n> two", "1 quote: > one|lazy; 4 quote: > two"},
		"a table":                  {"text\n| a | b |\n|---|---|", "1 paragraph: text; 2 table: | a | b |||---|---|"},
		"a fence holds everything": {"```go\n# no\n\n- no\n```\nafter", "1 code: ```go|# no||- no|```; 6 paragraph: after"},
		"a longer fence":           {"````\n```\n````\nx", "1 code: ````|```|````; 4 paragraph: x"},
		"other fences":             {"~~~\n```\n~~~\nx", "1 code: ~~~|```|~~~; 4 paragraph: x"},
		"a fence without an end":   {"```\na\n\nb", "1 code: ```|a||b"},
		"code in a line":           {"```x``` is code", "1 paragraph: ```x``` is code"},
		"an indented fence":        {"    ```\n\n# t", "1 paragraph:     ```; 3 heading: # t"},
	} {
		var got []string
		for _, b := range blocks(c.text) {
			got = append(got, fmt.Sprintf("%d %s: %s", b.line, b.kind, strings.ReplaceAll(b.text, "\n", "|")))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, c.want)
		}
	}
	for name, text := range map[string]string{
		"bytes": strings.Repeat("word ", 4000), "lines": strings.Repeat("word\n", 1000), "code": "```\n" + strings.Repeat("\n", 1000),
		"long lines": strings.Repeat(strings.Repeat("x", 8000)+"\n", 3),
	} {
		var whole []string
		for _, b := range blocks(text) {
			if whole = append(whole, b.text); strings.Count(b.text, "\n") >= maxBlockLines {
				t.Errorf("%s: a block has %d lines", name, strings.Count(b.text, "\n"))
			}
		}
		if strings.Join(whole, "\n") != strings.TrimSuffix(text, "\n") {
			t.Errorf("%s: the blocks are not the text", name)
		}
	}
}

func TestChangedWordsAreMarked(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"a word":            {"the cat sat", "the dog sat", "the [-cat-][+dog+] sat"},
		"words in a row":    {"a b c d", "a x y d", "a [-b c-][+x y+] d"},
		"added":             {"one three", "one two three", "one[+ two+] three"},
		"removed":           {"one two three", "one three", "one[- two-] three"},
		"a sign":            {"so, it is.", "so; it is!", "so[-,-][+;+] it is[-.-][+!+]"},
		"wrapped otherwise": {"one two\nthree", "one\ntwo three", "one\ntwo three"},
		"signs of Han":      {"今天好", "明天好", "[-今-][+明+]天好"},
		"marks":             {"café", "cafe\u0301", "[-café-][+cafe\u0301+]"},
		"nothing":           {"", "new", "[+new+]"},
		"markup":            {"<b>", "<i>", "<[-b-][+i+]>"},
	} {
		if got := marked(compareWords(c.before, c.after, true)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := marked(compareWords("a\n b", "a\nb", false)); got != "a[-\n -][+\n+]b" {
		t.Errorf("in code: %q", got)
	}
}

func TestMarkdownIsComparedByBlock(t *testing.T) {
	text := "# Title\n\nThe first paragraph has many words.\n\n- one\n- two\n\nThe last.\n"
	for name, c := range map[string]struct{ before, after, want string }{
		"a word": {
			text, strings.Replace(text, "many", "few", 1),
			"changed paragraph 3 3 after 1: The first paragraph has [-many-][+few+] words.",
		},
		"a new item":     {text, strings.Replace(text, "- two", "- and\n- two", 1), "added list item 0 6 after 3: [+- and+]"},
		"a removed item": {text, strings.Replace(text, "- one\n", "", 1), "removed list item 5 0 after 2: [-- one-]"},
		"another text": {
			text, strings.Replace(text, "The first paragraph has many words.", "Nothing like it.", 1),
			"removed paragraph 3 0 after 1: [-The first paragraph has many words.-]; added paragraph 0 3 after 0: [+Nothing like it.+]",
		},
		"another kind": {"words that stay", "> words that stay", "removed paragraph 1 0 after 0: [-words that stay-]; added quote 0 1 after 0: [+> words that stay+]"},
		"two places": {
			text, strings.Replace(strings.Replace(text, "Title", "Name of it", 1), "last", "end", 1),
			"removed heading 1 0 after 0: [-# Title-]; added heading 0 1 after 0: [+# Name of it+]; changed paragraph 8 8 after 3: The [-last-][+end+].",
		},
		"wrapped otherwise": {"one two\nthree", "one\ntwo three", ""},
		"code is not":       {"```\na\n b\n```", "```\na\nb\n```", "changed code 1 1 after 0: ```\na[-\n -][+\n+]b\n```"},
		"it is new":         {"", "# A\n\nb", "added heading 0 1 after 0: [+# A+]; added paragraph 0 3 after 0: [+b+]"},
		"one before another": {
			"alpha beta gamma", "# New\n\nalpha beta delta",
			"changed paragraph 1 3 after 0: alpha beta [-gamma-][+delta+]",
		},
	} {
		var got []string
		for _, b := range compareBlocks(c.before, c.after) {
			got = append(got, fmt.Sprintf("%s %s %d %d after %d: %s",
				[]string{"same", "removed", "added", "changed"}[b.Op], b.Kind, b.From, b.To, b.Skipped, marked(b.Runs)))
		}
		if name == "one before another" { // what is added before it comes first
			got = got[1:]
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, c.want)
		}
	}
}
