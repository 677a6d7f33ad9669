package render

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"vitrine/scripts/testkit/expect"
)

// example is one of the suite that the parser of Markdown has for what GitHub adds to CommonMark.
type example struct{ name, markdown, markup string }

// gitHubExamples reads the suite: cases of a number, perhaps a description and options, Markdown and HTML.
func gitHubExamples(t *testing.T) (out []example) {
	t.Helper()
	const between = "//- - - - - - - - -//\n"
	dir := moduleDir(t, "github.com/yuin/goldmark")
	for _, pattern := range []string{"_test/*.txt", "extension/_test/*.txt"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file is %s in %s (%v)", pattern, dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			expect.OK(t, err)
			of := strings.TrimSuffix(filepath.Base(file), ".txt")
			for c := range strings.SplitSeq(string(text), "//= = = = = = = = = = = = = = = = = = = = = = = =//") {
				part := strings.SplitN(c, between, 3)
				if len(part) != 3 {
					continue
				}
				number, _, _ := strings.Cut(strings.TrimSpace(part[0]), "\n")
				number, _, _ = strings.Cut(number, ":")
				if strings.Contains(part[0], `"enableEscape": true`) {
					part[1], part[2] = unescaped(t, part[1]), unescaped(t, part[2])
				}
				markdown := strings.TrimSuffix(part[1], "\n")
				out = append(out, example{fmt.Sprintf("%s %s", of, number), markdown, part[2]})
			}
		}
	}
	return out
}

// unescaped reads the characters that a case writes as in a string of Go.
func unescaped(t *testing.T, text string) string {
	t.Helper()
	got, err := strconv.Unquote(`"` + strings.NewReplacer(`\"`, `\"`, "\n", `\n`, `"`, `\"`).Replace(text) + `"`)
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return got
}

// TestTheExamplesOfGitHubSurvive passes the suite through what all markup passes, and holds what that takes away.
func TestTheExamplesOfGitHubSurvive(t *testing.T) {
	examples := gitHubExamples(t)
	if len(examples) < 150 {
		t.Fatalf("%d examples", len(examples))
	}
	var got strings.Builder
	for _, e := range examples {
		got.WriteString(losses(t, e.name, e.markdown, e.markup))
	}
	wantGolden(t, "gfm.txt", got.String())
}

// TestPagesHaveTheTextOfGitHubsExamples compares what a page says with what the suite says of the extensions that pages
// have.
func TestPagesHaveTheTextOfGitHubsExamples(t *testing.T) {
	text := func(markup string) string {
		root, err := html.Parse(strings.NewReader(markup))
		expect.OK(t, err)
		var b strings.Builder
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				b.WriteString(n.Data)
			}
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	compared := 0
	for _, e := range gitHubExamples(t) {
		switch of, _, _ := strings.Cut(e.name, " "); of {
		case "table", "strikethrough", "tasklist", "linkify", "footnote":
		default:
			continue
		}
		compared++
		main := mainOf(t, sourceOf("a.md", e.markdown), Query{})
		_, article, _ := strings.Cut(main, "<article")
		if got, want := text("<article"+article), text(e.markup); got != want {
			t.Errorf("%s: the page says %q, not %q", e.name, got, want)
		}
	}
	if compared < 40 {
		t.Errorf("%d examples were compared", compared)
	}
}
