package render

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"vitrine/scripts/testkit/expect"
)

var update = flag.Bool("update", false, "write the golden list anew")

// moduleDir returns where the module cache has a module.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}

// why says for everything that a page takes away from the examples of the specification and of GitHub's additions, why
// it does.
var why = map[string]string{
	"a[href]":     "it leads to what the revision does not hold, or by a scheme other than http, https and mailto",
	"img":         "the revision does not hold it: its description stays",
	"a[title]":    "an element a without an address or a class says nothing",
	"script":      "it would run",
	"style":       "it would restyle the page",
	"textarea":    "it is a control of a form",
	"#comment":    "nobody sees it",
	"#text":       "it is what one of these elements held",
	"element":     "an element that HTML does not have",
	"[attribute]": "an attribute that is not listed",
	"a":           "an element a without an address says nothing",
}

// parts counts what a markup holds: elements with their attributes, comments, and its text.
func parts(t *testing.T, markup string) map[string]int {
	t.Helper()
	root, err := html.Parse(strings.NewReader(markup))
	expect.OK(t, err)
	out := map[string]int{}
	var text strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			out["#comment"]++
		case html.TextNode:
			text.WriteString(n.Data)
		case html.ElementNode:
			out[n.Data]++
			for _, a := range n.Attr {
				out[n.Data+"["+a.Key+"]"]++
			}
		}
	}
	out["#text "+strings.Join(strings.Fields(text.String()), " ")]++
	return out
}

// lost names what a page has less of than the example.
func lost(before, after map[string]int) []string {
	found := map[string]bool{}
	for name, n := range before {
		if after[name] < n {
			found[kindOf(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// kindOf puts what the examples make up into kinds.
func kindOf(name string) string {
	element, attribute, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	switch {
	case strings.HasPrefix(name, "#text"):
		return "#text"
	case why[name] != "":
		return name
	case element == "img":
		return "img"
	case attribute != "":
		return "[attribute]"
	}
	return "element"
}

// TestTheSpecificationOfMarkdownSurvives passes the output of every example of CommonMark through what all markup
// passes, and holds what that takes away.
func TestTheSpecificationOfMarkdownSurvives(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleDir(t, "github.com/yuin/goldmark"), "_test", "spec.json"))
	expect.OK(t, err)
	var examples []struct {
		Markdown, HTML string
		Example        int
	}
	if err := json.Unmarshal(text, &examples); err != nil || len(examples) < 600 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	var got strings.Builder
	for _, e := range examples {
		got.WriteString(losses(t, fmt.Sprint(e.Example), e.Markdown, e.HTML))
	}
	wantGolden(t, "commonmark.txt", got.String())
}

// losses shows an example, and returns a line about what of its HTML does not pass what all markup passes. Each kind of
// loss has its reason in why.
func losses(t *testing.T, name, markdown, markup string) string {
	t.Helper()
	s := sourceOf("a.md", markdown)
	wantInert(t, pageOf(t, s, Query{}))
	var b body
	s.rewrite(&b, markup)
	expect.OK(t, b.sanitise())
	gone := lost(parts(t, markup), parts(t, b.out.String()))
	for _, what := range gone {
		if why[what] == "" {
			t.Errorf("example %s loses %s:\n%s\n%s", name, what, markup, b.out.String())
		}
	}
	if len(gone) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s\n", name, strings.Join(gone, " "))
}

// wantGolden compares what examples lose with a list in testdata.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name)
	if *update {
		expect.OK(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("what the examples lose is another list than %s, which -update writes (%v):\n%s", golden, err, got)
	}
}

func FuzzMarkup(f *testing.F) {
	for _, markup := range hostile {
		f.Add(markup)
	}
	f.Fuzz(func(t *testing.T, markup string) {
		wantInert(t, pageOf(t, sourceOf("a.md", markup), Query{}))
	})
}

func FuzzData(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}]}`)
	f.Add("a: &x [1]\nb: *x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range []string{"a.json", "a.yaml", "a.csv", "a.jsonl", "a.ipynb", "a.patch", "a.log"} {
			wantInert(t, pageOf(t, sourceOf(path, text), Query{Sort: "1d"}))
		}
	})
}
