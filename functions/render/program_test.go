package render_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/render"
)

func TestPagesThatRunSomethingHaveThePolicyOfTheirView(t *testing.T) {
	e := newEnv(t, "a.md", "# A", "a.ipynb", `{"cells":[]}`, "a.pdf", "%PDF", "a.csv", "n\n1\n")
	start := "default-src 'none'; "
	const self = "'self' http://content.test" // for WebKit, which knows no 'self' in a sandbox
	end := "img-src " + self + " data:; media-src " + self + "; base-uri 'none'; form-action 'none'; frame-ancestors "
	hash := func(view media.View) string { return "script-src " + render.RunnerOf(view).Hash + " " }
	diagrams := hash(media.MarkdownView) + "http://app.test/scripts/mermaid-12.3.0/; style-src 'unsafe-inline'; " +
		"font-src http://app.test/scripts/noto-sans-math-5.3.0/; "
	for file, directives := range map[string]string{
		"a.md":    diagrams,
		"a.ipynb": diagrams,
		"a.pdf": hash(media.PDFView) + "http://app.test/scripts/pdfjs-dist-5.4.530/; style-src " + render.StyleHash("a.pdf") +
			"; worker-src blob:; connect-src " + self + "; ",
	} {
		alone := start + directives + end + "'none'; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
		if got := e.get(file).Header().Get("Content-Security-Policy"); got != alone {
			t.Errorf("%s alone: %s, want %s", file, got, alone)
		}
		directives = strings.Replace(directives, "/; style", "/ "+render.HeightHash+"; style", 1)
		if got := e.get(file, frame...).Header().Get("Content-Security-Policy"); got != start+directives+end+"http://app.test" {
			t.Errorf("%s framed: %s", file, got)
		}
	}
	for _, target := range []string{e.path("a.md") + "?as=text", e.path("a.csv"), e.path("")} {
		if got := e.Ask("GET", target).Header().Get("Content-Security-Policy"); strings.Contains(got, "script-src") {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// hostileDiagrams try to run, to load or to lead somewhere.
var hostileDiagrams = []string{
	"flowchart LR\n  A --> B\n  click A call alert(1)\n  click B href \"javascript:alert(1)\"",
	"flowchart LR\n  A[\"<img src=x onerror=alert(1)><script>alert(1)</script>\"] --> B",
	"%%{init: {\"securityLevel\": \"loose\", \"htmlLabels\": true, \"layout\": \"elk\"}}%%\nflowchart LR\n  A[\"<b onclick=alert(1)>x</b>\"] --> B\n  click A call alert(1)",
	"---\nconfig:\n  securityLevel: loose\n---\nsequenceDiagram\n  A->>B: <svg onload=alert(1)>\n  link A: Run @ javascript:alert(1)",
	"classDiagram\n  class A\n  callback A \"alert\" \"x\"\n  link A \"javascript:alert(1)\"",
}

func TestT88DiagramsRunNothing(t *testing.T) {
	var text strings.Builder
	for _, source := range hostileDiagrams {
		fmt.Fprintf(&text, "```mermaid\n%s\n```\n\n", source)
	}
	e := newEnv(t, "a.md", text.String())
	p := browser.Open(t)
	p.Before(`window.ran = 0; window.alert = () => { window.ran++ }`)
	p.Go(publish(t, e) + e.path("a.md"))
	p.Wait(drawn)
	n := len(hostileDiagrams)
	if got := browser.Eval[int](&p.Document, `document.querySelectorAll("figure > img, figure > .v-about").length`); got != n {
		t.Errorf("%d of %d diagrams are drawn or refused", got, n)
	}
	if got := browser.Eval[int](&p.Document, `document.querySelectorAll("main svg, main iframe, main a[href^='javascript:'], [onclick]").length`); got != 0 {
		t.Errorf("%d elements of a diagram are part of the page", got)
	}
	browser.Eval[bool](&p.Document, `(() => { for (const i of document.images) i.click(); return true })()`)
	if ran := browser.Eval[int](&p.Document, "window.ran"); ran != 0 {
		t.Errorf("%d calls", ran)
	}
}

// T89: what the program cannot take costs the time of its caps, and its source stays.
func TestT89ADiagramTooLargeToDrawIsShownAsItsSource(t *testing.T) {
	edges := "flowchart LR\n" + strings.Repeat("A-->B\n", 1000)
	e := newEnv(t, "a.md", "```mermaid\n"+edges+"```\n\n```mermaid\npie\n  \"x\" : 1\n```\n")
	p := browser.Open(t)
	p.Go(publish(t, e) + e.path("a.md"))
	p.Wait(drawn)
	if said := p.Text("figure:first-of-type .v-about"); !strings.HasPrefix(said, "This diagram cannot be drawn: ") {
		t.Errorf("it says %q", said)
	}
	if open := browser.Eval[bool](&p.Document, `document.querySelector("details").open && document.images.length === 1`); !open {
		t.Error("its source is not shown, or the next diagram is not drawn")
	}
}

// pdfWith returns a document of one page with some content, packed.
func pdfWith(content []byte) string {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(content)
	_ = z.Close()
	return "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>endobj\n" +
		"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<<>>>>endobj\n" +
		fmt.Sprintf("4 0 obj<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream endobj\n", packed.Len(), packed.String()) +
		"trailer<</Root 1 0 R>>\n"
}

func TestT89DocumentsThatCannotBeDrawnSaySo(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"a packed page of 400 MB":   {pdfWith(bytes.Repeat([]byte(" "), 400<<20)), "A page of this document is too large to draw"},
		"a page of 400 MB of lines": {pdfWith(bytes.Repeat([]byte("0 0 m 9 9 l S\n"), 400<<20/14)), "A page of this document is too large to draw"},
		"no document":               {"<script>alert(1)</script>", "This file is not a PDF document"},
		"an empty file":             {"", "The raw file has all of it."},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, "a.pdf", c.text)
			p := browser.Open(t)
			p.Before(`window.ran = 0; window.alert = () => { window.ran++ }`)
			p.Go(publish(t, e) + e.path("a.pdf"))
			p.Wait(drawn)
			p.WaitText(c.says)
			if ran := browser.Eval[int](&p.Document, "window.ran"); ran != 0 {
				t.Errorf("%d calls", ran)
			}
		})
	}
}

func TestADocumentLeadsWhereItsLinksMayLead(t *testing.T) {
	e := newEnv(t, specimens(t)...)
	p := browser.Open(t)
	p.Go(publish(t, e) + e.path("report.pdf"))
	p.Wait(drawn)
	if text := p.Text(".v-page"); !strings.Contains(text, "Seals of the bay") {
		t.Errorf("the first page has the text %q", text)
	}
	type link struct{ Href, Rel, Target string }
	got := browser.Eval[[]link](&p.Document, `[...document.querySelectorAll(".v-links a")].map(a => ({Href: a.href, Rel: a.rel, Target: a.target}))`)
	want := link{"https://example.com/counts", "nofollow noreferrer noopener", "_blank"}
	if len(got) != 1 || got[0] != want {
		t.Errorf("%v", got)
	}
	p.Clean()
}

func TestAPageWithoutItsProgramShowsTheSource(t *testing.T) {
	e := newEnv(t, specimens(t)...)
	origin := publish(t, e)
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	e.serve(origin, strings.Replace(nothing.URL, "127.0.0.1", "localhost", 1))
	p := browser.Open(t)
	p.Go(origin + e.path("diagrams.md"))
	p.WaitText("This diagram is not drawn, because the program that draws it did not load.")
	if open := browser.Eval[bool](&p.Document, `[...document.querySelectorAll("figure details")].every(d => d.open)`); !open {
		t.Error("a source is not shown")
	}
	p.Go(origin + e.path("report.pdf"))
	p.WaitText("The pages of this document are not shown, because the program that draws them did not load it.")
}
