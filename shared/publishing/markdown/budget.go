package markdown

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	written "vitrine/shared/platform/text"
)

// Budget bounds what the parser of Markdown may spend on a document. The parser takes quadratic time for some
// constructs, takes some hundred bytes of memory for a mark of two, and cannot be stopped. So the cost is counted in
// advance: that of lines before the document is parsed, and that of the text of a block before its marks are parsed.
type Budget struct {
	steps, memory int
	addresses     int   // bytes that addresses and titles of links may still take
	bars          int   // escaped bars in tables so far
	err           error // of the first construct that costs too much; later text is not parsed
}

const (
	maxSteps        = 200_000_000 // of the parser where it takes quadratic time
	maxParserMemory = 200_000_000 // bytes, as estimated
	maxAddresses    = 4 << 20     // bytes of a page
	maxLevels       = 1_000       // quotations and lists that one line opens
)

// NewBudget returns the budget of a page. Several documents of a page may share it.
func NewBudget() *Budget {
	return &Budget{steps: maxSteps, memory: maxParserMemory, addresses: maxAddresses}
}

// The measured costs of steps and nodes. A step is a nanosecond or two.
const (
	levelSteps    = 50   // of a line in a quotation or list
	footnoteSteps = 4    // of comparing a reference with a footnote
	barSteps      = 4    // of comparing two escaped bars in tables
	levelMemory   = 60   // bytes of a line in a quotation or list
	blockMemory   = 1000 // of a block
	lineMemory    = 300  // of a line
	cellMemory    = 600  // of a cell of a table
	markMemory    = 500  // of a mark that may become a node

	referenceMemory = 1500 // of a reference to a footnote and the link back
)

// spend takes steps from the budget. The error names what if too few are left.
func (b *Budget) spend(steps int, what string) {
	if b.steps -= steps; b.steps < 0 && b.err == nil {
		b.err = fmt.Errorf("reading its %s takes more than %d steps", what, maxSteps)
	}
}

func (b *Budget) hold(memory int, what string) {
	if b.memory -= memory; b.memory < 0 && b.err == nil {
		b.err = fmt.Errorf("reading its %s takes more than %s of memory", what, written.Size(maxParserMemory))
	}
}

// document counts the cost of the lines of a document, before they are parsed into blocks.
func (b *Budget) document(source []byte) {
	depth, blank := 0, true
	for rest := source; len(rest) > 0 && b.err == nil; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		opened, indent, inner := containers(line)
		if opened > maxLevels {
			b.err = fmt.Errorf("a line is deeper than %d quotations and lists", maxLevels)
		}
		if opened > 0 || len(inner) > 0 && (blank || !letter(inner[0])) {
			b.hold(max(opened, 1)*blockMemory, "lines")
		}
		if len(inner) > 0 {
			b.hold(lineMemory, "lines")
			deep := min(indent/2, depth) + opened
			if !blank { // a line without marks continues the paragraph before it, at any depth
				deep = max(deep, depth)
			}
			depth = deep
		}
		blank = len(inner) == 0
		b.spend(opened*len(line)+depth*levelSteps, "quotations and lists")
		b.hold((1+depth)*levelMemory, "quotations and lists")
		if bytes.HasPrefix(inner, []byte("#")) {
			b.text(inner)
		}
	}
	if footnotes := bytes.Count(source, []byte("]:")); footnotes > 0 {
		references := bytes.Count(source, []byte("[^"))
		b.spend(footnoteSteps*min(footnotes, references)*references, "footnotes")
		b.hold(referenceMemory*references, "footnotes")
	}
}

// containers counts the quotations, items and footnotes that may begin at the start of a line. inner is the rest of the
// line.
func containers(line []byte) (opened, indent int, inner []byte) {
	line = bytes.TrimRight(line, " \t\r")
	for at := line; ; opened++ {
		inner = bytes.TrimLeft(at, " \t")
		indent += len(at) - len(inner)
		if at = inner[marker(inner):]; len(at) == len(inner) {
			break
		}
	}
	if opened > 1 && rule(line) {
		return 0, 0, line
	}
	return opened, indent, inner
}

// marker returns the length of the mark at the start of a line, 0 if there is none.
func marker(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	n := 0
	switch c := line[0]; {
	case c == '>':
		return 1
	case c == '-' || c == '+' || c == '*':
		n = 1
	case c >= '0' && c <= '9':
		for n = 1; n < len(line) && n < 10 && line[n] >= '0' && line[n] <= '9'; {
			n++
		}
		if n == len(line) || line[n] != '.' && line[n] != ')' {
			return 0
		}
		n++
	case bytes.HasPrefix(line, []byte("[^")):
		if end := bytes.Index(line[:min(len(line), 1<<10)], []byte("]:")); end > 0 {
			return end + 2
		}
		return 0
	}
	if n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// letter reports whether a line that begins with c can only continue a paragraph.
func letter(c byte) bool { return c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z' }

// rule reports whether a line is a rule, which opens no container: hyphens or asterisks and spaces.
func rule(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	return (line[0] == '-' || line[0] == '*') && len(bytes.Trim(line, string(line[:1])+" \t")) == 0
}

// text counts the cost of a text whose marks are parsed together.
func (b *Budget) text(s []byte) {
	runs, links := 0, 0
	ticks := map[int]bool{} // lengths of runs of backticks: the parser may search to the end once for each length
	for i := 0; i < len(s) && b.err == nil; i++ {
		switch c := s[i]; c {
		case '*', '_', '~', '`':
			end := i + 1
			for end < len(s) && s[end] == c {
				end++
			}
			b.hold(markMemory, "marks")
			if c == '`' {
				ticks[end-i] = true
			} else {
				runs++
				b.hold(markMemory*(end-i)/4, "marks") // a run may open many levels
			}
			i = end - 1
		case '[', '<', '$', '@':
			b.hold(markMemory, "marks")
		case ']':
			links++
			if i+1 < len(s) && s[i+1] == '(' {
				b.destination(s[i+2:])
			}
		}
	}
	b.spend(runs*runs, "marks of emphasis")
	b.spend(len(ticks)*len(s)/8, "runs of backticks")
	if runs > 0 {
		b.spend(2*links*(links+runs), "links with emphasis")
	}
}

// destination counts the bytes that the parser searches for the end of an address, because it searches them again for
// the next link in them.
func (b *Budget) destination(s []byte) {
	s = bytes.TrimLeft(s, " \t\r\n")
	angled := bytes.HasPrefix(s, []byte("<"))
	end, open := 0, 0
	for ; end < len(s) && end <= b.steps && s[end] != '\n'; end++ {
		switch c := s[end]; {
		case c == '\\':
			end++
		case angled && c != '>':
		case angled, c == ' ', c == '\t', c == '\r', c == ')' && open == 0:
			b.spend(end, "links")
			return
		case c == '(':
			open++
		case c == ')':
			open--
		}
	}
	b.spend(end, "links")
}

// budgetKey is the key of the budget in the context of a parser.
var budgetKey = parser.NewContextKey()

// paragraph drops a paragraph that costs too much before it is parsed. It runs twice: on whole paragraphs, before
// tables and definitions of links are taken out of them, and on the text that is left.
type paragraph struct{ whole bool }

// Transform implements parser.ParagraphTransformer.
func (p paragraph) Transform(node *ast.Paragraph, r text.Reader, c parser.Context) {
	g := c.Get(budgetKey).(*Budget)
	if lines := node.Lines(); g.err != nil {
	} else if p.whole {
		g.parts(lines, r.Source())
	} else {
		g.text(lines.Value(r.Source()))
	}
	if g.err != nil {
		node.Parent().RemoveChild(node.Parent(), node)
	}
}

// parts counts the cost of the definitions of links and the tables in a paragraph.
func (b *Budget) parts(lines *text.Segments, source []byte) {
	s := lines.Value(source)
	defines := bytes.HasPrefix(bytes.TrimLeft(s, " "), []byte("["))
	columns := 0
	var header []byte
	for rest := s; len(rest) > 0 && b.err == nil; {
		from := rest
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSpace(line)
		switch {
		case columns > 0:
			b.row(line, columns)
		case header != nil && len(bytes.Trim(line, "|:- \t")) == 0:
			columns = 1 + bytes.Count(line, []byte("|"))
			b.row(header, columns)
		case defines:
			if bytes.HasPrefix(line, []byte("[")) && (bytes.Contains(line, []byte("]:")) || bytes.IndexByte(line, ']') < 0) {
				b.spend(lines.Len(), "definitions of links")
			}
			b.title(from)
		}
		header = line
	}
}

// row counts the cost of a row of a table. The parser compares each escaped bar with all others.
func (b *Budget) row(line []byte, columns int) {
	b.hold(columns*cellMemory, "tables")
	b.text(line)
	b.bars += bytes.Count(line, []byte(`\|`))
	b.spend(barSteps*b.bars*bytes.Count(line, []byte(`\|`)), "tables")
}

// title counts how far the parser searches for the end of a title that begins in the first line of a text.
func (b *Budget) title(s []byte) {
	line, rest, _ := bytes.Cut(s, []byte("\n"))
	for i, c := range line {
		if (c == '"' || c == '\'' || c == '(') && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			if c == '(' {
				c = ')'
			}
			if bytes.IndexByte(line[i+1:], c) >= 0 {
				return
			}
			end := bytes.IndexByte(rest[:min(len(rest), max(b.steps, 0))], c)
			if end < 0 {
				end = len(rest)
			}
			b.spend(end, "definitions of links")
			return
		}
	}
}
