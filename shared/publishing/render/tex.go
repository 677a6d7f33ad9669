package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// errFormula marks a formula that is shown as its source.
var errFormula = errors.New("no formula that can be shown")

// texReader reads a formula before the library that makes MathML of it. It refuses formulas whose cost could be
// endless, and spells the others so that the library reads them as TeX does:
//   - It counts the depth of everything that nests: groups, options, fences, environments, switches up to the end of
//     their group, and arguments, with braces or without.
//   - It refuses definitions, so that no formula grows while it is read.
//   - It adds braces to arguments without them, because the library takes a whole number or a bare command for one.
type texReader struct {
	text  string
	at    int
	out   strings.Builder
	open  []opening
	depth int
	rows  bool // a line ends outside of all environments
}

// opening is a construct that has begun and not ended yet.
type opening struct {
	kind rune   // one of the constants below
	name string // of an environment or a command
	left int    // missing arguments
	end  string // written at its end
	deep int    // levels that it adds
}

const (
	aGroup       = '{'
	anOption     = '['
	anArgument   = 'a' // a command, up to the last of its arguments
	aFence       = 'l'
	aSwitch      = 's'
	aEnvironment = 'b'
)

// spellTeX returns a formula in the spelling that the library reads.
func spellTeX(formula string, display bool) (string, error) {
	t := texReader{text: formula}
	for t.at < len(t.text) {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	if t.endSwitches(); len(t.open) > 0 {
		return "", fmt.Errorf("%w: a beginning without an end", errFormula)
	}
	if t.rows && display {
		return `\begin{table}` + t.out.String() + `\end{table}`, nil
	}
	return t.out.String(), nil
}

func (t *texReader) next() error {
	r, n := utf8.DecodeRuneInString(t.text[t.at:])
	t.at += n
	switch {
	case r == '\\':
		return t.command()
	case r == '{':
		return t.begin(opening{kind: aGroup, end: "}"}, "{")
	case r == '}':
		return t.finish(aGroup, "")
	case r == '[' && t.takesOption():
		return t.begin(opening{kind: anOption, end: "]"}, "[")
	case r == ']' && t.inOption():
		return t.finish(anOption, "")
	case r == '^' || r == '_':
		return t.begin(opening{kind: anArgument, left: 1}, string(r))
	case r == '%':
		t.comment()
	case r == '#' || r == '$' || r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r):
		return fmt.Errorf("%w: it holds %q", errFormula, r)
	case r == '~':
		t.out.WriteString(`\ `)
	case unicode.IsSpace(r):
		t.out.WriteByte(' ')
	case r == '&':
		t.endSwitches()
		t.out.WriteRune(r)
	case t.wantsArgument() && unicode.IsNumber(r):
		t.atom("{" + string(r) + "}")
	default:
		t.atom(string(r))
	}
	return nil
}

// begin begins a construct. It refuses one that is too deep.
// maxFormulaDepth is how many levels of groups and arguments a formula has.
const maxFormulaDepth = 32

func (t *texReader) begin(o opening, text string) error {
	o.deep = 1
	if o.kind == aGroup && t.wantsArgument() {
		o.deep = 0 // its command counts already
	}
	if t.depth += o.deep; t.depth > maxFormulaDepth {
		return fmt.Errorf("%w: it is deeper than %d levels", errFormula, maxFormulaDepth)
	}
	t.open = append(t.open, o)
	t.out.WriteString(text)
	return nil
}

// finish ends the innermost construct and the switches in it. That construct has to have this kind and name.
func (t *texReader) finish(kind rune, name string) error {
	t.endSwitches()
	last := len(t.open) - 1
	if last < 0 || t.open[last].kind != kind || t.open[last].name != name {
		return fmt.Errorf("%w: an end without a beginning", errFormula)
	}
	t.pop()
	if kind != anOption {
		t.atom("")
	}
	return nil
}

func (t *texReader) pop() {
	last := len(t.open) - 1
	t.out.WriteString(t.open[last].end)
	t.depth -= t.open[last].deep
	t.open = t.open[:last]
}

func (t *texReader) endSwitches() {
	for len(t.open) > 0 && t.open[len(t.open)-1].kind == aSwitch {
		t.pop()
	}
}

// atom writes a text without arguments. It ends the commands whose last argument the text is.
func (t *texReader) atom(text string) {
	t.out.WriteString(text)
	for t.wantsArgument() {
		o := &t.open[len(t.open)-1]
		if o.left--; o.left > 0 {
			return
		}
		t.pop()
	}
}

func (t *texReader) wantsArgument() bool {
	return len(t.open) > 0 && t.open[len(t.open)-1].kind == anArgument
}

// takesOption reports whether a bracket opens the only option that is read as a formula, that of a root.
func (t *texReader) takesOption() bool {
	return t.wantsArgument() && t.open[len(t.open)-1].name == "sqrt"
}

func (t *texReader) inOption() bool {
	last := len(t.open) - 1
	for last >= 0 && t.open[last].kind == aSwitch {
		last--
	}
	return last >= 0 && t.open[last].kind == anOption
}

func (t *texReader) comment() {
	if end := strings.IndexByte(t.text[t.at:], '\n'); end >= 0 {
		t.at += end + 1
		return
	}
	t.at = len(t.text)
}

// name reads the name of a command after its backslash: letters, or one other character.
func (t *texReader) name() string {
	start := t.at
	for t.at < len(t.text) && (t.text[t.at]|0x20) >= 'a' && (t.text[t.at]|0x20) <= 'z' {
		t.at++
	}
	if t.at > start {
		return t.text[start:t.at]
	}
	_, n := utf8.DecodeRuneInString(t.text[t.at:])
	t.at += n
	return t.text[start:t.at]
}

// command reads a command.
func (t *texReader) command() error {
	name := t.name()
	if read, special := texSpecial[name]; special {
		return read(t, name)
	}
	if to, renamed := texRenamed[name]; renamed {
		name = to
	}
	arguments, takes := texArguments[name]
	switch {
	case name == "" || slices.Contains(texRefused, name):
		return fmt.Errorf("%w: it holds \\%s", errFormula, name)
	case takes:
		return t.call(`\`+name, opening{kind: anArgument, name: name, left: arguments})
	case slices.Contains(texSwitches, name):
		return t.begin(opening{kind: aSwitch}, `\`+name+" ")
	}
	t.atom(`\` + name + " ")
	return nil
}

// group writes an atom of several tokens, in braces if it is an argument.
func (t *texReader) group(text string) {
	if t.wantsArgument() {
		text = "{" + text + "}"
	}
	t.atom(text)
}

// call begins a command with arguments. If the command is an argument itself, it gets braces.
func (t *texReader) call(text string, o opening) error {
	if t.wantsArgument() {
		text = "{" + text
		o.end += "}"
	}
	t.skipStar()
	return t.begin(o, text+" ")
}

func (t *texReader) skipStar() {
	if strings.HasPrefix(t.text[t.at:], "*") {
		t.at++
	}
}

// raw reads an argument in braces that is not a formula.
func (t *texReader) raw() (string, error) {
	t.skipStar()
	rest := strings.TrimLeftFunc(t.text[t.at:], unicode.IsSpace)
	for i, level := 0, 0; i < len(rest) && (i > 0 || rest[0] == '{'); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '{':
			level++
		case '}':
			level--
		case '$':
			return "", fmt.Errorf("%w: a formula in a text", errFormula)
		}
		if level == 0 {
			t.at = len(t.text) - len(rest) + i + 1
			return rest[1:i], nil
		}
	}
	return "", fmt.Errorf("%w: an argument is missing", errFormula)
}

// delimiter reads the delimiter after \left, \middle or \right.
func (t *texReader) delimiter() (string, error) {
	t.at = len(t.text) - len(strings.TrimLeftFunc(t.text[t.at:], unicode.IsSpace))
	r, n := utf8.DecodeRuneInString(t.text[t.at:])
	t.at += n
	switch {
	case r == '\\':
		name := t.name()
		_, takes := texArguments[name]
		_, special := texSpecial[name]
		if name == "" || takes || special || slices.Contains(texRefused, name) || slices.Contains(texSwitches, name) {
			break
		}
		if to, renamed := texRenamed[name]; renamed {
			name = to
		}
		return `\` + name + " ", nil
	case r == '<':
		return `\langle `, nil
	case r == '>':
		return `\rangle `, nil
	case strings.ContainsRune(`()[]|/.`, r):
		return string(r), nil
	}
	return "", fmt.Errorf("%w: a fence without a delimiter", errFormula)
}
