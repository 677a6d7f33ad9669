// Package markdown parses Markdown of strangers within a bound of time and memory: GitHub's flavour with footnotes.
package markdown

import (
	"fmt"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	written "vitrine/shared/platform/text"
)

// Most is the largest document that is parsed, in bytes. A larger one is shown as text.
const Most = 2 << 20

// New returns a parser and renderer that counts what it spends. The ids of footnotes begin with prefix. It parses by
// Budget.Parse only.
func New(prefix string, more ...goldmark.Option) goldmark.Markdown {
	return goldmark.New(append([]goldmark.Option{
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough,
			extension.TaskList,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:", "mailto:"})),
			extension.NewFootnote(extension.WithFootnoteIDPrefix(prefix)),
		),
		goldmark.WithParserOptions(
			parser.WithParagraphTransformers(util.Prioritized(paragraph{whole: true}, 0), util.Prioritized(paragraph{}, 1000)),
		),
	}, more...)...)
}

// Parse parses a document. It refuses one that would cost more than is left of the budget, and all after it. The error
// says what costs too much, in words for readers.
func (b *Budget) Parse(p parser.Parser, source []byte, c parser.Context) (ast.Node, error) {
	if b.document(source); b.err != nil {
		return nil, b.err
	}
	c.Set(budgetKey, b)
	root := p.Parse(text.NewReader(source), parser.WithContext(c))
	return root, b.err
}

// Written takes from the budget what the addresses and titles of links take on a page, because each use of a definition
// repeats them. It refuses a document that would write more than is left.
func (b *Budget) Written(root ast.Node) error {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, is := n.(*ast.Link); is && entering {
			b.addresses -= len(link.Destination) + len(link.Title)
		}
		if image, is := n.(*ast.Image); is && entering {
			b.addresses -= len(image.Destination) + len(image.Title)
		}
		return ast.WalkContinue, nil
	})
	if b.addresses < 0 && b.err == nil {
		b.err = fmt.Errorf("the addresses of its links take more than %s", written.Size(maxAddresses))
	}
	return b.err
}

// Refuse makes Parse refuse every further document, for another reason than its cost.
func (b *Budget) Refuse(reason error) { b.err = reason }

// Count counts the cost of a paragraph that a block parser made after paragraphs were counted. It drops one that costs
// too much.
func Count(node *ast.Paragraph, r text.Reader, c parser.Context) { paragraph{}.Transform(node, r, c) }
