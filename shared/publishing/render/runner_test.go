package render

import (
	"strings"
	"testing"

	"vitrine/shared/platform/media"
)

// inert is the policy that a page without a program brings.
func inert(path string) string {
	return `content="script-src 'none'; style-src ` + StyleHash(path) + `; font-src 'none'">`
}

const diagram = "```mermaid\nflowchart LR\n  A --> B\n```\n\n"

func TestOnlyPagesWithADiagramRunItsProgram(t *testing.T) {
	for path, text := range map[string]string{
		"a.md":    "# A\n\n" + diagram,
		"b.md":    strings.Replace(diagram, "mermaid", "Mermaid", 1),
		"a.ipynb": `{"cells":[{"cell_type":"markdown","source":"` + "```mermaid\\npie\\n```" + `"}]}`,
	} {
		s := sourceOf(path, text)
		s.App = "https://app.test"
		page := pageOf(t, s, Query{})
		wantInert(t, page)
		wantHas(t, page, `data-program="https://app.test/scripts/mermaid-12.3.0/dist/mermaid.esm.min.mjs"`,
			`<figure class="v-diagram"`, `<details open=""><summary>Source of the diagram</summary>`, diagramRunner.element())
		wantNot(t, page, inert(path))
	}
	for path, text := range map[string]string{
		"a.md":      "# A\n\n```go\nvar x\n```\n",
		"forged.md": `<figure class="v-diagram"><details><pre><code>pie</code></pre></details></figure>`,
		"a.txt":     diagram,
		"a.ipynb":   `{"cells":[]}`,
	} {
		page := pageOf(t, sourceOf(path, text), Query{})
		wantHas(t, page, inert(path))
		wantNot(t, page, "<script", "data-program")
	}
}

func TestT89DiagramsAndDocumentsBeyondTheirCapsAreNotDrawn(t *testing.T) {
	page := pageOf(t, sourceOf("a.md", strings.Repeat(diagram, maxDiagrams+3)), Query{})
	if n := strings.Count(page, `<figure class="v-diagram"`); n != maxDiagrams {
		t.Errorf("%d diagrams", n)
	}
	large := "```mermaid\n" + strings.Repeat("A-->B\n", maxDiagram/6+1) + "```\n"
	wantNot(t, pageOf(t, sourceOf("a.md", large), Query{}), "v-diagram\"", "<script")
	if !strings.Contains(diagramScript, "slice(0, 50)") || maxDiagrams != 50 {
		t.Error("the script draws another number of diagrams")
	}
	s := sourceOf("a.pdf", "%PDF")
	wantHas(t, pageOf(t, s, Query{}), "v-pages", pdfRunner.element())
	s.File.Size = maxPDF + 1
	wantNot(t, pageOf(t, s, Query{}), "v-pages\"", "<script")
}

func TestADocumentIsNotReadHere(t *testing.T) {
	s := sourceOf("a.pdf", "%PDF")
	s.Open = nil
	wantHas(t, pageOf(t, s, Query{}), "Where scripts do not run, open the raw file.", `data-raw="/v/T/a.pdf"`)
}

func TestViewsThatRunNothingHaveNoRunner(t *testing.T) {
	for view := range views {
		runs := view == media.MarkdownView || view == media.NotebookView || view == media.PDFView
		if (RunnerOf(view) != nil) != runs {
			t.Errorf("%s", view)
		}
	}
}
