package render

import (
	"fmt"
	"regexp"
	"strings"
)

// texArguments has the number of arguments of commands. Commands that are not listed take none.
var texArguments = arguments(map[int]string{
	1: `sqrt cancel bcancel xcancel mathop bmod pmod substack underbrace overbrace not
		acute bar breve u check dot ddot dddot ddddot invbreve grave hat mathring overleftarrow overline overrightarrow
		tilde vec widehat widetilde underline
		mathbb mathbf boldsymbol mathbfit mathcal mathfrak mathit mathrm mathscr mathsf mathsfbf mathsfbfsl mathsfsl mathtt`,
	2: "frac cfrac dfrac tfrac binom tbinom overset underset textcolor",
	3: "multirow multicolumn prescript sideset",
})

func arguments(names map[int]string) map[string]int {
	out := map[string]int{}
	for n, list := range names {
		for _, name := range strings.Fields(list) {
			out[name] = n
		}
	}
	return out
}

// texSwitches are commands that change everything up to the end of their group. The library nests that in them.
var texSwitches = strings.Fields(`bf em rm displaystyle textstyle scriptstyle scriptscriptstyle tiny scriptsize
	footnotesize small normalsize large Large LARGE huge Huge`)

// texRefused are commands that define others, choose classes and lengths of the markup, or make the library print.
var texRefused = strings.Fields(`def gdef edef xdef let newcommand renewcommand providecommand DeclareMathOperator class
	raisebox ce csname`)

// texRenamed maps commands to the names by which the library knows them.
var texRenamed = map[string]string{
	"bm":        "boldsymbol",
	"pmb":       "boldsymbol",
	"Bbb":       "mathbb",
	"cal":       "mathcal",
	"frak":      "mathfrak",
	"mod":       "bmod",
	"stackrel":  "overset",
	"thinspace": ",",
	"enspace":   ";",
	"dbinom":    "binom",
	"hslash":    "hbar",
	"dotsc":     "ldots",
	"dotsb":     "cdots",
	"dotsm":     "cdots",
	"dotsi":     "cdots",
	"dotso":     "ldots",
	"|":         "Vert",
	"lbrack":    "[",
	"rbrack":    "]",
}

// texSpecial has the readers of commands whose arguments are not formulas, or that are spelled in another way. It is
// set by init, because the readers refer to it.
var texSpecial map[string]func(*texReader, string) error

func init() {
	texSpecial = map[string]func(*texReader, string) error{
		`\`:            (*texReader).row,
		"left":         (*texReader).fence,
		"middle":       (*texReader).middle,
		"right":        (*texReader).endFence,
		"begin":        (*texReader).environment,
		"end":          (*texReader).endEnvironment,
		"color":        (*texReader).colour,
		"tag":          (*texReader).tag,
		"label":        (*texReader).drop,
		"hspace":       (*texReader).space,
		"operatorname": (*texReader).operator,
	}
	for _, name := range strings.Fields("text textrm textnormal textup textsf mbox hbox") {
		texSpecial[name] = func(t *texReader, _ string) error { return t.words("") }
	}
	for name, class := range map[string]string{
		"textbf": "v-bold",
		"textit": "v-italic",
		"textsl": "v-italic",
		"emph":   "v-italic",
		"texttt": "v-mono",
	} {
		texSpecial[name] = func(t *texReader, _ string) error { return t.words(class) }
	}
	for _, name := range strings.Fields(`nonumber notag relax mathstrut strut allowbreak nobreak protect mathbin mathrel
		mathord mathopen mathclose mathpunct mathinner ensuremath smash`) {
		texSpecial[name] = func(*texReader, string) error { return nil }
	}
	for name, class := range map[string]string{
		"boxed":    "v-boxed",
		"fbox":     "v-boxed",
		"phantom":  "v-phantom",
		"hphantom": "v-phantom",
		"vphantom": "v-phantom",
	} {
		texSpecial[name] = func(t *texReader, _ string) error {
			return t.call(`\class{`+class+"}", opening{kind: anArgument, left: 1})
		}
	}
	for name, arrow := range map[string]string{
		"xrightarrow": "longrightarrow",
		"xleftarrow":  "longleftarrow",
		"xRightarrow": "Longrightarrow",
		"xLeftarrow":  "Longleftarrow",
		"xmapsto":     "longmapsto",
	} {
		texSpecial[name] = func(t *texReader, _ string) error {
			return t.call(`\overset`, opening{kind: anArgument, left: 1, end: `{\` + arrow + `}`})
		}
	}
}

// texEnvironments maps environments to the names by which the library knows them. Empty means a group.
var texEnvironments = map[string]string{
	"equation":    "",
	"displaymath": "",
	"math":        "",
	"align":       "aligned",
	"aligned":     "aligned",
	"split":       "aligned",
	"eqnarray":    "aligned",
	"flalign":     "aligned",
	"alignat":     "aligned",
	"alignedat":   "aligned",
	"gather":      "table",
	"gathered":    "table",
	"multline":    "table",
	"cases":       "cases",
	"dcases":      "cases",
	"matrix":      "matrix",
	"smallmatrix": "matrix",
	"pmatrix":     "pmatrix",
	"bmatrix":     "bmatrix",
	"Bmatrix":     "Bmatrix",
	"vmatrix":     "vmatrix",
	"Vmatrix":     "Vmatrix",
	"array":       "array",
	"subarray":    "subarray",
}

func (t *texReader) environment(string) error {
	name, err := t.raw()
	if err != nil {
		return err
	}
	as, known := texEnvironments[strings.TrimSuffix(name, "*")]
	switch {
	case !known:
		return fmt.Errorf("%w: no environment %s is known", errFormula, name)
	case as == "":
		return t.begin(opening{kind: aEnvironment, name: name, end: "}"}, "{")
	}
	argument := ""
	switch strings.TrimSuffix(name, "*") {
	case "array", "subarray":
		t.skipOption()
		columns, err := t.raw()
		if err != nil || !columnShape.MatchString(columns) {
			return fmt.Errorf("%w: an array needs columns", errFormula)
		}
		argument = "{" + columns + "}"
	case "alignat", "alignedat":
		if _, err := t.raw(); err != nil {
			return err
		}
	default:
		t.skipOption()
	}
	end := `\end{` + as + "}"
	return t.begin(opening{kind: aEnvironment, name: name, end: end}, `\begin{`+as+"}"+argument)
}

// columnShape matches the columns argument of an array.
var columnShape = regexp.MustCompile(`^[lcr|: ]{1,100}$`)

func (t *texReader) endEnvironment(string) error {
	name, err := t.raw()
	if err != nil {
		return err
	}
	return t.finish(aEnvironment, name)
}

// skipOption skips an option in brackets, which pages ignore.
func (t *texReader) skipOption() {
	if strings.HasPrefix(t.text[t.at:], "[") {
		if end := strings.IndexAny(t.text[t.at+1:], "[]{}\\"); end >= 0 && t.text[t.at+1+end] == ']' {
			t.at += end + 2
		}
	}
}

// row reads the end of a line of an environment.
func (t *texReader) row(string) error {
	t.endSwitches()
	t.skipStar()
	t.skipOption()
	t.rows = t.rows || len(t.open) == 0
	t.out.WriteString(`\\ `)
	return nil
}

func (t *texReader) fence(string) error {
	delimiter, err := t.delimiter()
	if err != nil {
		return err
	}
	if t.wantsArgument() {
		return t.begin(opening{kind: aFence, end: "}"}, `{\left`+delimiter)
	}
	return t.begin(opening{kind: aFence}, `\left`+delimiter)
}

func (t *texReader) middle(string) error {
	delimiter, err := t.delimiter()
	t.out.WriteString(`\middle` + delimiter)
	return err
}

func (t *texReader) endFence(string) error {
	delimiter, err := t.delimiter()
	if err != nil {
		return err
	}
	t.endSwitches()
	t.out.WriteString(`\right` + delimiter)
	return t.finish(aFence, "")
}

var colourShape = regexp.MustCompile(`^([A-Za-z]{1,20}|#[0-9A-Fa-f]{3}|#[0-9A-Fa-f]{6})$`)

// colour reads \color, a switch with an argument.
func (t *texReader) colour(string) error {
	name, err := t.raw()
	if err != nil || !colourShape.MatchString(name) {
		return fmt.Errorf("%w: \\color needs the name of a colour", errFormula)
	}
	return t.begin(opening{kind: aSwitch}, `\color{`+name+"}")
}

// words reads a text, which may hold no commands.
func (t *texReader) words(class string) error {
	text, err := t.raw()
	if err != nil {
		return err
	}
	if commandShape.MatchString(text) {
		return fmt.Errorf("%w: a command in a text", errFormula)
	}
	text = `\text{` + text + "}"
	if class != "" {
		text = `\class{` + class + "}{" + text + "}"
	}
	t.group(text)
	return nil
}

var commandShape = regexp.MustCompile(`\\[A-Za-z]`)

func (t *texReader) operator(string) error {
	name, err := t.raw()
	if err != nil {
		return err
	}
	name = strings.NewReplacer(`\,`, " ", `\;`, " ", `\ `, " ", `\!`, "", `\-`, "-").Replace(name)
	if strings.ContainsAny(name, `\{}`) {
		return fmt.Errorf("%w: a command in a name", errFormula)
	}
	t.group(`\mathop{` + name + "}")
	return nil
}

func (t *texReader) tag(string) error {
	number, err := t.raw()
	if err != nil || strings.ContainsAny(number, `\{}`) {
		return fmt.Errorf("%w: a tag needs a text", errFormula)
	}
	t.out.WriteString(`\qquad \text{(` + number + ")}")
	return nil
}

func (t *texReader) drop(string) error {
	_, err := t.raw()
	return err
}

// space reads \hspace, whose length pages ignore.
func (t *texReader) space(string) error {
	_, err := t.raw()
	t.out.WriteString(`\quad `)
	return err
}
