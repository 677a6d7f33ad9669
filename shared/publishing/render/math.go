package render

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"vitrine/shared/publishing/markdown"
)

// formulas has the formulas of a page. Their MathML must not pass the rewriting of links, which drops MathML that
// publishers write. So a document has a mark for each formula: an element whose name is random for every page, so that
// a publisher cannot know it. The rewriting replaces a mark by its MathML only between other elements, and never where
// a publisher's tag or text contains the mark.
type formulas struct {
	ctx    context.Context // ends the making of MathML
	mark   string          // name of the element
	markup []string
	bytes  int // of MathML
	asText int // formulas that are shown as text
}

func newFormulas(ctx context.Context) *formulas {
	return &formulas{ctx: ctx, mark: "v-" + strings.ToLower(rand.Text())}
}

// add makes the markup of a formula and returns its mark.
const (
	maxFormulas       = 200     // of a page that are shown as mathematics; the rest is their source
	maxFormulasMarkup = 4 << 20 // bytes of their MathML
)

func (f *formulas) add(tex string, display bool) string {
	made, err := "", f.ctx.Err()
	if err == nil && len(f.markup) < maxFormulas && f.bytes < maxFormulasMarkup {
		made, err = mathML(tex, display)
		f.bytes += len(made)
	}
	switch {
	case err != nil || made == "":
		f.asText++
		made = `<code class="v-math">` + escape(strings.TrimSpace(tex)) + `</code>`
	case display:
		made = `<span class="v-formula" tabindex="0">` + made + `</span>`
	}
	f.markup = append(f.markup, made)
	return fmt.Sprintf(`<%s n="%d">`, f.mark, len(f.markup)-1)
}

// at returns the markup of the formula whose mark a tag is.
func (f *formulas) at(t html.Token) (markup string, is bool) {
	if f == nil || t.Data != f.mark {
		return "", false
	}
	n, err := strconv.Atoi(attribute(t, "n"))
	if err != nil || n < 0 || n >= len(f.markup) {
		return "", false
	}
	return f.markup[n], true
}

// note says how many formulas the page shows as text.
func (f *formulas) note(b *body) {
	if f.asText > 0 {
		b.note("Formulas that are shown as text: %d of %d, because they are too many, too long or not supported here.",
			f.asText, len(f.markup))
	}
}

// mathematics extends a Markdown parser with formulas in the notation of GitHub, and in notebooks that of Jupyter too.
type mathematics struct {
	formulas *formulas
	jupyter  bool
}

// Extend implements goldmark.Extender.
func (m mathematics) Extend(g goldmark.Markdown) {
	g.Parser().AddOptions(
		parser.WithInlineParsers(util.Prioritized(inlineMath{m.jupyter}, 50)),
		parser.WithBlockParsers(util.Prioritized(blockMath{m.jupyter}, 50)),
		parser.WithASTTransformers(util.Prioritized(m, 50)),
	)
	g.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(m, 50)))
}

// Transform turns blocks of code in the language math into formulas.
func (m mathematics) Transform(root *ast.Document, r text.Reader, _ parser.Context) {
	var fences []*ast.FencedCodeBlock
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if fence, is := n.(*ast.FencedCodeBlock); is && entering && string(fence.Language(r.Source())) == "math" {
			fences = append(fences, fence)
		}
		return ast.WalkContinue, nil
	})
	for _, fence := range fences {
		block := &mathBlock{tex: string(fence.Lines().Value(r.Source()))}
		block.SetLines(fence.Lines())
		fence.Parent().ReplaceChild(fence.Parent(), fence, block)
	}
}

// RegisterFuncs implements renderer.NodeRenderer.
func (m mathematics) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(kindMathSpan, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if span := n.(*mathSpan); entering {
			fmt.Fprint(w, m.formulas.add(span.tex, span.display))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(kindMathBlock, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			line, _ := n.AttributeString("data-line")
			fmt.Fprintf(w, "<p data-line=\"%v\">%s</p>\n", line, m.formulas.add(n.(*mathBlock).tex, true))
		}
		return ast.WalkSkipChildren, nil
	})
}

var (
	kindMathSpan  = ast.NewNodeKind("MathSpan")
	kindMathBlock = ast.NewNodeKind("MathBlock")
)

// mathSpan is a formula in a line.
type mathSpan struct {
	ast.BaseInline
	tex     string
	display bool
}

// Kind implements ast.Node.
func (s *mathSpan) Kind() ast.NodeKind { return kindMathSpan }

// Dump implements ast.Node.
func (s *mathSpan) Dump(source []byte, level int) { ast.DumpHelper(s, source, level, nil, nil) }

// mathBlock is a formula on lines of its own.
type mathBlock struct {
	ast.BaseBlock
	tex string
	end string // its end mark while it is open; empty: closed
}

// Kind implements ast.Node.
func (b *mathBlock) Kind() ast.NodeKind { return kindMathBlock }

// IsRaw implements ast.Node.
func (b *mathBlock) IsRaw() bool { return true }

// Dump implements ast.Node.
func (b *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(b, source, level, nil, nil) }

// inlineMath parses $x$, $`x`$ and $$x$$, and for Jupyter \\(x\\), \\[x\\] and \begin{align}x\end{align}.
type inlineMath struct{ jupyter bool }

// Trigger implements parser.InlineParser.
func (m inlineMath) Trigger() []byte {
	if m.jupyter {
		return []byte{'$', '\\'}
	}
	return []byte{'$'}
}

// Parse implements parser.InlineParser.
func (m inlineMath) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, at := block.PeekLine()
	before := block.PrecendingCharacter()
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		return m.until(block, pc, "$$", "$$", true)
	case bytes.HasPrefix(line, []byte("$`")):
		return m.until(block, pc, "$`", "`$", false)
	case line[0] == '$' && (unicode.IsLetter(before) || unicode.IsNumber(before)):
		return nil
	case line[0] == '$':
		return dollars(block)
	case bytes.HasPrefix(line, []byte(`\\(`)):
		return m.until(block, pc, `\\(`, `\\)`, false)
	case bytes.HasPrefix(line, []byte(`\\[`)):
		return m.until(block, pc, `\\[`, `\\]`, true)
	}
	if end := endOfEnvironment(line); end != "" && at.Start >= 0 {
		node := m.until(block, pc, "", end, true)
		if span, is := node.(*mathSpan); is {
			span.tex += end
		}
		return node
	}
	return nil
}

// dollars parses a formula between single dollars. The next dollar ends the formula, unless a space is before it or a
// digit after it. Then the first dollar is text, as in $5 and $6. A backtick also makes it text, because code takes
// precedence over formulas.
func dollars(block text.Reader) ast.Node {
	block.Advance(1)
	var tex []byte
	for {
		line, _ := block.PeekLine()
		if line == nil {
			return nil
		}
		for i := 0; i < len(line); i++ {
			switch {
			case line[i] == '\\':
				i++
				continue
			case line[i] == '`':
				return nil
			case line[i] != '$':
				continue
			}
			tex = append(tex, line[:i]...)
			if len(tex) == 0 || util.IsSpace(tex[0]) || util.IsSpace(tex[len(tex)-1]) ||
				i+1 < len(line) && (util.IsNumeric(line[i+1]) || line[i+1] == '$') {
				return nil
			}
			block.Advance(i + 1)
			return &mathSpan{tex: string(tex)}
		}
		tex = append(tex, line...)
		block.AdvanceLine()
	}
}

// unclosed maps an end mark to the position up to which it is known to be missing. The parser does not search again
// before that position, so that many beginnings without an end take linear time.
var unclosed = parser.NewContextKey()

// until parses a formula up to its end mark.
func (m inlineMath) until(block text.Reader, pc parser.Context, begin, end string, display bool) ast.Node {
	missing, _ := pc.Get(unclosed).(map[string]int)
	_, at := block.PeekLine()
	if at.Start < missing[end] {
		return nil
	}
	block.Advance(len(begin))
	var tex []byte
	for last := at; ; {
		line, here := block.PeekLine()
		if line == nil {
			if missing == nil {
				missing = map[string]int{}
				pc.Set(unclosed, missing)
			}
			missing[end] = last.Stop
			return nil
		}
		if i := bytes.Index(line, []byte(end)); i >= 0 {
			tex = append(tex, line[:i]...)
			block.Advance(i + len(end))
			if len(bytes.TrimSpace(tex)) == 0 {
				return nil
			}
			return &mathSpan{tex: string(tex), display: display}
		}
		tex, last = append(tex, line...), here
		block.AdvanceLine()
	}
}

// endOfEnvironment returns the end mark of the environment that a line begins, empty if it begins none.
func endOfEnvironment(line []byte) string {
	rest, begins := bytes.CutPrefix(line, []byte(`\begin{`))
	name, _, ends := bytes.Cut(rest, []byte("}"))
	if !begins || !ends || len(name) > 20 || texEnvironments[string(bytes.TrimSuffix(name, []byte("*")))] == "" &&
		!bytes.HasPrefix(name, []byte("equation")) {
		return ""
	}
	return `\end{` + string(name) + "}"
}

// blockMath parses lines from $$ to $$, and for Jupyter from \begin{align} to \end{align}. Lines without an end mark
// before the next empty line are a paragraph.
type blockMath struct{ jupyter bool }

// Trigger implements parser.BlockParser.
func (m blockMath) Trigger() []byte { return inlineMath(m).Trigger() }

// Open implements parser.BlockParser.
func (m blockMath) Open(_ ast.Node, r text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, at := r.PeekLine()
	trimmed := bytes.TrimSpace(line)
	node := &mathBlock{end: "$$"}
	skip := 2
	if !bytes.HasPrefix(trimmed, []byte("$$")) {
		if node.end = endOfEnvironment(trimmed); node.end == "" {
			return nil, parser.NoChildren
		}
		skip = 0
	}
	if rest := trimmed[skip:]; bytes.Contains(rest, []byte(node.end)) && !bytes.HasSuffix(rest, []byte(node.end)) {
		return nil, parser.NoChildren // inline, because the line goes on after the formula
	}
	node.Lines().Append(at.TrimLeftSpace(r.Source()))
	if bytes.HasSuffix(trimmed[skip:], []byte(node.end)) {
		node.close(r.Source())
	}
	r.AdvanceToEOL()
	return node, parser.NoChildren
}

// close sets the formula from the lines.
func (b *mathBlock) close(source []byte) {
	tex := strings.TrimSpace(string(b.Lines().Value(source)))
	if b.end == "$$" {
		tex = strings.TrimSuffix(strings.TrimPrefix(tex, "$$"), "$$")
	}
	b.tex, b.end = tex, ""
}

// Continue implements parser.BlockParser.
func (m blockMath) Continue(node ast.Node, r text.Reader, _ parser.Context) parser.State {
	block := node.(*mathBlock)
	line, at := r.PeekLine()
	if block.end == "" || util.IsBlank(line) {
		return parser.Close
	}
	block.Lines().Append(at.TrimLeftSpace(r.Source()))
	if bytes.HasSuffix(bytes.TrimSpace(line), []byte(block.end)) {
		block.close(r.Source())
	}
	r.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (m blockMath) Close(node ast.Node, r text.Reader, c parser.Context) {
	if node.(*mathBlock).end == "" {
		return
	}
	last := node.Lines().Len() - 1
	end := node.Lines().At(last)
	node.Lines().Set(last, end.TrimRightSpace(r.Source()))
	unclosed := ast.NewParagraph()
	unclosed.SetLines(node.Lines())
	node.Parent().ReplaceChild(node.Parent(), node, unclosed)
	markdown.Count(unclosed, r, c)
}

// CanInterruptParagraph implements parser.BlockParser.
func (m blockMath) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (m blockMath) CanAcceptIndentedLine() bool { return false }
