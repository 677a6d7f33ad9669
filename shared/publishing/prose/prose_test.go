package prose

import (
	"encoding/json"
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/markdown"
)

// textOf is the text of a file that is not refused.
func textOf(t testing.TB, path, body string) string {
	t.Helper()
	return expect.Value(Of(path, []byte(body)))(t).Text
}

func TestAPageIsTheTextThatItsReadersSee(t *testing.T) {
	of := func(body string) string { return textOf(t, "a.html", body) }
	expect.Results(t, of, map[string]string{
		"<!doctype html><head><title>A  title</title><meta content=y><style>p{}</style></head><body>b": "A title\nb",
		"a <b>wo</b>rd,\n\t<i>one</i> line":                    "a word, one line",
		"<p>one<p>two<div>three</div>four":                     "one\ntwo\nthree\nfour",
		"<ul><li>one<li>two</ul><table><tr><td>1<td>2</table>": "one\ntwo\n1\n2",
		"one<br>two<br/>three<hr>four":                         "one\ntwo\nthree\nfour",
		"<p> a </p> <p> b </p>":                                "a\nb",
		"<pre>if x:\n    y  z</pre> a  b":                      "if x:\n    y  z\na b",
		"&lt;b&gt; &amp;amp; &eacute;&#x2014;&nbsp;x":          "<b> &amp; é—\u00a0x",
		"<textarea>a <b>\n c</textarea>":                       "a <b>\n c",
		"a<script>x = '<p>b'</script>c":                        "ac",
		"a<noscript><p>b</p></noscript>c<iframe>d</iframe>e":   "ace",
		"a<template>b<template>c</template>d</template>e":      "ae",
		"a<template>b":                                        "a",
		"<p hidden>shown by a script</p>":                     "shown by a script",
		`<img src=x alt="not here"> <input value="nor here">`: "",
		"a<!-- b --><!c><?d?>e":                               "ae",
		"<svg><title>no</title><text>a</text><desc>no</desc></svg><title>b</title>":  "a\nb",
		"<math><semantics><mi>x</mi><annotation>\\x</annotation></semantics></math>": "x",
		"a</div></pre></svg></template> b":                                           "a\nb",
		"1 < 2 &unknown; <3":                                                         "1 < 2 &unknown; <3",
		"a <b":                                                                       "a",
		"":                                                                           "",
	})
}

func TestADocumentIsTheTextOfItsPage(t *testing.T) {
	of := func(body string) string { return textOf(t, "a.md", body) }
	expect.Results(t, of, map[string]string{
		"# One *two*\n\nthree `four  five`\nsix":   "One two\nthree four five six",
		"a [link](https://example.test \"t\") b":   "a link b",
		"a ![alt](b.png) c ~~d~~ www.example.test": "a c d www.example.test",
		"a  \nb\\\nc":                                          "a\nb\nc",
		`\*a\* &amp; &lt;b&gt; &amp;amp; \&amp;`:               "*a* & <b> &amp; &amp;",
		"- a\n- [x] b\n\n1. c\n   > d":                         "a\nb\nc\nd",
		"|a|*b*|\n|-|-|\n|`1\\|2`|\n":                          "a\nb\n1|2",
		"```go\nif a  <  b {\n```\n\n    &amp; c\n":            "if a  <  b {\n&amp; c\n",
		"a <b>c</b><br>d<!-- e -->f":                           "a c\ndf",
		"<details><summary>a</summary>\n\n*b*\n\n</details>\n": "a\nb",
		"a\n\n<template>\n\n*b*\n\n</template>\n\nc":           "a\nc",
		"a\n\n<script>\n*b*\n</script>\n\n<style>c":            "a",
		"a <textarea>b</textarea> c":                           "a c",
		"a[^1] b\n\n[^1]: c":                                   "a1 b\nc",
		"---\ntitle: A *title*\n---\nb":                        "title: A *title*\nb",
		"$x^2$ and $$\ny\n$$":                                  "$x^2$ and $$ y $$",
		"[a]: b \"c\"\n\n[a] [d]":                              "a [d]",
	})
}

// TestADocumentHasTheTextOfTheSpecification compares what is read from Markdown with what is read from the HTML that it
// stands for.
func TestADocumentHasTheTextOfTheSpecification(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	expect.OK(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	expect.OK(t, err)
	var examples []struct{ Markdown, HTML string }
	if err := json.Unmarshal(text, &examples); err != nil || len(examples) < 600 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	words := func(path, body string) string { return strings.Join(strings.Fields(textOf(t, path, body)), " ") }
	for _, e := range examples {
		got, want := words("a.md", e.Markdown), words("a.html", e.HTML)
		if got != want && !strings.Contains(e.HTML, "<textarea>") { // pages of documents have no fields
			t.Errorf("%q has the text %q, not %q", e.Markdown, got, want)
		}
	}
}

func TestOtherTextIsAsItIs(t *testing.T) {
	notebook := `{"cells":[{"cell_type":"markdown","source":["# A\n","*b*"]},{"cell_type":"code","source":"if  x:\n  y",` +
		`"outputs":[{"text":["o\u001b[31mk\u001b[0m","ay"]},{"data":{"text/plain":"42","image/png":"AA"}}]},` +
		`{"cell_type":"raw","source":"*r*","outputs":null}]}`
	long := strings.Repeat("*a* ", markdown.Most/4) + "*a*"
	for path, c := range map[string]struct{ body, want string }{
		"a.ipynb":   {notebook, "A\nb\nif  x:\n  y\nokay\n42\n*r*"},
		"b.ipynb":   {`{"cells":[]}`, `{"cells":[]}`},
		"c.ipynb":   {`{"cells":{"a":1}}`, `{"cells":{"a":1}}`},
		"d.ipynb":   {`[`, `[`},
		"a.log":     {"\x1b[1;31mfailed\x1b[0m  at\n\ta", "failed  at\n\ta"},
		"a.csv":     {"a,\"b  \"\"c\"\"\"\n", "a,\"b  \"\"c\"\"\"\n"},
		"a.json":    {`{"a": "<b>"}`, `{"a": "<b>"}`},
		"a.svg":     {"<svg><text>a</text></svg>", "<svg><text>a</text></svg>"},
		"a.go":      {"\uFEFFpackage a\r\n", "package a\r\n"},
		"a.unknown": {" <p>&amp;", " <p>&amp;"},
		"long.md":   {long, long},
		"empty.md":  {"", ""},
	} {
		if got := textOf(t, path, c.body); got != c.want {
			t.Errorf("%s is %.200q, not %.200q", path, got, c.want)
		}
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		path, body string
		says       string
	}{
		"a file that is too large":        {"a.txt", strings.Repeat("a", Most+1), "more than 4 MiB"},
		"an image":                        {"a.png", "\x89PNG\r\n\x1a\n\x00", "not text"},
		"text in another encoding":        {"a.html", "caf\xe9", "not text"},
		"a program":                       {"a.wasm", "\x00asm", "not text"},
		"a document of quotations":        {"a.md", strings.Repeat(">", 2000), "deeper than 1000"},
		"a document of emphasis":          {"a.md", strings.Repeat("*a_ ", 50_000), "marks of emphasis"},
		"a document of lists without end": {"a.md", strings.Repeat("+ + + +\n", markdown.Most/8), "memory"},
	} {
		p, err := Of(c.path, []byte(c.body))
		if err == nil || !strings.Contains(err.Error(), c.says) || p.Text != "" {
			t.Errorf("%s is refused with %v, and has %.20q", name, err, p.Text)
		}
	}
	if got := textOf(t, "a.txt", strings.Repeat("a", Most)); len(got) != Most {
		t.Errorf("of the largest file %d bytes are read", len(got))
	}
}

func TestAPageWithScriptsSaysSo(t *testing.T) {
	for body, want := range map[string]bool{
		"<script>x()</script>":                            true,
		"<SCRIPT src=a.js></SCRIPT>":                      true,
		"<script type=module>x()</script>":                true,
		"<script type=' Text/JavaScript '>x()</script>":   true,
		"<script type=application/json>{}</script>":       false,
		"<script type=application/ld+json>{}</script>":    false,
		"<script type=importmap type=module>{}</script>":  false,
		"<body onload=x()>":                               true,
		"<svg><a OnClick='x()'>":                          true,
		"<p on=a one-two>":                                true, // any name that begins so may be an event
		"<p class=on title=onclick>":                      false,
		"<template><script>x()</script></template>":       false,
		"<noscript><b onclick=x()></noscript>":            false,
		"<!-- <script>x()</script> --> &lt;script&gt;x()": false,
	} {
		if p := expect.Value(Of("a.html", []byte(body)))(t); p.Scripts != want {
			t.Errorf("%s: %v", body, p.Scripts)
		}
	}
	if p := expect.Value(Of("a.md", []byte("<b onclick=x()>a</b>\n\n<script>x()</script>")))(t); p.Scripts {
		t.Error("a document runs scripts")
	}
}

func FuzzOf(f *testing.F) {
	for _, unit := range shapes {
		f.Add(strings.Repeat(unit, 3) + " a")
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"a.html", "a.md", "a.ipynb", "a.log", "a.txt"} {
			p, err := Of(path, []byte(body))
			if errors.Is(err, ErrBinary) {
				return
			}
			if err != nil && path != "a.md" || !utf8.ValidString(p.Text) || len(p.Text) > 20*len(body) {
				t.Fatalf("%s: %q, %v", path, p.Text, err)
			}
			words := strings.Fields(p.Text)
			again := textOf(t, "b.html", "<pre>"+html.EscapeString(p.Text)+"</pre>")
			if path != "a.txt" && strings.Join(strings.Fields(again), " ") != strings.Join(words, " ") {
				t.Fatalf("%s: the text %q becomes %q", path, p.Text, again)
			}
		}
	})
}
