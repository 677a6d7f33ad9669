package render

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"vitrine/shared/platform/limits"
)

// notebook is the part of the Jupyter notebook format that pages show: that of version 4, and of version 3 its
// worksheets.
type notebook struct {
	Cells      []cell `json:"cells"`
	Worksheets []struct {
		Cells []cell `json:"cells"`
	} `json:"worksheets"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type cell struct {
	Type        string                       `json:"cell_type"`
	Source      joined                       `json:"source"`
	Count       *int                         `json:"execution_count"`
	Outputs     []output                     `json:"outputs"`
	Attachments map[string]map[string]joined `json:"attachments"` // images of Markdown, by name and media type

	// Version 3 has these.
	Input    joined `json:"input"`
	Number   *int   `json:"prompt_number"`
	Language string `json:"language"`
	Level    int    `json:"level"`
}

// joined is a text that may be a list of its lines. Anything else is its JSON.
type joined string

// UnmarshalJSON implements json.Unmarshaler.
func (j *joined) UnmarshalJSON(b []byte) error {
	*j = joined(join(b, ""))
	return nil
}

// stacked is a text that may be a list of its lines, without their ends.
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
	var many []string
	if json.Unmarshal(b, &many) == nil {
		return strings.Join(many, between)
	}
	return string(b)
}

// readNotebook reads the cells of a notebook and its language.
func (s Source) readNotebook(ctx context.Context) (cells []cell, language string, err error) {
	if s.File.Size > limits.RenderedNotebook {
		return nil, "", fmt.Errorf("%w: it is larger than %s", errFailed, size(limits.RenderedNotebook))
	}
	text, err := s.read(ctx, limits.RenderedNotebook)
	if err != nil {
		return nil, "", err
	}
	var n notebook
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, "", fmt.Errorf("%w: it is no notebook", errFailed)
	}
	cells = n.Cells
	for _, sheet := range n.Worksheets {
		cells = append(cells, sheet.Cells...)
	}
	if cells == nil {
		return nil, "", fmt.Errorf("%w: it is no notebook", errFailed)
	}
	language = n.Metadata.Language.Name
	if language == "" {
		language = n.Metadata.Kernel.Language
	}
	for i := 0; i < len(cells) && language == ""; i++ {
		language = cells[i].Language
	}
	return cells, language, nil
}

// notebookView shows the cells of a notebook with what they put out.
func notebookView(ctx context.Context, s Source, b *body, _ Query) error {
	cells, language, err := s.readNotebook(ctx)
	if err != nil {
		return err
	}
	colouring, cancel := context.WithTimeout(ctx, limits.HighlightTime)
	defer cancel()
	b.formulas = newFormulas(ctx)
	n := notebookWriter{source: s, ctx: colouring, b: b, language: language, colours: limits.HighlightedText}
	b.printf(`<div class="v-notebook">`)
	for i, c := range cells {
		if i == limits.NotebookCells || b.full() {
			b.note("Only the first %d of %d cells are shown.", i, len(cells))
			break
		}
		if err := n.cell(i, c); err != nil {
			return err
		}
	}
	b.printf("</div>")
	b.formulas.note(b)
	if n.imagesLeft {
		b.note("Images above %s in all are left out.", size(limits.NotebookImages))
	}
	return nil
}

type notebookWriter struct {
	source     Source
	ctx        context.Context // ends the colouring of code
	b          *body
	language   string
	colours    int // bytes of code that may still be coloured
	images     int // bytes of images written
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
		n.pre("v-raw", escape(clip(source, limits.NotebookOutput)))
		return nil
	}
	n.code(c, clip(source, limits.RenderedText))
	for _, o := range merged(c.Outputs) {
		if err := n.output(i, o); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes a text of Markdown; its ids are those of the cell.
func (n *notebookWriter) markdown(i int, text string, attachments map[string]map[string]joined) error {
	d := document{
		source:   n.source,
		ctx:      n.ctx,
		prefix:   fmt.Sprintf("cell-%d-", i+1),
		colours:  n.colours,
		math:     mathematics{formulas: n.b.formulas, jupyter: true},
		attached: func(name string) (string, bool) { return n.picture(attachments[name]) },
	}
	source := []byte(clip(text, limits.RenderedText))
	n.b.printf(`<div class="v-prose" dir="auto">`)
	defer n.b.printf("</div>")
	root, err := d.parse(source)
	if err != nil {
		return err
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

// terminal writes what a program printed.
func (n *notebookWriter) terminal(class, text string) {
	shown := clip(overwritten(string(text8([]byte(text)))), limits.NotebookOutput)
	n.pre(class, strings.Join(terminalLines(shown), "\n"))
}

// overwritten returns of every line what is left of it, because a bar of progress returns to its beginning.
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
