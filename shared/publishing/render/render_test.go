package render

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/media"
)

// samples are a file of each view that parses, with a text of strangers wherever it may hold one.
func samples(t *testing.T, text string) map[string]string {
	t.Helper()
	packed, err := json.Marshal(text)
	expect.OK(t, err)
	quoted := string(packed)
	return map[string]string{
		"a.md": "# " + text + "\n\n" + text + "\n\n[x](<" + text + ">)\n\n> [!NOTE]\n> " + text + "\n\n- [ ] " + text +
			"\n\n```" + text + "\n" + text + "\n```\n",
		"front.md":    "---\ntitle: " + quoted + "\n" + quoted + ": x\n---\n" + text,
		"a.csv":       text + ",b\n" + text + ",1\n",
		"a.tsv":       text + "\tb\n" + text + "\t1\n",
		"a.jsonl":     `{` + quoted + `:` + quoted + "}\n" + text + "\n",
		"a.json":      `{` + quoted + `:` + quoted + `}`,
		"broken.json": text,
		"a.yaml":      "a: " + quoted + "\n" + quoted + ": 1\n",
		"a.go":        "package main // " + text + "\nvar x = `" + text + "`\n",
		"a.html.txt":  text,
		"a.log":       "\x1b[31m" + text + "\x1b[0m\n\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07" + text,
		"a.patch":     "--- a/" + text + "\n+++ b/" + text + "\n@@ -1 +1 @@ " + text + "\n-" + text + "\n+" + text + "\n",
		"Unknown":     text,
		"a.ipynb": fmt.Sprintf(`{"cells":[{"cell_type":"markdown","source":%[1]s},{"cell_type":"raw","source":%[1]s},
			{"cell_type":"code","source":%[1]s,"outputs":[{"output_type":"stream","text":%[1]s},
			{"output_type":"display_data","data":{"text/html":%[1]s}},{"output_type":"display_data","data":{"text/markdown":%[1]s}},
			{"output_type":"display_data","data":{"image/svg+xml":%[1]s}},{"output_type":"display_data","data":{"image/png":%[1]s}},
			{"output_type":"error","ename":%[1]s,"evalue":%[1]s,"traceback":[%[1]s]}]}]}`, quoted),
	}
}

func TestEveryViewThatParsesHasASample(t *testing.T) {
	sampled := map[media.View]bool{}
	for path := range samples(t, "") {
		sampled[media.ViewOf(path)] = true
	}
	for view, by := range views {
		if by.weight > 0 && !sampled[view] {
			t.Errorf("there is no sample of the view %q", view)
		}
	}
}

func TestMarkdownHasWhatGitHubHas(t *testing.T) {
	main := mainOf(t, sourceOf("docs/a.md", strings.Join([]string{
		"---", "title: Report", "tags: [a, b]", "---", "# Überblick & mehr", "",
		"~~gone~~ [page](b.md#x) [up](../c.csv) [root](/d/e.png) [folder](../d) [bytes](f.bin) [none](missing.md) https://example.com", "",
		"> [!TIP]", "> Do it.", "", "- [x] done", "- [ ] open", "", "| a | b |", "|---|--:|", "| 1 | 2 |", "",
		"![in](e.png) ![out](https://example.com/x.png)", "", "# Überblick & mehr", "", "### Third", "", "Note[^1]", "",
		"```go", "var x = 1", "```", "", "[^1]: Text",
	}, "\n"), "docs/b.md", "c.csv", "d/e.png", "docs/e.png", "docs/f.bin"), Query{})
	wantHas(t, main,
		`<tr data-line="2"><th scope="row">title</th><td dir="auto">Report</td></tr>`, `<td dir="auto">a, b</td>`,
		`<h1 id="überblick--mehr" data-line="5">`, `<h1 id="überblick--mehr-1" data-line="21">`,
		`<li class="v-level-3"><a href="#third">Third</a></li>`,
		`<del>gone</del>`, `<a href="/r/T/docs/b.md#x">page</a>`, `<a href="/r/T/c.csv">up</a>`, `<a href="/r/T/d/e.png">root</a>`,
		`<a href="/r/T/d">folder</a>`, `<a href="/v/T/docs/f.bin">bytes</a>`, ` none `,
		`<a href="https://example.com" rel="nofollow noreferrer noopener" target="_blank">https://example.com</a>`,
		`<blockquote data-line="9" class="v-alert v-tip">`, `<p class="v-alert-title">Tip</p>`, "Do it.",
		`<input type="checkbox" disabled="" aria-label="Done" checked="">`, `aria-label="To do"`,
		`<td align="right" data-line="17">2</td>`, `<img src="/v/T/docs/e.png" alt="in" decoding="async">`,
		`<a class="v-outside" href="https://example.com/x.png"`, `<pre tabindex="0" data-line="28"><code><span class="c-k">var</span>`,
		`role="doc-noteref"`, `<li id="fn:1"`)
	wantNot(t, main, "[!TIP]", "missing.md", `src="https`)
}

func TestBlocksOfCodeKeepTheirLines(t *testing.T) {
	main := mainOf(t, sourceOf("a.md", "```go\nvar x = 1\n\nvar y\n```\n\n```\na\nb\n```\n"), Query{})
	wantHas(t, main, `= <span class="c-n">1</span>`+"\n\n"+`<span class="c-k">var</span> y`+"\n</code>", "<code>a\nb\n</code>")
}

func TestEveryBlockSaysItsLine(t *testing.T) {
	text := "# a\n\nb\n\n- c\n- d\n\n> e\n\n| f |\n|---|\n| g |\n\n```\nh\n```\n\n    i\n"
	main := mainOf(t, sourceOf("a.md", text), Query{})
	for _, at := range []string{`<h1 id="a" data-line="1">`, `<p data-line="3">b`, `<ul data-line="5">`, `<li data-line="5">c`,
		`<li data-line="6">d`, `<blockquote data-line="8">`, `<table data-line="10">`, `<pre tabindex="0" data-line="15">`,
		`<pre tabindex="0" data-line="18">`} {
		wantHas(t, main, at)
	}
}

func TestCodeHasNumberedLines(t *testing.T) {
	main := mainOf(t, sourceOf("main.go", "package main\r\n\r\n// <b>\r\nvar x = 1\n"), Query{})
	wantHas(t, main, `<span class="v-line" id="L1" data-line="1"><a class="v-no" href="#L1" tabindex="-1" aria-label="Line 1"></a>`+
		`<span class="c-k">package</span>`, `id="L4" data-line="4"`, `<span class="c-c">// &lt;b&gt;</span>`)
	wantNot(t, main, "L5", "\r")
	wantHas(t, mainOf(t, sourceOf("empty.txt", ""), Query{}), "This file is empty.")
	wantHas(t, mainOf(t, sourceOf("Strange", "text\n"), Query{}), `id="L1"`)
	wantHas(t, mainOf(t, sourceOf("strange.bin", "\x00\x01"), Query{}), "Files of this kind are not shown here.", "Open the raw file")
	wantHas(t, mainOf(t, sourceOf("latin.txt", "caf\xe9"), Query{}), "caf\uFFFD")
}

func TestALogHasTheColoursOfATerminal(t *testing.T) {
	main := mainOf(t, sourceOf("a.log", "\x1b[1;31mred\x1b[0m plain\x1b[K\n\x1b[38;5;46mgreen\x1b[39m \x1b[48;2;0;0;255mblue\x1b[m\x07"), Query{})
	wantHas(t, main, `<span class="a-bold a-f1">red</span> plain`, `<span class="a-f2">green</span> `, `<span class="a-b4">blue</span>`)
	wantNot(t, main, "\x1b", "[0m", "[K", "\x07")
}

const sheet = "name;n;at\nbeta;2;2026\nalpha;10;2025\n;;\ngamma;-3;2024\n"

func TestATableIsSortedByItsLinks(t *testing.T) {
	sorted := func(sort string) string {
		main := mainOf(t, sourceOf("a.csv", sheet), Query{Sort: sort})
		var got []string
		for _, row := range strings.Split(main, "<tr data-line=")[1:] {
			_, cell, _ := strings.Cut(row, `<td dir="auto">`)
			cell, _, _ = strings.Cut(cell, "<")
			got = append(got, cell)
		}
		return strings.Join(got, " ")
	}
	expect.Results(t, sorted, map[string]string{
		"":     "beta alpha  gamma",
		"1":    "alpha beta gamma ",
		"1d":   "gamma beta alpha ",
		"2":    "gamma beta alpha ",
		"2d":   "alpha beta gamma ",
		"9":    "beta alpha  gamma",
		"-1":   "beta alpha  gamma",
		"2d;x": "beta alpha  gamma",
	})
	main := mainOf(t, sourceOf("a.csv", sheet), Query{Sort: "2"})
	wantHas(t, main, "4 rows, 3 columns", `aria-sort="ascending"><a href="/r/T/a.csv?sort=2d">n</a>`,
		`<td class="v-num">10</td>`, `<th scope="row">n</th><td class="v-num">3</td><td class="v-num">1</td><td class="v-num">-3</td><td class="v-num">10</td>`)
}

func TestNumbersOfTables(t *testing.T) {
	for cell, want := range map[string]float64{
		"-2": -2, "+1.5": 1.5, ".5": .5, "1e3": 1000, " 7 % ": 7, "123,456": 123456, "1,234,567.8": 1234567.8,
	} {
		if n, ok := parseNumber(cell); n != want || !ok {
			t.Errorf("parseNumber(%q) = %v, %t, want %v", cell, n, ok, want)
		}
	}
	for _, cell := range []string{"", "a", "1,23", "1,2345", "1,,234", "12 34", "NaN", strings.Repeat("1", 41)} {
		if n, ok := parseNumber(cell); ok {
			t.Errorf("parseNumber(%q) = %v, want no number", cell, n)
		}
	}
}

func TestTheOrderOfALongTableIsThatOfAllItsRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("n\n")
	for i := range 6000 {
		fmt.Fprintf(&b, "%d\n", (i*7919)%6000)
	}
	main := mainOf(t, sourceOf("a.csv", b.String()), Query{Sort: "1d"})
	_, first, _ := strings.Cut(main, `<tbody><tr data-line`)
	wantHas(t, first, `<td class="v-num">5999</td>`, `<td class="v-num">1000</td>`)
	wantNot(t, first, `<td class="v-num">999</td>`)
	wantHas(t, main, "Only 5000 of 6000 rows are shown", `<td class="v-num">0</td><td class="v-num">5999</td>`)
}

func TestLinesOfJSONAreRows(t *testing.T) {
	main := mainOf(t, sourceOf("a.jsonl", `{"a":1,"b":{"c":[2]}}`+"\n\n"+`{"b":null,"d":"x\ny"}`+"\n[1,2]\n"), Query{})
	wantHas(t, main, "3 rows, 4 columns", `<tr data-line="3">`, `{&#34;c&#34;:[2]}`, "x\ny", "[1,2]", ">value</a>")
}

func TestDataIsATree(t *testing.T) {
	main := mainOf(t, sourceOf("a.json", "{\n\"a\": [1, \"<x>\"],\n\"n\": 12345678901234567890}"), Query{})
	wantHas(t, main, `<details data-line="1" open="">`, `<span class="v-key">a</span> <span class="v-sign">[…]</span>`,
		`<span class="c-s">&#34;&lt;x&gt;&#34;</span>`, `data-line="3"><span class="v-key">n</span> <span class="c-n">12345678901234567890</span>`)
	main = mainOf(t, sourceOf("a.yaml", "a: &x\n  b: 1\nc: *x\n---\nsecond\n"), Query{})
	wantHas(t, main, `<span class="v-anchor">&amp;x</span>`, `<span class="c-a">*x</span>`, "second", `data-line="3"`)
	broken := mainOf(t, sourceOf("a.json", "{\"a\": 1,\n]"), Query{})
	wantHas(t, broken, "This file cannot be shown as data (it is not JSON from line 2 on), so this is its text.", `id="L2"`)
}

func TestANotebookShowsItsRichestOutputs(t *testing.T) {
	text := `{"metadata":{"language_info":{"name":"python"}},"cells":[
		{"cell_type":"markdown","source":["# T\n","[x](b.md)"]},
		{"cell_type":"code","execution_count":3,"source":"import a","outputs":[
			{"output_type":"stream","text":"\u001b[31mred\u001b[0m"},
			{"output_type":"display_data","data":{"image/png":"aGk=\n","text/plain":"fig"}},
			{"output_type":"display_data","data":{"image/svg+xml":["<svg>","</svg>"]}},
			{"output_type":"display_data","data":{"image/png":"<no base64>","text/plain":"instead"}},
			{"output_type":"execute_result","data":{"text/html":"<b>bold</b><div>","text/plain":"plain"}},
			{"output_type":"error","ename":"E","evalue":"v","traceback":[]}]}]}`
	main := mainOf(t, sourceOf("a.ipynb", text, "b.md"), Query{})
	wantHas(t, main, `<h1 id="cell-1-t" data-line="1">`, `<a href="/r/T/b.md">x</a>`, "In [3]", `<span class="c-k">import</span>`,
		`<span class="a-f1">red</span>`, `src="data:image/png;base64,aGk="`, `src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4="`, "instead",
		"<b>bold</b><div></div></div>", "E: v")
	wantNot(t, main, "fig<", ">plain<")
}

func TestANotebookIsReadAsJupyterReadsIt(t *testing.T) {
	main := mainOf(t, sourceOf("a.ipynb", `{"cells":[
		{"cell_type":"markdown","source":"![one](attachment:a%20b.png) ![two](attachment:none.png)","attachments":{
			"a b.png":{"image/png":"aGk="},"c.svg":{"text/html":"<b>"}}},
		{"cell_type":"markdown","source":"<div class=\"alert alert-block alert-info\">Note</div><div class=\"top alert\">x</div>"},
		{"cell_type":"code","source":"f()","outputs":[
			{"output_type":"stream","name":"stdout","text":"1\n"},{"output_type":"stream","name":"stdout","text":"2\n"},
			{"output_type":"stream","name":"stderr","text":["  0%\r"," 50%\r","100%\r\n","end"]},
			{"output_type":"error","traceback":["one","two"]},
			{"output_type":"display_data","data":{"image/png":"aGk="},"metadata":{"image/png":{"width":512.4,"height":2}}},
			{"output_type":"display_data","data":{"image/png":"aGk="},"metadata":{"image/png":"x","isolated":true}},
			{"output_type":"display_data","data":{"text/html":"<pre>text</pre><div style='x:y; DISPLAY : none'>hidden<div>too</div></div>after"}}
			]}]}`), Query{})
	wantInert(t, main)
	wantHas(t, main, `<img src="data:image/png;base64,aGk=" alt="one">`, `<span class="v-outside">two</span>`,
		`<div class="v-alert v-note">Note</div><div>x</div>`, "1\n2\n</code>", "<code>100%\nend</code>", "one\ntwo",
		`base64,aGk=" width="512">`, `alt="Output of the cell" src="data:image/png;base64,aGk=">`,
		`<pre tabindex="0">text</pre>after`)
	wantNot(t, main, "hidden", "too", " 50%")
}

func TestANotebookOfVersion3IsShown(t *testing.T) {
	s := sourceOf("a.ipynb", `{"nbformat":3,"metadata":{"name":"old"},"worksheets":[{"cells":[
		{"cell_type":"heading","level":2,"source":["Title"]},
		{"cell_type":"code","language":"python","prompt_number":7,"input":["import a\n","b"],"outputs":[
			{"output_type":"stream","stream":"stdout","text":["x\n","y"]},
			{"output_type":"pyout","prompt_number":7,"text":["plain"],"html":["<b>bold</b>"]},
			{"output_type":"pyout","text":["only text"]},
			{"output_type":"display_data","png":"aGk=\n"},{"output_type":"display_data","jpeg":"aGk="},
			{"output_type":"display_data","svg":["<svg/>"]},{"output_type":"display_data","latex":["$x$"]},
			{"output_type":"pyerr","ename":"E","evalue":"v","traceback":["t1","t2"]}]}]}]}`)
	main := mainOf(t, s, Query{})
	wantInert(t, main)
	wantHas(t, main, `>Title</h2>`, "In [7]", `<span class="c-k">import</span>`, "x\ny", "<b>bold</b>", "only text",
		"data:image/png;base64,aGk=", "data:image/jpeg;base64,aGk=", "data:image/svg+xml;base64,", "<mi>x</mi>", "t1\nt2")
	wantNot(t, main, ">plain<")
	var text strings.Builder
	expect.OK(t, New().Text(t.Context(), &text, s))
	wantHas(t, text.String(), "--- cell 2, python ---\nimport a\nb", "x\ny", "plain", "only text", "[image/png]", "$x$", "t1\nt2")
}

func TestAPatchStandsInTwoColumns(t *testing.T) {
	text := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@ f\n same\n-old <1>\n+new 1\n+new 2\n end\n\\ No newline\n" +
		"diff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n--- gone\n"
	main := mainOf(t, sourceOf("a.diff", text), Query{})
	wantHas(t, main, `<h2 dir="auto">x</h2>`, `<h2 dir="auto">y</h2>`,
		`<tr data-line="6"><td class="v-nr">2</td><td class="v-del"><del>old &lt;1&gt;</del></td><td class="v-nr">2</td><td class="v-ins"><ins>new 1</ins></td></tr>`,
		`<tr data-line="8"><td class="v-nr"></td><td class="v-none"></td><td class="v-nr">3</td><td class="v-ins"><ins>new 2</ins></td></tr>`,
		"<del>-- gone</del>")
	wantHas(t, mainOf(t, sourceOf("a.patch", "no patch\n"), Query{}), `id="L1"`)
}

func TestAFolderListsWhatItHolds(t *testing.T) {
	s := sourceOf("a/b.md", "x", "a/c/d.txt", "a/c/e.txt", "a/p.png", "a/q.svg", "a/z.bin", "other.md")
	s.Path, s.File.Path = "a", ""
	main := mainOf(t, s, Query{})
	wantHas(t, main, `<a href="/r/T/a/c">c/</a></td><td class="v-num">2 bytes</td>`, `<a href="/r/T/a/b.md">b.md</a>`,
		`<a href="/v/T/a/z.bin">z.bin</a>`, `<a class="v-thumb" id="t1" href="#i1"><img src="/v/T/a/p.png"`,
		`<figure class="v-large" id="i2">`, `<a href="#t2">Close</a>`)
	wantNot(t, main, "other.md", "d.txt")
	image := sourceOf("a/p.png", "x", "a/q.svg")
	wantHas(t, mainOf(t, image, Query{}), `<a href="/r/T/a/q.svg">Next: q.svg</a>`)
	wantHas(t, mainOf(t, sourceOf("a.mp4", "x"), Query{}), `<video controls="" preload="metadata" src="/v/T/a.mp4"`)
	wantHas(t, mainOf(t, sourceOf("a.mp3", "x"), Query{}), `<audio controls="" preload="metadata" src="/v/T/a.mp3"`)
}

// TestAFileThatCannotBeReadIsNoPage breaks the read at its first byte: the page must not say that the file is bad.
func TestAFileThatCannotBeReadIsNoPage(t *testing.T) {
	for _, path := range []string{"a.md", "a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.yaml", "a.ipynb", "a.diff"} {
		s := sourceOf(path, "x")
		s.Open = func(context.Context, int64) (io.ReadCloser, error) {
			return io.NopCloser(iotest.ErrReader(errors.New("gone"))), nil
		}
		for what, write := range map[string]func(io.Writer) error{
			"page": func(w io.Writer) error { return New().Page(t.Context(), w, s, Query{}) },
			"text": func(w io.Writer) error { return New().Text(t.Context(), w, s) },
		} {
			if err := write(io.Discard); !errors.Is(err, errRead) {
				t.Errorf("the %s of %s: %v, want %v", what, path, err, errRead)
			}
		}
	}
}

func TestTextsAreForPrograms(t *testing.T) {
	for path, c := range map[string]struct{ text, want string }{
		"a.md":    {"\uFEFF# A\n<b>", "# A\n<b>"},
		"a.csv":   {"a,b\n1,\"x\ty\nz\"\n", "a\tb\n1\tx y z\n"},
		"a.ipynb": {`{"cells":[{"cell_type":"markdown","source":"# T"},{"cell_type":"code","source":"x","outputs":[{"output_type":"stream","text":"\u001b[1mhi"},{"output_type":"display_data","data":{"image/png":"x"}}]}]}`, "# T\n\n--- cell 2,  ---\nx\n--- output ---\nhi\n--- output ---\n[image/png]\n\n"},
		"b.ipynb": {`[]`, "This file cannot be shown as text: it is no notebook.\n"},
	} {
		var b strings.Builder
		if err := New().Text(t.Context(), &b, sourceOf(path, c.text)); err != nil || b.String() != c.want {
			t.Errorf("%s: %q, want %q (%v)", path, b.String(), c.want, err)
		}
	}
}

func TestAViewThatFailsShowsTheText(t *testing.T) {
	defer func(v viewer) { views[media.CodeView] = v }(views[media.CodeView])
	for name, c := range map[string]struct {
		view func(context.Context, Source, *body, Query) error
		says string
	}{
		"panics": {func(context.Context, Source, *body, Query) error { panic("secret") }, "(the viewer failed)"},
		"fails":  {func(context.Context, Source, *body, Query) error { return fmt.Errorf("%w: it is odd", errFailed) }, "(it is odd)"},
		"does not end": {func(ctx context.Context, _ Source, _ *body, _ Query) error {
			<-ctx.Done()
			return context.DeadlineExceeded
		}, "(it takes too long)"},
	} {
		views[media.CodeView] = viewer{show: c.view}
		if name == "does not end" {
			views[media.CodeView] = viewer{show: func(context.Context, Source, *body, Query) error { return context.DeadlineExceeded }}
		}
		r, told := New(), ""
		r.Panicked = func(_ media.View, text string) { told = text }
		var page strings.Builder
		expect.OK(t, r.Page(t.Context(), &page, sourceOf("a.txt", "<text>"), Query{}))
		if (name == "panics") != strings.HasPrefix(told, "secret\n") {
			t.Errorf("%s: %q is reported", name, told)
		}
		main := page.String()
		wantHas(t, main, c.says, "&lt;text&gt;", "Open the raw file")
		wantNot(t, main, "secret")
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	broken := errors.New("gone")
	for path, text := range samples(t, "text") {
		s := sourceOf(path, text)
		s.Open = func(context.Context, int64) (io.ReadCloser, error) { return nil, broken }
		if err := New().Page(t.Context(), io.Discard, s, Query{}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", path, err)
		}
		s.Open = func(context.Context, int64) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("te"), failing{broken})), nil
		}
		if err := New().Page(t.Context(), io.Discard, s, Query{}); !errors.Is(err, broken) {
			t.Errorf("%s, broken off: %v", path, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// looks are the versions of the views, with sums of what they show.
var looks = map[media.View]string{
	media.NoView:        "0 ddab3512f2dc7c8b",
	media.MarkdownView:  "0 84c453cb548777e8",
	media.CodeView:      "0 41e9772d51b9928a",
	media.LogView:       "0 d4f1c1718db63bdd",
	media.TableView:     "0 a8f54f3954f583da",
	media.DataView:      "0 1341e764da98ce22",
	media.NotebookView:  "0 5b9cf9ec5990319b",
	media.PatchView:     "0 01c4018338d2727c",
	media.ImageView:     "0 1f14c3487c1a7252",
	media.AudioView:     "0 e59c54c3721ea256",
	media.VideoView:     "0 fec687988fab3e2c",
	media.PDFView:       "0 54ec9b27017bd233",
	media.DirectoryView: "1 b9186829c0c44281",
}

// A browser keeps a page by its version. Who changes what pages show writes the new sums here, and counts up the version
// of each view whose sum is another one, or sharedVersion for what is around all of them.
func TestVersionsChangeWithThePages(t *testing.T) {
	files, sums := samples(t, "x"), map[media.View]hash.Hash{}
	for _, path := range []string{"", "a.png", "a.mp3", "a.mp4", "a.pdf"} {
		files[path] = ""
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		s := sourceOf(path, files[path], "c.png")
		if sums[s.view()] == nil {
			sums[s.view()] = sha256.New()
		}
		_, main, _ := strings.Cut(pageOf(t, s, Query{}), "</header>")
		fmt.Fprintln(sums[s.view()], main)
	}
	for view, by := range views {
		if got := fmt.Sprintf("%d %x", by.version, sums[view].Sum(nil)[:8]); got != looks[view] {
			t.Errorf("the view %q: %s, not %s", view, got, looks[view])
		}
	}
	var empty strings.Builder
	expect.OK(t, sourceOf("a", "").write(&empty, new(body)))
	around := sha256.Sum256([]byte(strings.NewReplacer(rulesOf(media.NoView), "", StyleHash("a"), "").Replace(empty.String())))
	if got, want := fmt.Sprintf("%d %x", sharedVersion, around[:8]), "4 4d0d1897f338eb37"; got != want {
		t.Errorf("around the body: %s, not %s", got, want)
	}
}

func TestPagesThatLookDifferentHaveDifferentVersions(t *testing.T) {
	code, style := views[media.CodeView], StyleHash
	t.Cleanup(func() { views[media.CodeView], StyleHash = code, style })
	seen := map[string]bool{}
	for _, path := range []string{"", "a.md", "a.csv", "Strange", "a.go"} {
		seen[Version(path)] = true
	}
	views[media.CodeView] = viewer{version: code.version + 1}
	seen[Version("a.go")] = true
	StyleHash = func(string) string { return "another" }
	seen[Version("a.go")] = true
	if len(seen) != 7 {
		t.Errorf("%d versions of 7 looks: %v", len(seen), seen)
	}
}
