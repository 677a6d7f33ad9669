package render

import (
	"fmt"
	"html"
	"io"
	"log"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	_ "unsafe" // for the name of the logger below

	"github.com/microcosm-cc/bluemonday"
	"github.com/wyatt915/treeblood"
)

// logger is the logger of the library, whose warnings quote formulas. It is silenced, because published content must
// not be logged. It is linked by name, because the library has no function that sets it.
//
//go:linkname logger github.com/wyatt915/treeblood.logger
var logger *log.Logger

func init() { logger.SetOutput(io.Discard) }

// mathElements has the MathML elements that a page may hold, with the number of children of those that need a fixed
// one. Only token elements hold text, and they hold only text. No HTML element can be inside a formula, so that a
// browser never switches between the two languages there.
var mathElements = map[string]int{
	"math":          0,
	"mrow":          0,
	"mstyle":        0,
	"mpadded":       0,
	"mphantom":      0,
	"msqrt":         0,
	"menclose":      0,
	"mmultiscripts": 0,
	"mprescripts":   0,
	"mtable":        0,
	"mtr":           0,
	"mtd":           0,
	"mspace":        0,
	"mi":            0,
	"mn":            0,
	"mo":            0,
	"mtext":         0,
	"mfrac":         2,
	"mroot":         2,
	"msub":          2,
	"msup":          2,
	"munder":        2,
	"mover":         2,
	"msubsup":       3,
	"munderover":    3,
}

var mathTokens = map[string]bool{"mi": true, "mn": true, "mo": true, "mtext": true}

// mathAttributes has the attributes of these elements. Lengths are short, so that no formula covers the page around it.
var mathAttributes = map[string]*regexp.Regexp{
	"display":       regexp.MustCompile(`^(block|inline)$`),
	"displaystyle":  truth,
	"scriptlevel":   regexp.MustCompile(`^-?[0-4]$`),
	"mathvariant":   regexp.MustCompile(`^normal$`),
	"mathcolor":     colourShape,
	"mathsize":      regexp.MustCompile(`^[0-9]{2,3}(\.[0-9])?%$`),
	"stretchy":      truth,
	"fence":         truth,
	"symmetric":     truth,
	"largeop":       truth,
	"movablelimits": truth,
	"accent":        truth,
	"form":          regexp.MustCompile(`^(prefix|infix|postfix)$`),
	"lspace":        mathLength,
	"rspace":        mathLength,
	"width":         mathLength,
	"minsize":       regexp.MustCompile(`^[0-9]{1,2}(\.[0-9])?em$`),
	"linethickness": regexp.MustCompile(`^0$`),
	"columnspan":    regexp.MustCompile(`^[1-9][0-9]?$`),
	"rowspan":       regexp.MustCompile(`^[1-9][0-9]?$`),
	"notation":      regexp.MustCompile(`^(up|down)diagonalstrike( downdiagonalstrike)?$`),
}

var (
	truth      = regexp.MustCompile(`^(true|false)$`)
	mathLength = regexp.MustCompile(`^-?[0-9]{0,1}(\.[0-9]{1,8})?(em)?$`)
	// mathClasses matches the classes that spellTeX and drawLine set.
	mathClasses = regexp.MustCompile(`^v-(bold|italic|mono|boxed|phantom|over|under)$`)
)

// allowMath adds formulas to the policy. Only elements that mathWriter wrote get here, because the rewriting of links
// drops those that publishers write.
func allowMath(p *bluemonday.Policy) {
	names := make([]string, 0, len(mathElements))
	for name := range mathElements {
		names = append(names, name)
	}
	p.AllowElements(names...)
	p.AllowNoAttrs().OnElements(names...)
	for name, shape := range mathAttributes {
		p.AllowAttrs(name).Matching(shape).OnElements(names...)
	}
	p.AllowAttrs("alttext").OnElements("math")
}

// mathML returns a formula as MathML, with the formula itself as alternative text. The library is not trusted. Its
// input is bounded in bytes and depth and cannot define macros. Its panics are recovered. Only listed elements, listed
// attributes and escaped text of its tree are written.
const (
	maxFormula       = 2 << 10  // bytes of a formula
	maxFormulaMarkup = 64 << 10 // bytes of its MathML
)

func mathML(formula string, display bool) (markup string, err error) {
	defer func() {
		if v := recover(); v != nil {
			markup, err = "", fmt.Errorf("%w: the library fails", errFormula)
		}
	}()
	if len(formula) > maxFormula {
		return "", fmt.Errorf("%w: it has %d bytes", errFormula, len(formula))
	}
	spelled, err := spellTeX(formula, display)
	if err != nil {
		return "", err
	}
	tree, err := parseTeX(spelled)
	if err != nil {
		return "", err
	}
	style := "inline"
	if display {
		style = "block"
	}
	w := mathWriter{}
	fmt.Fprintf(&w.out, `<math display="%s" alttext="%s">`, style, escape(strings.TrimSpace(formula)))
	if err := w.write(tree, 0); err != nil {
		return "", err
	}
	w.out.WriteString("</math>")
	return w.out.String(), nil
}

// parseTeX returns the tree that the library makes of a spelled formula. It passes the formula as a macro, because the
// functions of the library that take a text print it when they panic.
func parseTeX(spelled string) (*treeblood.MMLNode, error) {
	const root = 1 // the context of a whole formula
	macro, ok := treeblood.PrepareMacros(map[string]string{"": spelled})[""]
	if !ok {
		return nil, fmt.Errorf("%w: the library refuses it", errFormula)
	}
	tree := treeblood.NewPitziil().ParseTex(treeblood.NewTokenBuffer(macro.Definition), root)
	if tree == nil {
		return nil, fmt.Errorf("%w: it is empty", errFormula)
	}
	return tree, nil
}

// mathWriter writes a tree of the library.
type mathWriter struct {
	out strings.Builder
}

// unprinted is the property of nodes that the library itself does not write.
const unprinted treeblood.NodeProperties = 2

// maxMathDepth bounds the nesting of elements. Each level of a formula takes several.
const maxMathDepth = 6 * maxFormulaDepth

func (w *mathWriter) write(n *treeblood.MMLNode, depth int) error {
	if n == nil || n.Tag == "" || n.Properties&unprinted != 0 {
		return nil
	}
	children, known := mathElements[n.Tag]
	switch {
	case n.Tag == "none":
		w.out.WriteString("<mrow></mrow>")
		return nil
	case !known || n.Tag == "math":
		return fmt.Errorf("%w: it needs an element %s", errFormula, n.Tag)
	case depth > maxMathDepth || w.out.Len() > maxFormulaMarkup:
		return fmt.Errorf("%w: its markup is too long", errFormula)
	case children > 0 && len(n.Children) != children || mathTokens[n.Tag] && len(n.Children) > 0:
		return fmt.Errorf("%w: %s with %d children", errFormula, n.Tag, len(n.Children))
	}
	nameOperator(n)
	keepSize(n)
	drawLine(n)
	w.start(n)
	if mathTokens[n.Tag] {
		w.out.WriteString(escape(html.UnescapeString(n.Text)))
	}
	if err := w.children(n, mathElements[n.Tag] > 0, depth+1); err != nil {
		return err
	}
	w.out.WriteString("</" + n.Tag + ">")
	return nil
}

// children writes the children of a node. If counts is set, it writes an empty mrow for an empty child, because the
// position of each child has a meaning.
func (w *mathWriter) children(n *treeblood.MMLNode, counts bool, depth int) error {
	var last *treeblood.MMLNode
	for _, c := range n.Children {
		if !counts && apart(last, c) {
			w.out.WriteString(`<mspace width="0.1667em"></mspace>`)
		}
		before := w.out.Len()
		if err := w.write(c, depth); err != nil {
			return err
		}
		switch written := w.out.Len() > before; {
		case written:
			last = c
		case counts:
			w.out.WriteString("<mrow></mrow>")
		}
	}
	return nil
}

// nameOperator turns the name of a function whose limits move into an operator, because browsers move only the limits
// of operators. The spaces around names are written by children.
func nameOperator(n *treeblood.MMLNode) {
	if !isName(n) || n.Attrib["movablelimits"] != "true" {
		return
	}
	n.Tag = "mo"
	n.SetAttr("lspace", "0").SetAttr("rspace", "0")
}

// keepSize keeps a delimiter at the height of its text unless \left, \right or an environment made it, as TeX does. It
// leaves out braces, because the library does not tell where they come from.
func keepSize(n *treeblood.MMLNode) {
	if n.Tag == "mo" && n.Attrib["fence"] == "" && n.Text != "" && strings.Contains("|∣‖∥⟨⟩⌈⌉⌊⌋", n.Text) {
		n.SetAttr("stretchy", "false")
	}
}

// drawLine turns a line above or below a node into a border, because browsers stretch such a line only with a few
// fonts.
func drawLine(n *treeblood.MMLNode) {
	if (n.Tag != "mover" && n.Tag != "munder") || n.Children[1] == nil || n.Children[1].Tag != "mo" {
		return
	}
	switch n.Children[1].Text {
	case "\u203E":
		n.SetAttr("class", "v-over")
	case "\u0332":
		n.SetAttr("class", "v-under")
	default:
		return
	}
	n.Tag, n.Children = "mrow", n.Children[:1]
}

// isName reports whether a node is the name of a function, which has several letters.
func isName(n *treeblood.MMLNode) bool {
	letters := 0
	for _, r := range n.Text {
		if !unicode.IsLetter(r) && r != ' ' {
			return false
		}
		letters++
	}
	return letters > 1 && (n.Tag == "mi" || n.Tag == "mo")
}

// apart reports whether two nodes have a thin space between them, as in TeX around names of functions.
func apart(a, b *treeblood.MMLNode) bool {
	if a == nil || b == nil {
		return false
	}
	first, last := core(a), core(b)
	switch {
	case isName(first):
		return isName(last) || last.Tag != "mo" && last.Tag != "mspace"
	case isName(last):
		return first.Tag != "mo" && first.Tag != "mspace" && first.Tag != ""
	}
	return false
}

// core returns the base of a node with scripts.
func core(n *treeblood.MMLNode) *treeblood.MMLNode {
	for len(n.Children) > 0 && n.Children[0] != nil {
		if mathElements[n.Tag] == 0 && (n.Tag != "mrow" || len(n.Children) > 1) || n.Tag == "mfrac" || n.Tag == "mroot" {
			break
		}
		n = n.Children[0]
	}
	return n
}

// start writes the start tag of a node with its listed attributes. The library aligns cells of a table by a style,
// which start replaces by a class.
func (w *mathWriter) start(n *treeblood.MMLNode) {
	w.out.WriteString("<" + n.Tag)
	for _, key := range slices.Sorted(maps.Keys(n.Attrib)) {
		if shape := mathAttributes[key]; shape != nil && key != "display" && shape.MatchString(n.Attrib[key]) {
			w.out.WriteString(" " + key + `="` + escape(n.Attrib[key]) + `"`)
		}
	}
	var classes []string
	if c := n.Attrib["class"]; mathClasses.MatchString(c) {
		classes = append(classes, c)
	}
	switch side := n.CSS["text-align"]; {
	case n.Tag == "mtable":
		drawBars(n)
	case n.Tag == "mtd" && (side == "left" || side == "right"):
		classes = append(classes, "v-"+side)
	}
	if n.Option == barred {
		classes = append(classes, "v-bar")
	}
	if len(classes) > 0 {
		w.out.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	w.out.WriteByte('>')
}

// barred marks cells with a line on their right.
const barred = "|"

// drawBars marks the cells to the left of the lines between the columns of an array.
func drawBars(table *treeblood.MMLNode) {
	lines := strings.Fields(table.Attrib["columnlines"])
	if len(lines) == 0 {
		return
	}
	for _, row := range table.Children {
		for i := 0; row != nil && i < len(row.Children)-1; i++ {
			if cell := row.Children[i]; cell != nil && lines[min(i, len(lines)-1)] != "none" {
				cell.Option = barred
			}
		}
	}
}
