package render

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/markdown"
)

// refusal is why a document of Markdown is not parsed; empty: it is.
func refusal(t testing.TB, text string) string {
	t.Helper()
	d := document{math: mathematics{formulas: newFormulas(t.Context())}}
	if _, err := d.parse([]byte(text)); err != nil {
		return reason(err)
	}
	return ""
}

func TestT89MarkdownThatItsParserCannotEndIsNotParsed(t *testing.T) {
	const large = 256 << 10
	for unit, says := range map[string]string{
		">": "deeper than", "> - > - ": "deeper than", "1. ": "deeper than", "- ": "", "+ ": "deeper than",
		"[^a]: ": "deeper than",
		"*a_ ":   "marks of emphasis", "a~ ": "marks of emphasis", "[a](": "its links", "[a](<b": "its links",
		"[*a*](b) ": "emphasis",
		"[a]: b\n":  "definitions", "[a]:\n": "definitions", "[a]: b '\n": "definitions", "# *a_ ": "", "$$\n*a_ *a_ ": "",
	} {
		text := strings.Repeat(unit, large/len(unit))
		if got := refusal(t, text); !strings.Contains(got, says) || says == "" && unit == "- " && got != "" {
			t.Errorf("%q is refused with %q, not %q", unit, got, says)
		}
	}
	var notes, ticks, columns strings.Builder
	for i := range large / 20 {
		fmt.Fprintf(&notes, "[^%d]: x\n\n[^%d]\n\n", i, large-i)
	}
	for i := range 1800 {
		ticks.WriteString(strings.Repeat("`", i+1) + "a")
	}
	columns.WriteString(strings.Repeat("|a", 5000) + "\n" + strings.Repeat("|-", 5000) + "\n" + strings.Repeat("|\n", 500))
	for text, says := range map[string]string{
		notes.String():   "footnotes",
		ticks.String():   "runs of backticks",
		columns.String(): "tables",
		"|a|\n|-|\n" + strings.Repeat("|`\\|`\n", 20_000):                                   "tables",
		"# " + strings.Repeat("*a_ ", large/4):                                              "marks of emphasis",
		"$$\n" + strings.Repeat("*a_ ", large/4):                                            "marks of emphasis",
		"[a]: " + strings.Repeat("b", 10_000) + "\n\n" + strings.Repeat("[a]\n", 4000):      "addresses of its links",
		"[a]: b '" + strings.Repeat("c", 10_000) + "'\n\n" + strings.Repeat("![a]\n", 4000): "addresses of its links",
		strings.Repeat("- ", 500) + "x\n" + strings.Repeat("\n", large):                     "quotations and lists",
		strings.Repeat("*", 1<<20) + "a" + strings.Repeat("*", 1<<20):                       "memory",
		strings.Repeat("a\n=\n", markdown.Most/4):                                           "memory",
		strings.Repeat("[", markdown.Most):                                                  "memory",
		"> " + strings.Repeat("a *b* ", 20_000) + "\n\n" + strings.Repeat("c", 9):           "marks of emphasis",
	} {
		if got := refusal(t, text); !strings.Contains(got, says) {
			t.Errorf("%.20q is refused with %q, not %q", text, got, says)
		}
	}
	page := pageOf(t, sourceOf("a.md", strings.Repeat(">", large)), Query{})
	wantHas(t, page, "This file cannot be shown as markdown (a line is deeper than 1000 quotations and lists), so this is its text.")
}

func TestLargeDocumentsThatAreParsedInTimeAreParsed(t *testing.T) {
	var changelog strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&changelog, "- **%d**: fix `a_b_c` and [#%d], see https://example.com/%d\n", i, i, i)
	}
	changelog.WriteByte('\n')
	for i := range 8000 {
		fmt.Fprintf(&changelog, "[#%d]: https://example.com/issues/%d \"Issue %d\"\n", i, i, i)
	}
	for name, text := range map[string]string{
		"a changelog with 8,000 links": changelog.String(),
		"an image in an address":       "![x](data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 60_000) + ")",
		"minified JSON in a fence":     "```json\n[" + strings.Repeat(`{"a":[1.5,2.5],"b":"x_y"},`, 40_000) + "1]\n```\n",
		"a table of 5,000 rows":        "|a|b|c|\n|-|-|-|\n" + strings.Repeat("|`x_y`|**bold**|[a](b.md)|\n", 5000),
		"one line of 2,000 links":      strings.Repeat("[a](https://example.com/a_b) *b* ", 2000),
		"badges":                       strings.Repeat("[![a](https://example.com/b.svg)](https://example.com)", 3000),
		"a rule of 2,000 hyphens":      strings.Repeat("- ", 2000) + "\n",
		"quotations of 50 levels":      strings.Repeat(strings.Repeat("> ", 50)+"x\n", 200),
		"footnotes":                    strings.Repeat("a[^1] [^2]\n\n", 1000) + "[^1]: x\n\n[^2]: y\n",
		"a script in a fence":          "```sh\n" + strings.Repeat("# a *comment* of $x_y `z`\n", 15_000) + "```\n",
		"20,000 items with no gap":     strings.Repeat("* an item of *some* words, with_snake_case\n", 20_000),
		"paragraphs of 10 KB, 2 MiB":   strings.Repeat(strings.Repeat("words and *more* words ", 450)+"\n\n", 200),
	} {
		if got := refusal(t, text); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestT89YAMLAndNotebooksAreCountedBeforeTheyAreHeld(t *testing.T) {
	page := pageOf(t, sourceOf("a.yaml", "["+strings.Repeat("1,", maxYAMLValues+1)+"1]"), Query{})
	wantHas(t, page, "it has more than 150000 values")
	outputs := `[` + strings.Repeat(`{},`, maxOutputs+5) + `{"output_type":"stream","text":"beyond the last"}]`
	page = pageOf(t, sourceOf("a.ipynb", `{"cells":[{"cell_type":"code","outputs":`+outputs+`}]}`), Query{})
	wantHas(t, page, "Only the first 20000 outputs are shown.")
	wantNot(t, page, "beyond the last")
	left := 3
	if got, err := outputsOf([]byte(outputs), &left); len(got) != 3 || cap(got) > 8 || err != nil {
		t.Errorf("%d outputs of %d are held (%v)", len(got), cap(got), err)
	}
	var c cells
	if err := c.UnmarshalJSON([]byte(`[` + strings.Repeat(`{},`, 3*maxNotebookCells) + `{}]`)); err != nil ||
		len(c.shown) != maxNotebookCells || c.count != 3*maxNotebookCells+1 {
		t.Errorf("%d cells of %d are held (%v)", len(c.shown), c.count, err)
	}
	markdown := `{"cells":[{"cell_type":"markdown","source":"` + strings.Repeat("*a_ ", 20_000) + `"},{"cell_type":"code","source":"x = 1"}]}`
	wantHas(t, pageOf(t, sourceOf("a.ipynb", markdown), Query{}), "x = 1",
		"Some Markdown is shown as its text, because reading its marks of emphasis takes more than 200000000 steps.")
}

func TestALinkFindsItsFileWithoutLookingAtAll(t *testing.T) {
	s := sourceOf("docs/a.md", "[x](b/c.md) [y](b) [z](../d) [w](missing) [v](b/c)", "docs/b/c.md", "d/e/f/g.txt", "docs/b2")
	want := mainOf(t, s, Query{})
	wantHas(t, want, `href="/r/T/docs/b/c.md"`, `href="/r/T/docs/b"`, `href="/r/T/d"`)
	wantNot(t, want, "missing\"", "b/c\"")
	s.paths, s.Files = pathsOf(s.Files), nil
	for path, is := range map[string]bool{"docs/b/c.md": true, "docs/b": true, "/": true, "d/e/f": true, "docs/c": false, "e": false} {
		if _, found := s.resolve("/" + path); found != is {
			t.Errorf("%s: %v", path, found)
		}
	}
}

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
				if info, err := d.Info(); err == nil && info.Size() < markdown.Most {
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
