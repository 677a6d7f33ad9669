package limits

import "time"

// What the pages of files show. Beyond these numbers they show less and say so; the raw file is always one click away.
const (
	RenderTime    = 7 * time.Second // how long a view may take before the page shows the text instead
	RendersAtOnce = 16              // views that one function runs at once
	RenderedPage  = 12 * MiB        // HTML of a page, after which a view stops

	RenderedMarkdown = 2 * MiB     // source of a document
	MarkdownSteps    = 200_000_000 // of its parser where it takes quadratic time
	MarkdownMemory   = 200_000_000 // bytes of its parser, as estimated
	MarkdownLevels   = 1_000       // quotations and lists that one line opens
	RenderedText     = 1 * MiB     // of a text or of code that is shown
	RenderedLines    = 20_000      // of such a text
	RenderedLine     = 8 << 10     // bytes of such a line
	HighlightedText  = 1 * MiB     // code that is coloured in one page; the rest is plain
	HighlightTime    = 2 * time.Second
	RenderedData     = 2 * MiB  // JSON and YAML
	RenderedDepth    = 64       // levels of such a document
	RenderedNodes    = 60_000   // values of such a document
	YAMLValues       = 150_000  // that such a document may have
	RenderedTable    = 20 * MiB // of a table that is read
	RenderedRows     = 5_000
	RenderedColumns  = 200
	RenderedCells    = 200_000
	RenderedCell     = 1 << 10  // bytes of a cell
	RenderedRow      = 1 * MiB  // bytes of a row that is read
	RenderedNotebook = 20 * MiB // of a notebook
	NotebookCells    = 2_000
	NotebookOutputs  = 20_000    // of all cells
	NotebookOutput   = 256 << 10 // bytes of one text that a cell printed
	NotebookImages   = 8 * MiB   // images of a notebook, encoded
	RenderedPatch    = 2 * MiB
	Diagrams         = 50       // of a page that are drawn; its script holds the same number
	DiagramSource    = 50 << 10 // bytes of one
	RenderedPDF      = 50 * MiB
	RenderedEntries  = 500 // files and folders of a listing
	SniffedText      = 512 // bytes that tell whether a file is text
	OutlineHeadings  = 300
	FrontMatter      = 64 << 10 // bytes before a document
	FrontMatterRows  = 100
	PageFormulas     = 200      // of a page that are shown as mathematics; the rest is their source
	FormulaSource    = 2 << 10  // bytes of such a formula
	FormulaDepth     = 32       // levels of its groups and arguments
	FormulaMarkup    = 64 << 10 // bytes of its MathML
	FormulasMarkup   = 4 * MiB  // of all formulas of a page
)
