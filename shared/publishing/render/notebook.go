package render

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/markdown"
)

const (
	maxNotebook      = 20 << 20 // bytes of a notebook
	maxNotebookCells = 2_000
	maxOutputs       = 20_000    // of all cells
	maxOutput        = 256 << 10 // bytes of one text that a cell printed
	maxImages        = 8 << 20   // bytes of the images of a notebook, encoded
)

func init() { views[media.NotebookView] = viewer{show: notebookView, weight: 32, most: maxNotebook} }

// notebook is the part of the Jupyter notebook format that pages show: version 4, and the worksheets of version 3.
type notebook struct {
	Cells      cells      `json:"cells"`
	Worksheets worksheets `json:"worksheets"`
	Metadata   struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

// cells has the first cells of a list, as many as pages show.
type cells struct {
	shown []cell
	count int // of all
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *cells) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if b[0] != '[' {
		return errNotebook
	}
	c.shown = []cell{}
	for _, value := range jsonParts(b) {
		if c.count++; len(c.shown) == maxNotebookCells {
			continue
		}
		var one cell
		if err := json.Unmarshal(value, &one); err != nil {
			return err
		}
		c.shown = append(c.shown, one)
	}
	return nil
}

// worksheets are the worksheets of version 3, joined.
type worksheets struct{ cells }

// UnmarshalJSON implements json.Unmarshaler.
func (w *worksheets) UnmarshalJSON(b []byte) error {
	for _, value := range jsonParts(b) {
		var sheet struct {
			Cells cells `json:"cells"`
		}
		if err := json.Unmarshal(value, &sheet); err != nil {
			return err
		}
		w.shown = append(w.shown, sheet.Cells.shown[:min(len(sheet.Cells.shown), maxNotebookCells-len(w.shown))]...)
		w.count += sheet.Cells.count
	}
	return nil
}

type cell struct {
	Type        string          `json:"cell_type"`
	Source      joined          `json:"source"`
	Count       *int            `json:"execution_count"`
	Outputs     json.RawMessage `json:"outputs"`
	Attachments json.RawMessage `json:"attachments"` // images of Markdown, by name and media type

	// Version 3 has these.
	Input    joined `json:"input"`
	Number   *int   `json:"prompt_number"`
	Language string `json:"language"`
	Level    int    `json:"level"`
}

// joined is a text that the format may store as a list of lines. Any other value becomes its JSON.
type joined string

// UnmarshalJSON implements json.Unmarshaler.
func (j *joined) UnmarshalJSON(b []byte) error {
	*j = joined(join(b, ""))
	return nil
}

// stacked is a text that the format may store as a list of lines without line ends.
type stacked string

// UnmarshalJSON implements json.Unmarshaler.
func (s *stacked) UnmarshalJSON(b []byte) error {
	*s = stacked(join(b, "\n"))
	return nil
}

func join(b []byte, between string) string {
	var one string
	if json.Unmarshal(b, &one) == nil {
		return one
	}
	if b[0] != '[' {
		return string(b)
	}
	var out strings.Builder
	n := 0
	for _, value := range jsonParts(b) {
		if n++; n > 1 {
			out.WriteString(between)
		}
		if value[0] == '"' && bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
			out.Write(value[1 : len(value)-1]) // most lines have no escapes and need no decoding
			continue
		}
		one = ""
		if json.Unmarshal(value, &one) != nil {
			return string(b)
		}
		out.WriteString(one)
	}
	return out.String()
}

var errNotebook = fmt.Errorf("%w: it is no notebook", errFailed)

// readNotebook reads the cells of a notebook and its language.
func (s Source) readNotebook(ctx context.Context) (found cells, language string, err error) {
	if s.File.Size > maxNotebook {
		return found, "", fmt.Errorf("%w: it is larger than %s", errFailed, size(maxNotebook))
	}
	text, err := s.read(ctx, maxNotebook)
	if err != nil {
		return found, "", err
	}
	var n notebook
	if err := json.Unmarshal(text, &n); err != nil {
		return found, "", errNotebook
	}
	if found = n.Cells; n.Worksheets.count > 0 {
		found.shown = append(found.shown, n.Worksheets.shown...)
		found.count += n.Worksheets.count
	}
	if found.shown == nil {
		return found, "", errNotebook
	}
	language = n.Metadata.Language.Name
	if language == "" {
		language = n.Metadata.Kernel.Language
	}
	for i := 0; i < len(found.shown) && language == ""; i++ {
		language = found.shown[i].Language
	}
	return found, language, nil
}

// notebookView shows the cells of a notebook with their outputs.
func notebookView(ctx context.Context, s Source, b *body, _ Query) error {
	s.paths = pathsOf(s.Files)
	cells, language, err := s.readNotebook(ctx)
	if err != nil {
		return err
	}
	colouring, cancel := context.WithTimeout(ctx, maxHighlightTime)
	defer cancel()
	b.formulas = newFormulas(ctx)
	n := notebookWriter{
		source:   s,
		ctx:      colouring,
		b:        b,
		language: language,
		colours:  maxHighlighted,
		outputs:  maxOutputs,
		text:     markdown.Most,
		budget:   markdown.NewBudget(),
	}
	b.printf(`<div class="v-notebook">`)
	written := 0
	for ; written < min(len(cells.shown), maxNotebookCells) && !b.full(); written++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := n.cell(written, cells.shown[written]); err != nil {
			return err
		}
	}
	if written < cells.count {
		b.note("Only the first %d of %d cells are shown.", written, cells.count)
	}
	b.printf("</div>")
	b.formulas.note(b)
	if n.outputs < 0 {
		b.note("Only the first %d outputs are shown.", maxOutputs)
	}
	if n.refused != nil {
		b.note("Some Markdown is shown as its text, because %s.", reason(n.refused))
	}
	if n.imagesLeft {
		b.note("Images above %s in all are left out.", size(maxImages))
	}
	return nil
}

type notebookWriter struct {
	source     Source
	ctx        context.Context // ends the colouring of code
	b          *body
	language   string
	colours    int // bytes of code that may still be coloured
	outputs    int // outputs that may still be read
	text       int // bytes of Markdown that may still be parsed
	budget     *markdown.Budget
	refused    error // why Markdown was not parsed
	images     int   // bytes of written images
	imagesLeft bool
}

func (n *notebookWriter) cell(i int, c cell) error {
	source := string(text8([]byte(c.Source + c.Input)))
	n.b.printf(`<section class="v-cell" data-line="%d">`, i+1)
	defer n.b.printf("</section>\n")
	switch c.Type {
	case "markdown", "heading":
		if c.Type == "heading" {
			source = strings.Repeat("#", min(max(c.Level, 1), 6)) + " " + source
		}
		return n.markdown(i, source, c.Attachments)
	case "raw":
		n.pre("v-raw", escape(clip(source, maxOutput)))
		return nil
	}
	n.code(c, clip(source, maxText))
	outputs, err := outputsOf(c.Outputs, &n.outputs)
	if err != nil {
		return err
	}
	for _, o := range merged(outputs) {
		if n.b.full() {
			break
		}
		if err := n.output(i, o); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes a Markdown text, whose ids begin with the number of the cell. A text that costs too much is shown as
// it is.
func (n *notebookWriter) markdown(i int, text string, attachments json.RawMessage) error {
	images := attached(attachments)
	d := document{
		source:   n.source,
		ctx:      n.ctx,
		prefix:   fmt.Sprintf("cell-%d-", i+1),
		colours:  n.colours,
		math:     mathematics{formulas: n.b.formulas, jupyter: true},
		budget:   n.budget,
		attached: func(name string) (string, bool) { return n.picture(images[name]) },
	}
	source := []byte(clip(text, maxText))
	if n.text -= len(source); n.text < 0 {
		n.budget.Refuse(fmt.Errorf("it has more than %s in all", size(markdown.Most)))
	}
	n.b.printf(`<div class="v-prose" dir="auto">`)
	defer n.b.printf("</div>")
	root, err := d.parse(source)
	if err != nil {
		n.refused = err
		n.pre("v-raw", escape(clip(text, maxOutput)))
		return nil
	}
	err = d.render(n.b, root, source)
	n.colours = d.colours
	return err
}

func (n *notebookWriter) code(c cell, code string) {
	count := " "
	if number := cmp.Or(c.Count, c.Number); number != nil {
		count = fmt.Sprint(*number)
	}
	if strings.TrimSpace(code) == "" {
		return
	}
	lines := escapedLines(code)
	if n.colours -= len(code); n.language != "" && n.colours >= 0 {
		lines = highlight(n.ctx, lexerNamed(n.language), code)
	}
	n.b.printf(`<p class="v-prompt">In [%s]</p>`, escape(count))
	n.pre("v-in", strings.Join(lines, "\n"))
}

// pre writes lines of HTML.
func (n *notebookWriter) pre(class, lines string) {
	n.b.printf(`<pre class="%s" tabindex="0"><code>%s</code></pre>`, class, lines)
}

// terminal writes the output of a program.
func (n *notebookWriter) terminal(class, text string) {
	shown := clip(overwritten(string(text8([]byte(text)))), maxOutput)
	n.pre(class, strings.Join(terminalLines(shown), "\n"))
}

// overwritten returns what is left of every line after carriage returns, with which progress bars overwrite themselves.
func overwritten(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.Contains(text, "\r") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}
