package render

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/html"

	"vitrine/scripts/testkit/expect"
)

func TestFormulasAreWrittenAsOnGitHub(t *testing.T) {
	const x = `<math display="inline" alttext="x"><mrow><mi>x</mi></mrow></math>`
	const big = `<span class="v-formula" tabindex="0"><math display="block" alttext="x"><mrow><mi>x</mi></mrow></math>` +
		`</span>`
	for markdown, want := range map[string]string{
		"a $x$ b":                     `a ` + x + ` b`,
		"$x$":                         `<p data-line="1">` + x + `</p>`,
		"$x$-th, ($x$)":               x + `-th, (` + x + `)`,
		"*$x$* **$x$**":               `<em>` + x + `</em> <strong>` + x + `</strong>`,
		"a $`x`$ b":                   `a ` + x + ` b`,
		"a $$x$$ b":                   `a ` + big + ` b`,
		"$$x$$":                       `<p data-line="1">` + big + `</p>`,
		"$$\nx\n$$":                   `<p data-line="1">` + big + `</p>`,
		"$$ x\n$$":                    `<p data-line="1">` + big + `</p>`,
		"a\n$$\nx\n$$\nb":             `<p data-line="1">a</p>` + "\n" + `<p data-line="2">` + big + "</p>",
		"- a\n\n  $$\n  x\n  $$":      `<p data-line="3">` + big + `</p>`,
		"> $$\n> x\n> $$":             `<p data-line="1">` + big + `</p>`,
		"```math\nx\n```":             `<p data-line="2">` + big + `</p>`,
		"| a |\n|---|\n| $x$ |":       `>` + x + `</td>`,
		"# On $x$":                    `<h1 id="on-x" data-line="1">On ` + x + `</h1>`,
		"[$x$](https://example.com)":  `>` + x + `</a>`,
		"$5 and $6":                   `$5 and $6`,
		"$5 and 6$7":                  `$5 and 6$7`,
		"5$ and 6$":                   `5$ and 6$`,
		"US$x and US$y":               `US$x and US$y`,
		"$ x$ and $x $":               `$ x$ and $x $`,
		`\$x$ and $x\$`:               `$x$ and $x$`,
		"$x":                          `<p data-line="1">$x</p>`,
		"$$\nx\n\ny":                  `<p data-line="1">$$` + "\n" + `x</p>` + "\n" + `<p data-line="4">y</p>`,
		"$$ and $$$":                  `<code class="v-math">and $</code>`,
		"`$x$`":                       `<code>$x$</code>`,
		"```\n$x$\n```":               `<code>$x$`,
		"$HOME and `$x`":              `$HOME and <code>$x</code>`,
		"    $x$":                     `<code>$x$`,
		`\(x\) \[x\] \\(x\\)`:         `(x) [x] \(x\)`,
		"\\begin{align}x\\end{align}": `\begin{align}x\end{align}`,
		"$\\unknown{<b>}$":            `<code class="v-math">\unknown{&lt;b&gt;}</code>`,
		"$`\\text{a$b}`$":             `<code class="v-math">\text{a$b}</code>`,
	} {
		t.Run(markdown, func(t *testing.T) {
			page := pageOf(t, sourceOf("a.md", markdown), Query{})
			wantInert(t, page)
			wantHas(t, page[strings.Index(page, "<main"):], want)
		})
	}
}

func TestNotebooksHaveFormulasAsInJupyter(t *testing.T) {
	main := mainOf(t, sourceOf("a.ipynb", `{"cells":[
		{"cell_type":"markdown","source":["a $x$ b \\\\(y\\\\) and \\\\[z\\\\]\n",
			"\n","\\begin{align}\n","u &= v \\\\\n","- w\n","\\end{align}"]},
		{"cell_type":"code","source":"f()","outputs":[
			{"output_type":"display_data","data":{"text/latex":"$\\displaystyle r$","text/plain":"r"}},
			{"output_type":"display_data","data":{"text/latex":["\\begin{equation}\n","s\n","\\end{equation}"]}},
			{"output_type":"display_data","data":{"text/latex":"The $t$ of $t$"}},
			{"output_type":"display_data","data":{"text/markdown":"and $q$"}},
			{"output_type":"display_data","latex":"$$p$$"}]}]}`), Query{})
	wantInert(t, main)
	for _, letter := range "xyzuvwrsqp" {
		wantHas(t, main, fmt.Sprintf("<mi>%c</mi>", letter))
	}
	wantHas(t, main, "The $t$ of $t$", `<mtd class="v-left"><mo>=</mo><mi>v</mi></mtd>`)
	wantNot(t, main, "shown as text", "begin{align}<", `<mi>t</mi>`)
}

func TestPlainTextKeepsTheSourceOfFormulas(t *testing.T) {
	for path, text := range map[string]string{
		"a.md": "a $x^2$ b",
		"a.ipynb": `{"cells":[{"cell_type":"markdown","source":"a $x^2$ b"},
			{"cell_type":"code","outputs":[{"output_type":"display_data","data":{"text/latex":"$x^2$"}}]}]}`,
	} {
		var b strings.Builder
		expect.OK(t, New().Text(t.Context(), &b, sourceOf(path, text)))
		wantHas(t, b.String(), "a $x^2$ b")
		if n := strings.Count(b.String(), "$x^2$"); path == "a.ipynb" && n != 2 {
			t.Errorf("%d formulas in %s", n, b.String())
		}
	}
}

func TestFormulasReadAsTeXDoes(t *testing.T) {
	tags := regexp.MustCompile(` (alttext|display|form|fence|stretchy|symmetric|largeop|movablelimits|[lr]space)="[^"]*"`)
	for formula, want := range map[string]string{
		`\frac12`:                           `<mfrac><mn>1</mn><mn>2</mn></mfrac>`,
		`x^12`:                              `<msup><mi>x</mi><mn>1</mn></msup><mn>2</mn>`,
		`x^\frac12`:                         `<msup><mi>x</mi><mfrac><mn>1</mn><mn>2</mn></mfrac></msup>`,
		`\sqrt[3]{x}`:                       `<mroot><mi>x</mi><mn>3</mn></mroot>`,
		`x_i^2`:                             `<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>`,
		`a<b>c`:                             `<mi>a</mi><mo>&lt;</mo><mi>b</mi><mo>&gt;</mo>`,
		`\left<x\right>`:                    `<mo>⟨</mo><mi>x</mi><mo>⟩</mo>`,
		`\left\|x\right\|`:                  `<mo>‖</mo><mi>x</mi><mo>‖</mo>`,
		`\sin x`:                            `<mi>sin</mi><mspace width="0.1667em"></mspace><mi>x</mi>`,
		`\operatorname*{arg\,max}_x`:        `<munder><mo>arg max</mo><mi>x</mi></munder>`,
		`\overline{ab}`:                     `<mrow accent="true" class="v-over"><mrow><mi>a</mi><mi>b</mi></mrow></mrow>`,
		`\boxed x`:                          `<mi class="v-boxed">x</mi>`,
		`\text{a & b <i>}`:                  "<mtext>a\u00a0&\u00a0b\u00a0&lt;i&gt;</mtext>",
		`\text{&lt;b&gt;}`:                  `<mtext>&lt;b&gt;</mtext>`,
		`\begin{array}{c|c}1&2\end{array}`:  `<mtd class="v-bar"><mn>1</mn></mtd><mtd><mn>2</mn></mtd>`,
		`\begin{gather}a\\b\end{gather}`:    `<mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd></mtr>`,
		`a \\ b`:                            `<mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd></mtr>`,
		`x \label{eq} \tag{1} % note`:       `<mi>x</mi><mspace width="2.00em"></mspace><mtext>(1)</mtext>`,
		`\color{red}x`:                      `<mstyle mathcolor="red"><mi>x</mi></mstyle>`,
		`\mathbb{R}\mathrm d`:               `<mi>ℝ</mi>`,
		`\xrightarrow{f}`:                   `<mover><mo>⟶</mo><mi>f</mi></mover>`,
		`\multirow{9999}{a}{b}`:             `<mi>b</mi>`,
		`\left[0, 1\right)`:                 `<mo>[</mo><mn>0</mn>`,
		`\begin{cases}1&a\\2&b\end{cases}`:  `<mo>{</mo><mtable><mtr><mtd class="v-left"><mn>1</mn></mtd>`,
		`{\displaystyle \sum_{i}^n} \neq 1`: `<mstyle displaystyle="true" scriptlevel="0"><mrow><munderover>`,
	} {
		t.Run(formula, func(t *testing.T) {
			got, err := mathML(formula, true)
			expect.OK(t, err)
			got = strings.ReplaceAll(strings.ReplaceAll(tags.ReplaceAllString(got, ""), "&amp;", "&"), "\n", "")
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in %s", want, got)
			}
		})
	}
}

// hostileFormulas are what the library lets through, what costs it without end, and what tries to end the page.
var hostileFormulas = map[string]string{
	"a script in a text":         `\text{<script>alert(1)</script>}`,
	"a script in a group":        `{<script>alert(1)</script>}`,
	"a script as an operator":    `\operatorname{<script>alert(1)</script>}`,
	"a script in a tag":          `x\tag{<script>alert(1)</script>}`,
	"the end of the formula":     `\text{</mtext></math><img src=x onerror=alert(1)>}`,
	"markup that changes":        `\text{<table><mglyph><style><!--</style><i title="--&gt;&lt;img onerror=alert(1)&gt;">}`,
	"a link":                     `\href{javascript:alert(1)}{x}`,
	"an address":                 `\url{javascript:alert(1)}`,
	"a style":                    `\style{position:fixed}{x}`,
	"a name":                     `\cssId{top}{x}`,
	"a class":                    `\class{top}{x}`,
	"a class of ours":            `\class{v-large}{x}`,
	"a quotation in a class":     `\class{" onclick="alert(1)}{x}`,
	"a quotation in a colour":    `\color{red" onclick="alert(1)}x \textcolor{red" onclick="alert(1)}{x}`,
	"a quotation in a length":    `\raisebox{1em" onclick="alert(1)}{x}`,
	"a quotation in a space":     `x \\[1em" onclick="alert(1)] y`,
	"a quotation in columns":     `\begin{array}{c" onclick="alert(1)}x\end{array}`,
	"a quotation in an option":   `\sqrt[" onclick="alert(1)]{x}`,
	"a quotation in a span":      `\multirow{2" onclick="alert(1)}{x}{y}`,
	"a quotation in itself":      `" onclick="alert(1)`,
	"a character by its number":  `\unicode{x3c}script\unicode{x3e}`,
	"entities":                   `&lt;script&gt; \text{&lt;script&gt;&#60;script&#62;&NewLine;}`,
	"an environment of HTML":     `\begin{script}alert(1)\end{script}`,
	"a formula in a text":        `\text{$\href{javascript:alert(1)}{x}$}`,
	"a null":                     "\\text{<scr\x00ipt>}\x00",
	"chemistry":                  `\ce{((((((<script>}`,
	"a far place":                `\raisebox{9999em}{x} \hspace{9999em} \\[9999em] \rule{9999em}{9999em}`,
	"a macro":                    `\def\a{\a\a}\a`,
	"macros that double":         `\newcommand{\a}{xx}\newcommand{\b}{\a\a}\newcommand{\c}{\b\b}\renewcommand\d{\c\c}\d`,
	"a macro by another name":    `\let\a\b \gdef\b{x} \csname def\endcsname \DeclareMathOperator{\x}{\x\x}`,
	"an argument of a macro":     `#1 \text{#1}`,
	"an end without a beginning": `} \right) \end{align} ]`,
	"nothing":                    `{}{}{} \hat{} \frac{}{} ^ _`,
	"deep groups":                strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
	"deep fractions":             strings.Repeat(`\frac{`, 150) + "1" + strings.Repeat("}{2}", 150),
	"deep fractions, bare":       strings.Repeat(`\frac`, 400),
	"deep fractions, with 1":     strings.Repeat(`\frac1`, 300) + "1",
	"deep roots":                 strings.Repeat(`\sqrt`, 400) + "1",
	"deep options":               strings.Repeat(`\sqrt[`, 150) + "1" + strings.Repeat("]{2}", 150),
	"deep scripts":               strings.Repeat(`x^{`, 400) + strings.Repeat("}", 400),
	"deep scripts, bare":         strings.Repeat(`^`, 2000) + "x",
	"scripts in turns":           strings.Repeat(`_a^b`, 500),
	"deep fences":                strings.Repeat(`\left(`, 150) + strings.Repeat(`\right)`, 150),
	"deep environments":          strings.Repeat(`\begin{matrix}`, 70) + strings.Repeat(`\end{matrix}`, 70),
	"deep switches":              strings.Repeat(`\rm`, 600) + " x",
	"deep colours":               strings.Repeat(`\color{red}`, 180) + " x",
	"deep accents":               strings.Repeat(`\hat`, 400) + " x",
	"deep texts":                 `\text` + strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
	"infixes":                    strings.Repeat(`a\over `, 250) + "b",
	"many cells":                 `\begin{matrix}` + strings.Repeat("&", 2000) + `\end{matrix}`,
	"many rows":                  `\begin{matrix}` + strings.Repeat(`\\`, 1000) + `\end{matrix}`,
	"wide spans":                 `\begin{matrix}` + strings.Repeat(`\multicolumn{30000}{a}{x}&`, 60) + `\end{matrix}`,
	"fractions by the thousand":  strings.Repeat(`\frac{`, 20_000) + "1" + strings.Repeat("}{2}", 20_000),
	"bare ones by the thousand":  strings.Repeat(`\frac`, 20_000),
	"groups by the thousand":     strings.Repeat("{", 20_000),
	"a megabyte":                 strings.Repeat("x", 1<<20),
}

func TestT88AFormulaIsInert(t *testing.T) {
	for name, formula := range hostileFormulas {
		t.Run(name, func(t *testing.T) {
			page := formulaPage(t, formula)
			wantInert(t, page)
			wantInert(t, reparsed(t, page))
			wantNot(t, page, "<script", "onclick=\"", `="9999em"`, `class="top"><m`, `class="v-large"`)
			if t.Failed() {
				t.Log(page[strings.Index(page, "<main"):])
			}
		})
	}
}

// reparsed returns a page as a browser gives it back, which must mean the same.
func reparsed(t testing.TB, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	expect.OK(t, err)
	var b strings.Builder
	expect.OK(t, html.Render(&b, root))
	return b.String()
}

// formulaPage returns a page that has a formula in all of its forms.
func formulaPage(t testing.TB, formula string) string {
	t.Helper()
	const forms = "a $x$ b $`x`$ c $$x$$\n\n$$\nx\n$$\n\n```math\nx\n```\n\n| $x$ |\n|---|\n\n# $x$\n"
	return pageOf(t, sourceOf("a.md", strings.ReplaceAll(forms, "x", formula)), Query{})
}

func TestT88PublishersWriteNoMathematicsOfTheirOwn(t *testing.T) {
	for _, markup := range []string{
		`<math><mi>x</mi></math>`, `<MATH><mrow>`, `<mi>x</mi>`, `<mtext>y</mtext>`,
		`<math href="javascript:alert(1)">x</math>`,
		`<math><annotation-xml encoding="text/html"><img src=x onerror=alert(1)></annotation-xml></math>`,
		`<v-formula n="0">`, `<v- n="0">`, `<mspace width="9em">`, `<table><mtr><mtd>x</mtd></mtr></table>`,
	} {
		main := mainOf(t, sourceOf("a.md", markup+"\n\nand here "+markup), Query{})
		wantInert(t, main)
		wantNot(t, main, "<m", "<v-")
	}
	for _, around := range []string{
		"<math alttext=\"%s\">", "<math>\n\n%s\n\n<mi>", "<mtext>%s</mtext>", "<div title=\"\n\n%s \">", "<div title=%s>",
		"<script>\n\n%s</script>", "<title>%s</title>", "<textarea>%s", "<style>%s", "<!-- %s -->", "<!--\n\n%s", "<a %s>",
		"<span><%s></span>", "<table>%s</table>", "<select>%s</select>", "<svg>\n\n%s\n\n</svg>", "</%s>",
	} {
		text := strings.ReplaceAll("$x$ <b>"+around+" $y$ and\n\n"+around, "%s", "$z$")
		page := pageOf(t, sourceOf("a.md", text), Query{})
		wantInert(t, page)
		if strings.Count(page, "<math ") != strings.Count(page, "</math>") || strings.Contains(page, "<v-") {
			t.Errorf("%s: %s", around, page[strings.Index(page, "<main"):])
		}
	}
}

func TestT89FormulasAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"a long formula": {"$" + strings.Repeat("x", maxFormula+1) + "$", "shown as text: 1 of 1"},
		"a deep formula": {"$" + nested(maxFormulaDepth+1) + "$", "shown as text: 1 of 1"},
		"long markup":    {"$" + strings.Repeat(")", 2000) + "$ $x$", "shown as text: 1 of 2"},
		"many formulas":  {strings.Repeat("$x$ ", 5000), "shown as text: 4800 of 5000"},
		"much markup":    {strings.Repeat("$"+strings.Repeat("<", 2000)+"$ ", 199), "shown as text: 75 of 199"},
		"a megabyte":     {"```math\n" + strings.Repeat("{", 1<<20) + "\n```", "shown as text: 1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var page string
			synctest.Test(t, func(t *testing.T) { // a busy machine would end the time of the view
				page = pageOf(t, sourceOf("a.md", c.text), Query{})
			})
			wantInert(t, page)
			wantHas(t, page, c.says, "Open the raw file", `<code class="v-math">`)
		})
	}
	if _, err := mathML(nested(maxFormulaDepth), false); err != nil {
		t.Error(err)
	}
}

func nested(levels int) string {
	return strings.Repeat("{", levels) + "x" + strings.Repeat("}", levels)
}

func TestT89MarkupOfAFormulaIsBounded(t *testing.T) {
	longest := 0
	for name, formula := range hostileFormulas {
		markup, err := mathML(formula, true)
		if longest = max(longest, len(markup)); len(markup) > maxFormulaMarkup+1024 {
			t.Errorf("%s: %d bytes, %v", name, len(markup), err)
		}
	}
	t.Logf("the longest has %d bytes", longest)
}

func TestT89DollarsAreReadOnce(t *testing.T) {
	for name, text := range map[string]string{
		"dollars":      strings.Repeat("$a ", 300_000),
		"pairs":        strings.Repeat("$$a ", 250_000),
		"with code":    strings.Repeat("$`a ", 250_000),
		"and an end":   strings.Repeat("$`a$", 250_000),
		"blocks":       strings.Repeat("$$\na\n\n", 100_000),
		"one block":    "$$\n" + strings.Repeat("a\n", 400_000),
		"backslashes":  "$" + strings.Repeat(`\$`, 400_000),
		"environments": strings.Repeat("\\\\begin{align} ", 60_000),
	} {
		t.Run(name, func(t *testing.T) {
			wantInert(t, pageOf(t, sourceOf("a.md", text), Query{}))
			cell := fmt.Sprintf(`{"cells":[{"cell_type":"markdown","source":%q}]}`, text)
			wantInert(t, pageOf(t, sourceOf("a.ipynb", cell), Query{}))
		})
	}
}

func TestFormulasEndWithTheTimeOfAView(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFormulas(ctx)
	f.add("x", false)
	cancel()
	f.add("x", false)
	if !strings.HasPrefix(f.markup[0], "<math") || f.markup[1] != `<code class="v-math">x</code>` || f.asText != 1 {
		t.Error(f.markup, f.asText)
	}
}

// What people publish does not belong into the log of a deployment, where the library would write it.
func TestTheLibraryOfFormulasWritesNoLog(t *testing.T) {
	read, write, err := os.Pipe()
	expect.OK(t, err)
	defer func(out, err *os.File) { os.Stdout, os.Stderr = out, err }(os.Stdout, os.Stderr)
	os.Stdout, os.Stderr = write, write
	if logger.Writer() != io.Discard {
		t.Error("the library logs")
	}
	for _, formula := range hostileFormulas {
		_, _ = mathML(formula, true)
	}
	write.Close()
	text := make([]byte, 1000)
	if n, _ := read.Read(text); n > 0 {
		t.Errorf("the library prints %q", text[:n])
	}
}

func FuzzFormula(f *testing.F) {
	for _, formula := range hostileFormulas {
		if len(formula) < maxFormula {
			f.Add(formula)
		}
	}
	f.Add(`\begin{cases} x & \text{if } y \\ \sqrt[3]{\frac12} \end{cases} \left( \sum_{i=1}^n \hat{a}' \right)`)
	f.Fuzz(func(t *testing.T, formula string) {
		page := formulaPage(t, formula)
		wantInert(t, page)
		wantInert(t, reparsed(t, page))
		if len(page) > 1<<20 {
			t.Errorf("%d bytes", len(page))
		}
	})
}

func TestADelimiterGrowsWhereTheFormulaSaysSo(t *testing.T) {
	for formula, grows := range map[string]bool{
		`\lVert \frac{1}{2} \rVert`:              false,
		`\langle \frac{1}{2} \rangle`:            false,
		`\left\lVert \frac{1}{2} \right\rVert`:   true,
		`\begin{vmatrix} 1 \\ 2 \end{vmatrix}`:   true,
		`\left\langle \frac{1}{2} \right\rangle`: true,
	} {
		got, err := mathML(formula, true)
		if err != nil || strings.Contains(got, `stretchy="false"`) == grows {
			t.Errorf("%s: %s, %v", formula, got, err)
		}
	}
}
