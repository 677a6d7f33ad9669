package render

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/markdown"
)

func init() {
	// Nested lists of a letter take most; prose takes 60.
	views[media.MarkdownView] = viewer{show: markdownView, weight: 640, most: markdown.Most}
}

// markdownView shows a Markdown document: GitHub's flavour with footnotes, alerts and front matter.
func markdownView(ctx context.Context, s Source, b *body, _ Query) error {
	s.paths = pathsOf(s.Files)
	if s.File.Size > markdown.Most {
		b.note("Documents above %s are shown as text.", size(markdown.Most))
		return s.plain(ctx, b)
	}
	source, err := s.read(ctx, markdown.Most)
	if err != nil {
		return err
	}
	colouring, cancel := context.WithTimeout(ctx, maxHighlightTime)
	defer cancel()
	b.formulas = newFormulas(ctx)
	d := document{source: s, ctx: colouring, colours: maxHighlighted, math: mathematics{formulas: b.formulas}}
	source = d.frontMatter(b, text8(source))
	root, err := d.parse(source)
	if err != nil {
		return err
	}
	d.outline(b, root, source)
	b.printf(`<article class="v-prose" dir="auto">`)
	if err := d.render(b, root, source); err != nil {
		return err
	}
	b.printf("</article>")
	b.formulas.note(b)
	return nil
}

// document is a Markdown text that is being rendered.
type document struct {
	source   Source
	ctx      context.Context // ends the colouring of code
	line     int             // lines before the text
	prefix   string          // of its ids, on a page with several documents
	colours  int             // bytes of code that may still be coloured
	diagrams int             // of the page so far
	math     mathematics
	budget   *markdown.Budget // nil: a new one

	attached func(name string) (address string, is bool) // finds the images inside a cell of a notebook
}

func (d *document) format() goldmark.Markdown {
	return markdown.New(d.prefix,
		goldmark.WithExtensions(d.math),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(
			html.WithUnsafe(), // markup is kept, because all of it passes the policy afterwards
			renderer.WithNodeRenderers(util.Prioritized(d, 100)),
		),
	)
}

// parse parses the text and marks its blocks. It refuses a text that would cost the parser too much time or memory.
func (d *document) parse(source []byte) (ast.Node, error) {
	if d.budget == nil {
		d.budget = markdown.NewBudget()
	}
	c := parser.NewContext(parser.WithIDs(&headingIDs{prefix: d.prefix, used: map[string]int{}}))
	root, err := d.budget.Parse(d.format().Parser(), source, c)
	if err == nil {
		err = d.budget.Written(root)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFailed, err)
	}
	lines := newLines(source)
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if at, ok := start(n); ok && n.Kind() != ast.KindDocument {
			n.SetAttributeString("data-line", strconv.Itoa(d.line+lines.at(at)))
		}
		if quote, is := n.(*ast.Blockquote); is {
			markAlert(quote, source)
		}
		return ast.WalkContinue, nil
	})
	return root, nil
}

// start returns the position in the text at which a block begins.
func start(n ast.Node) (int, bool) {
	for depth := 0; n != nil && n.Type() != ast.TypeInline && depth < maxOpen; depth++ {
		if l := n.Lines(); l != nil && l.Len() > 0 {
			return l.At(0).Start, true
		}
		n = n.FirstChild()
	}
	return 0, false
}

// render writes the blocks, with links and media rewritten for the revision.
func (d *document) render(b *body, root ast.Node, source []byte) error {
	d.diagrams = b.diagrams
	var out bytes.Buffer
	if err := d.format().Renderer().Render(&out, source, root); err != nil {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	if b.diagrams = d.diagrams; b.diagrams > 0 {
		b.runner = diagramRunner
	}
	m := d.source.markup(b)
	m.attached = d.attached
	m.rewrite(out.String())
	return nil
}

// RegisterFuncs implements renderer.NodeRenderer.
func (d *document) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, d.code)
	r.Register(ast.KindCodeBlock, d.code)
	r.Register(east.KindTable, d.table)
}

// code writes a block of code, coloured if its language is known.
func (d *document) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if fenced, is := n.(*ast.FencedCodeBlock); is {
		language = string(fenced.Language(source))
	}
	var code strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		code.Write(segment.Value(source))
	}
	if d.drawn(language, code.String()) {
		fmt.Fprint(w, `<figure class="v-diagram" tabindex="0"`)
		html.RenderAttributes(w, n, nil)
		fmt.Fprint(w, "><details open><summary>Source of the diagram</summary><pre tabindex=\"0\"><code>", escape(code.String()),
			"</code></pre></details></figure>\n")
		return ast.WalkSkipChildren, nil
	}
	fmt.Fprint(w, `<pre tabindex="0"`)
	html.RenderAttributes(w, n, nil)
	fmt.Fprint(w, "><code>")
	d.colours -= code.Len()
	if language == "" || d.colours < 0 {
		fmt.Fprint(w, escape(code.String()))
	} else {
		fmt.Fprint(w, strings.Join(highlight(d.ctx, lexerNamed(language), code.String()), "\n"))
	}
	fmt.Fprint(w, "</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// table writes a table in an element that scrolls by itself if the table is wide.
func (d *document) table(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprint(w, `<div class="v-wide" tabindex="0"><table`)
		html.RenderAttributes(w, n, nil)
		fmt.Fprint(w, ">\n")
	} else {
		fmt.Fprint(w, "</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// outline writes a list of the headings of a document that has at least three.
// maxHeadings is how many headings an outline has.
const maxHeadings = 300

func (d *document) outline(b *body, root ast.Node, source []byte) {
	var rows []string
	for n := root.FirstChild(); n != nil && len(rows) < maxHeadings; n = n.NextSibling() {
		h, is := n.(*ast.Heading)
		if !is || h.Level > 3 {
			continue
		}
		id, _ := h.AttributeString("id")
		name, _ := id.([]byte)
		rows = append(rows, fmt.Sprintf(`<li class="v-level-%d"><a href="#%s">%s</a></li>`, h.Level,
			escape(target{fragment: string(name)}.escapedFragment()), escape(plainText(h, source))))
	}
	if len(rows) < 3 {
		return
	}
	b.printf(`<details class="v-outline"><summary>Contents</summary><nav aria-label="Contents"><ul>%s</ul></nav></details>`,
		strings.Join(rows, ""))
}

// plainText returns the text of the inline nodes below a node, cut to a length for lists.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		switch c := c.(type) {
		case *ast.Text:
			if entering {
				b.Write(c.Segment.Value(source))
				if c.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(c.Value)
			}
		case *mathSpan:
			if entering {
				b.WriteString(c.tex)
			}
		}
		return ast.WalkContinue, nil
	})
	return clip(strings.TrimSpace(b.String()), 200)
}

var alertShape = regexp.MustCompile(`^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$`)

// markAlert turns a quotation that begins with [!NOTE] or the like into an alert, as GitHub does.
func markAlert(quote *ast.Blockquote, source []byte) {
	first, is := quote.FirstChild().(*ast.Paragraph)
	if !is || first.Lines().Len() == 0 {
		return
	}
	line := first.Lines().At(0)
	found := alertShape.FindSubmatch(bytes.TrimSpace(line.Value(source)))
	if found == nil {
		return
	}
	for n := first.FirstChild(); n != nil; n = first.FirstChild() {
		t, is := n.(*ast.Text)
		if !is || t.Segment.Start >= line.Stop {
			break
		}
		first.RemoveChild(first, n)
	}
	if first.ChildCount() == 0 {
		quote.RemoveChild(quote, first)
	}
	kind := strings.ToLower(string(found[1]))
	quote.SetAttributeString("class", "v-alert v-"+kind)
	title := ast.NewParagraph()
	title.SetAttributeString("class", "v-alert-title")
	name := ast.NewString([]byte(strings.ToUpper(kind[:1]) + kind[1:]))
	title.AppendChild(title, name)
	if quote.FirstChild() == nil {
		quote.AppendChild(quote, title)
		return
	}
	quote.InsertBefore(quote, quote.FirstChild(), title)
}

// headingIDs makes ids of headings as GitHub does: letters and digits of every script, with hyphens for spaces.
type headingIDs struct {
	prefix string
	used   map[string]int
}

// Generate implements parser.IDs.
func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r) && b.Len() > 0, r == '_', r == '-' && b.Len() > 0:
			b.WriteRune(r)
		case unicode.IsSpace(r) && b.Len() > 0:
			b.WriteByte('-')
		}
	}
	id := h.prefix + clip(b.String(), 100)
	if id == h.prefix {
		id = h.prefix + "section"
	}
	for {
		n := h.used[id]
		h.used[id] = n + 1
		if n == 0 {
			return []byte(id)
		}
		id += "-" + strconv.Itoa(n)
	}
}

// Put implements parser.IDs.
func (h *headingIDs) Put(value []byte) { h.used[string(value)]++ }
