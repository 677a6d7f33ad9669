package render

import (
	"context"
	_ "embed"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/platform/script"
)

var (
	//go:embed diagram.js
	diagramScript string
	//go:embed pdf.js
	pdfScript string
)

// Runner is the code that a page runs in a browser: a script of ours inside the page, and a third-party program that
// the script imports from the app host. No published file is part of either.
type Runner struct {
	// Hash is the hash of the script in the form of a content security policy, with quotation marks.
	Hash string

	program script.Program
	script  string
}

var (
	diagramRunner = &Runner{Hash: script.Hash(diagramScript), program: script.Mermaid, script: diagramScript}
	pdfRunner     = &Runner{Hash: script.Hash(pdfScript), program: script.PDF, script: pdfScript}
)

// RunnerOf returns the code that pages of a view may run, nil if there is none. A page that does not need it forbids
// scripts in its own policy.
func RunnerOf(view media.View) *Runner {
	switch view {
	case media.MarkdownView, media.NotebookView:
		return diagramRunner
	case media.PDFView:
		return pdfRunner
	}
	return nil
}

// heightScript posts the height of a page in a viewer frame and its place in the artifact. After the first five heights it
// pauses between two, because the viewer takes a page that grows without a pause for one that grows with its frame.
var heightScript = script.Height(script.Place + `const scripts=false;let posts=0,timer,late;const report=()=>{late=!!timer;if(late)return;` +
	`tell();timer=setTimeout(()=>{timer=0;if(late)report()},posts++<5?0:1100)};`)

// HeightHash is the hash of the script of a framed page in the form of a content security policy.
var HeightHash = script.Hash(heightScript)

// mathStyle returns the style of the font of a page's formulas, empty if the page has none.
func (s Source) mathStyle(b *body) string {
	if b.formulas == nil || len(b.formulas.markup) == b.formulas.asText {
		return ""
	}
	return `@font-face{font-family:"Math of Vitrine";font-display:swap;src:url("` + script.MathFont.URL(s.App) +
		`") format("woff2")}math{font-family:"Math of Vitrine",math}`
}

// Base returns the URL of the folder from which the program is loaded. app is the origin of the app host.
func (r *Runner) Base(app string) string { return r.program.Base(app) }

// Fonts returns the URL of the folder of the font for formulas, empty if the view has no formulas.
func (r *Runner) Fonts(app string) string {
	if r != diagramRunner {
		return ""
	}
	return script.MathFont.Base(app)
}

// Styles reports whether the program writes styles into the page.
func (r *Runner) Styles() bool { return r == diagramRunner }

// Works reports whether the program runs in a worker.
func (r *Runner) Works() bool { return r == pdfRunner }

// inert returns the policy of a page that runs no program, as a meta element. It narrows the policy in the header of
// the answer, which is that of the view.
func (s Source) inert(font string) string {
	scripts, fonts := "'none'", "'none'"
	styles := StyleHash(s.File.Path)
	if s.Framed {
		scripts = HeightHash
	}
	if font != "" {
		styles = script.Hash(styleOf(s.view()).text + font)
		fonts = script.MathFont.Base(s.App)
	}
	return `<meta http-equiv="Content-Security-Policy" content="script-src ` + scripts + `; style-src ` + styles +
		`; font-src ` + fonts + `">`
}

// attributes returns the attributes that the script reads: the URLs of the program and of the bytes of the file.
func (r *Runner) attributes(s Source) string {
	return ` data-program="` + escape(r.program.URL(s.App)) + `" data-raw="` + escape(s.raw(s.Path)) + `"`
}

func (r *Runner) element() string { return `<script type="module">` + r.script + `</script>` }

// drawn reports whether a block of code is a diagram for the script of the page, and counts it.
const (
	maxDiagrams = 50       // of a page that are drawn; its script holds the same number
	maxDiagram  = 50 << 10 // bytes of one
)

func (d *document) drawn(language, code string) bool {
	if !strings.EqualFold(language, "mermaid") || d.diagrams == maxDiagrams || len(code) > maxDiagram {
		return false
	}
	d.diagrams++
	return true
}

// maxPDF is the largest document that a page shows, in bytes.
const maxPDF = 50 << 20

func init() { views[media.PDFView] = viewer{show: pdfView} }

// pdfView shows a document whose pages a script draws, because only the browser of the reader has the fonts and the
// time.
func pdfView(_ context.Context, s Source, b *body, _ Query) error {
	if s.File.Size > maxPDF {
		b.note("Documents larger than %s are not shown.", size(maxPDF))
		return nil
	}
	b.printf(`<p class="v-about">The pages of this document are drawn by a script. Where scripts do not run, open the raw file.</p>` +
		`<div class="v-pages"></div>`)
	b.runner = pdfRunner
	return nil
}
