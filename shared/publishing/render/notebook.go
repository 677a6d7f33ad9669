package render

import (
	"context"
	"encoding/base64"
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
	Type    string   `json:"cell_type"`
	Source  joined   `json:"source"`
	Input   joined   `json:"input"` // version 3
	Count   *int     `json:"execution_count"`
	Outputs []output `json:"outputs"`
	Level   int      `json:"level"`
}

type output struct {
	Type      string            `json:"output_type"`
	Text      joined            `json:"text"`
	Data      map[string]joined `json:"data"`
	Traceback joined            `json:"traceback"`
	Name      string            `json:"ename"`
	Value     string            `json:"evalue"`
	PNG       joined            `json:"png"`   // version 3
	HTML      joined            `json:"html"`  // version 3
	Latex     joined            `json:"latex"` // version 3
}

// joined is a text that may be a list of its lines. Anything else is its JSON.
type joined string

// UnmarshalJSON implements json.Unmarshaler.
func (j *joined) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*j = joined(one)
		return nil
	}
	var many []string
	if json.Unmarshal(b, &many) == nil {
		*j = joined(strings.Join(many, ""))
		return nil
	}
	*j = joined(b)
	return nil
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
		return n.markdown(i, source)
	case "raw":
		n.pre("v-raw", escape(clip(source, limits.NotebookOutput)))
		return nil
	}
	n.code(c, clip(source, limits.RenderedText))
	for _, o := range c.Outputs {
		if err := n.output(i, o); err != nil {
			return err
		}
	}
	return nil
}

// markdown writes a text of Markdown; its ids are those of the cell.
func (n *notebookWriter) markdown(i int, text string) error {
	d := document{
		source:  n.source,
		ctx:     n.ctx,
		prefix:  fmt.Sprintf("cell-%d-", i+1),
		colours: n.colours,
		math:    mathematics{formulas: n.b.formulas, jupyter: true},
	}
	source := []byte(clip(text, limits.RenderedText))
	n.b.printf(`<div class="v-prose" dir="auto">`)
	defer n.b.printf("</div>")
	err := d.render(n.b, d.parse(source), source)
	n.colours = d.colours
	return err
}

func (n *notebookWriter) code(c cell, code string) {
	count := " "
	if c.Count != nil {
		count = fmt.Sprint(*c.Count)
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
	shown := clip(string(text8([]byte(text))), limits.NotebookOutput)
	n.pre(class, strings.Join(terminalLines(strings.ReplaceAll(shown, "\r\n", "\n")), "\n"))
}

// pictures are the media types of the images that an output may hold, the best first.
var pictures = []string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"}

// output writes the richest form of an output that a page can hold.
func (n *notebookWriter) output(i int, o output) error {
	switch {
	case o.Type == "stream":
		n.terminal("v-out", string(o.Text))
		return nil
	case o.Type == "error" || o.Type == "pyerr":
		text := string(o.Traceback)
		if text == "" {
			text = o.Name + ": " + o.Value
		}
		n.terminal("v-error", text)
		return nil
	}
	for _, kind := range pictures {
		if data := o.Data[kind]; data != "" && n.image(kind, string(data)) {
			return nil
		}
	}
	if o.PNG != "" && n.image("image/png", string(o.PNG)) {
		return nil
	}
	return n.rich(i, o)
}

// rich writes an output that is no image.
func (n *notebookWriter) rich(i int, o output) error {
	if markup := string(o.Data["text/html"] + o.HTML); markup != "" {
		n.b.printf(`<div class="v-wide v-html" tabindex="0" dir="auto">`)
		n.source.rewrite(n.b, clip(string(text8([]byte(markup))), limits.RenderedText))
		n.b.printf("</div>")
		return nil
	}
	if text := string(o.Data["text/markdown"]); text != "" {
		return n.markdown(i, text)
	}
	if tex, is := latex(string(o.Data["text/latex"] + o.Latex)); is {
		n.b.printf(`<p>`)
		n.source.rewrite(n.b, n.b.formulas.add(tex, true))
		n.b.printf(`</p>`)
		return nil
	}
	for _, kind := range []string{"text/latex", "application/json", "text/plain"} {
		if text := string(o.Data[kind]); text != "" {
			n.terminal("v-out", text)
			return nil
		}
	}
	if o.Text != "" {
		n.terminal("v-out", string(o.Text))
	}
	return nil
}

// image writes an image into the page. It reports whether that is one.
func (n *notebookWriter) image(kind, data string) bool {
	var encoded string
	if kind == "image/svg+xml" {
		encoded = base64.StdEncoding.EncodeToString([]byte(data))
	} else {
		encoded = strings.Join(strings.Fields(data), "")
		if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
			return false
		}
	}
	if n.images += len(encoded); n.images > limits.NotebookImages {
		n.imagesLeft = true
		return false
	}
	n.b.printf(`<p class="v-image"><img alt="Output of the cell" src="data:%s;base64,%s"></p>`, kind, encoded)
	return true
}

// latex returns the formula of an output that is one formula.
func latex(text string) (tex string, is bool) {
	tex = strings.TrimSpace(text)
	for _, ends := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\[`, `\]`}, {`\(`, `\)`}} {
		if inner, begins := strings.CutPrefix(tex, ends[0]); begins {
			if inner, begins = strings.CutSuffix(inner, ends[1]); begins && !strings.Contains(inner, "$") {
				return inner, true
			}
		}
	}
	return tex, endOfEnvironment([]byte(tex)) != ""
}
