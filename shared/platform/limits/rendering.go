package limits

import "time"

// How much the pages of files show. Beyond these numbers a page shows less and says so. The raw file stays one click
// away.
const (
	RenderTime   = 7 * time.Second // how long a view may take before the page shows the text instead
	RenderWait   = 2 * time.Second // the part of RenderTime that a view may wait for a place
	RenderedPage = 12 * MiB        // HTML of a page at which a view stops

	RenderedMarkdown = 2 * MiB     // source of a document
	MarkdownSteps    = 200_000_000 // steps of its parser where it takes quadratic time
	MarkdownMemory   = 200_000_000 // estimated memory of its parser, in bytes
	MarkdownLevels   = 1_000       // quotations and lists that one line may open
	RenderedText     = 1 * MiB     // of the text or code that a page shows
	RenderedLines    = 20_000      // of such a text
	RenderedLine     = 8 << 10     // bytes of such a line
	HighlightedText  = 1 * MiB     // code that is coloured in one page; the rest is plain
	HighlightTime    = 2 * time.Second
	RenderedData     = 2 * MiB  // JSON and YAML
	RenderedDepth    = 64       // levels of such a document
	RenderedNodes    = 60_000   // values of such a document
	YAMLValues       = 150_000  // values that a YAML document may have
	RenderedTable    = 20 * MiB // of a table, as far as it is read
	RenderedRows     = 5_000
	RenderedColumns  = 200
	RenderedCells    = 200_000
	RenderedCell     = 1 << 10  // bytes of a cell
	RenderedRow      = 1 * MiB  // bytes of a row, as far as it is read
	RenderedNotebook = 20 * MiB // of a notebook
	NotebookCells    = 2_000
	NotebookOutputs  = 20_000    // of all cells
	NotebookOutput   = 256 << 10 // bytes of one text that a cell printed
	NotebookImages   = 8 * MiB   // images of a notebook, encoded
	RenderedPatch    = 2 * MiB
	Diagrams         = 50       // diagrams of a page that are drawn; the script of the page spells the same number
	DiagramSource    = 50 << 10 // bytes of one
	RenderedPDF      = 50 * MiB
	RenderedEntries  = 500 // files and folders of a listing
	SniffedText      = 512 // bytes by which a file is judged to be text
	OutlineHeadings  = 300
	FrontMatter      = 64 << 10 // bytes of the front matter of a document
	FrontMatterRows  = 100
	PageFormulas     = 200      // formulas of a page that are shown as mathematics; the others are shown as source
	FormulaSource    = 2 << 10  // bytes of such a formula
	FormulaDepth     = 32       // levels of its groups and arguments
	FormulaMarkup    = 64 << 10 // bytes of its MathML
	FormulasMarkup   = 4 * MiB  // of all formulas of a page
)

// What the pages that a process makes at once may hold. Beyond that readers are told to retry.
const (
	RendersAtOnce    = 16 // pages that readers wait for
	ArtifactRenders  = 2  // of them for one artifact, including runaway views, which were given up but go on
	WorkspaceRenders = 4  // of them for one workspace, including runaway views
	RunawayViews     = 16 // runaway views above which files are shown as text
	// RunawayTime is how long runaway views may go on after the answer of a function. The function ends then, because
	// Lambda would let them go on under the next request.
	RunawayTime = 500 * time.Millisecond

	RenderMemory          = 256 * MiB // reserved by weight; a function has 512 MB
	WorkspaceRenderMemory = 192 * MiB // of that for one workspace, and for one page
	RenderBase            = 2 * MiB   // that every page reserves
)

// Bytes of memory that a view reserves for each byte that it reads. Each weight is above the highest measured ratio of
// live heap to bytes. The measurements had the collector at 10 % and a sample each millisecond. They covered prose,
// lists of a letter, tables of letters, code, coloured logs, cells of 1 KB, numbers in JSON and YAML, and notebooks of
// texts and images.
const (
	MarkdownWeight = 640 // nested lists of a letter; prose takes 60
	CodeWeight     = 40
	LogWeight      = 40
	TableWeight    = 8
	DataWeight     = 576 // numbers in YAML; JSON takes 20
	NotebookWeight = 32
	PatchWeight    = 16
)
