package prose

import (
	"bufio"
	"bytes"
	"fmt"
	"sync"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	lines "github.com/yuin/goldmark/text"

	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/markdown"
)

// documents returns the parser of all documents, because making one takes longer than a short document.
var documents = sync.OnceValue(func() parser.Parser { return markdown.New("").Parser() })

// markdown adds the text of a document. The fields before it are as they are, and formulas are their source. The
// document becomes HTML without attributes first, because HTML in it may go on from one block to the next.
func (p *page) markdown(source []byte, b *markdown.Budget) error {
	head, source, _ := text.CutFrontMatter(source)
	root, err := b.Parse(documents(), source, parser.NewContext())
	if err != nil {
		return err
	}
	p.verbatim(bytes.TrimSpace(head))
	var out bytes.Buffer
	w := writer{bufio.NewWriter(&out), source}
	walk(root, w.visit)
	w.Flush()
	p.read(out.Bytes())
	return nil
}

// walk visits the nodes of a document in order, each with its children after it. It leaves out the children of a node
// for which visit returns false. It calls itself nowhere, because documents of strangers are deep.
func walk(root ast.Node, visit func(n ast.Node, entering bool) (children bool)) {
	for n := root; n != nil; {
		if visit(n, true) && n.FirstChild() != nil {
			n = n.FirstChild()
			continue
		}
		for visit(n, false); n != root && n.NextSibling() == nil; visit(n, false) {
			n = n.Parent()
		}
		if n == root {
			return
		}
		n = n.NextSibling()
	}
}

// writer writes a document as HTML that has the text, the blocks and the markup of the document, and no addresses: a
// document can name a long one many times.
type writer struct {
	*bufio.Writer
	source []byte
}

// visit writes what is before the children of a node, and what is after them.
func (w writer) visit(node ast.Node, entering bool) (children bool) {
	if node.Type() == ast.TypeBlock && node.Kind() != ast.KindHTMLBlock {
		w.WriteString("<p>")
	}
	if !entering {
		return true
	}
	switch n := node.(type) {
	case *ast.Text:
		w.text(n)
	case *ast.String:
		html.DefaultWriter.Write(w, n.Value)
	case *ast.AutoLink:
		html.DefaultWriter.RawWrite(w, n.Label(w.source))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		w.WriteString("<pre>")
		html.DefaultWriter.RawWrite(w, n.Lines().Value(w.source))
		w.WriteString("</pre>")
	case *ast.HTMLBlock:
		w.markup(n.Lines())
		if n.HasClosure() {
			w.Write(n.ClosureLine.Value(w.source))
		}
	case *ast.RawHTML:
		w.markup(n.Segments)
	case *east.FootnoteLink:
		fmt.Fprint(w, n.Index)
	case *ast.Image:
		return false
	}
	return true
}

func (w writer) text(n *ast.Text) {
	value := n.Segment.Value(w.source)
	if n.IsRaw() {
		html.DefaultWriter.RawWrite(w, value)
		return
	}
	html.DefaultWriter.Write(w, value)
	switch {
	case n.HardLineBreak():
		w.WriteString("<br>")
	case n.SoftLineBreak():
		w.WriteByte('\n')
	}
}

func (w writer) markup(parts *lines.Segments) { w.Write(parts.Value(w.source)) }
