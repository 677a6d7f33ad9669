//go:build cost

package render

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/markdown"
)

// spent is the processor time of this process.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	expect.OK(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// repeats are units of Markdown that some parser takes quadratic time for.
var repeats = []string{
	">", "> - > - ", "1. ", "- ", "* ", "+ ", "> a\n", "- a\n", "1. a\n", "1) a\n\n", "- [ ] a\n", "- - -\n", "+ + + +\n",
	"[", "]", "[[[[a", "]]]]", "[a", "[a]", "[a](", "[a](<b", "[a](b(", "[a](b 'c", "[a][b]", "[x](y) ", "![", "![[]()",
	"[![x](y)](z) ",
	"[*a*](b) ", "[a]: b\n", "[a]:\n", "[a]: b '\n", "[a]: <b> 'c\n", "[^1]", "[^1]: x\n\n", "[^", "[^a]: ",
	"*", "*a", "a*", "*a*", "*a_ ", "*a **a ", "a**b", "a**b c* ", "_a", "__a__ ", "_*a*_", "~~", "~~a", "~a~ ",
	"`", "`a", "`a``b", "```\n", "``` a\n", "```zz\nx\n```\n", "~~~\n", "<", "<!--", "<?", "<![CDATA[", "<!A ", "<a ",
	"<a href=\"", "<a>",
	"</a>", "<b>", "<div>\n\n", "x<b c=d ", "a <? ", "a<!-- ", "<table><tr><td>", "&", "&amp;", "\\", "\\\\(",
	"\\begin{align}",
	"$", "$$", "$a ", "$a$ ", "$$a ", "$$\n", "a$`b ", "|", "|a\n|-\n", "|-", ":-|", "a:-\n", "http://", "http://a.b ",
	"http://a.b/(",
	"www.", "www.a.b ", "@a.b", "a@b.c ", "_a@b", "<http://a", "a\n=\n", "=\n", "--\n", "---\n", "#", "# ", "# a\n",
	"# a #", "# *a_ ",
	"a\n", "a  \n", "a\\\n", "\t", "\tx\n", " ", "\n", "\r", "\x00", "é", "(", "\"", ":", "{a}", "x",
}

func TestTwiceTheMarkdownTakesLessThanThreeTimesTheTime(t *testing.T) {
	took := func(text string) time.Duration {
		at := spent(t)
		b := new(body)
		if err := markdownView(context.Background(), sourceOf("a.md", text), b, Query{}); err == nil {
			expect.OK(t, b.sanitise())
		}
		return spent(t) - at
	}
	for _, unit := range repeats {
		const size = 256 << 10
		once, twice := took(strings.Repeat(unit, size/len(unit))), took(strings.Repeat(unit, 2*size/len(unit)))
		t.Logf("%-20q %5d ms, twice of it %5d ms", unit, once.Milliseconds(), twice.Milliseconds())
		if twice > 3*once && twice > 200*time.Millisecond {
			t.Errorf("%q takes %v, and twice of it %v", unit, once, twice)
		}
	}
}

// largest are files that take most memory for their bytes, up to what the views read.
var largest = map[string]func(n int) (path, text string){
	"Markdown": func(n int) (string, string) {
		return "a.md", strings.Repeat("- [x] a *b* c d e f g\n", min(n, markdown.Most)/23)
	},
	"Markdown links": func(n int) (string, string) {
		return "a.md", strings.Repeat("[x](y)\n\n", min(n, markdown.Most)/8)
	},
	"Markdown table": func(n int) (string, string) {
		return "a.md", "|a|b|\n|-|-|\n" + strings.Repeat("|aaaa|b|\n", min(n, markdown.Most)/9-3)
	},
	"CSV of commas": func(n int) (string, string) { return "a.csv", strings.Repeat(",", n) },
	"CSV of rows":   func(n int) (string, string) { return "a.csv", strings.Repeat(strings.Repeat("a,", 200)+"\n", n/401) },
	"JSON lines":    func(n int) (string, string) { return "a.jsonl", strings.Repeat(`{"a":"b","c":[1,2]}`+"\n", n/20) },
	"JSON line":     func(n int) (string, string) { return "a.jsonl", "{" + strings.Repeat(`"a":1,`, n/6) + `"b":1}` },
	"YAML": func(n int) (string, string) {
		return "a.yaml",
			"[" + strings.Repeat("1,", maxYAMLValues-2) + "1]"
	},
	"YAML refused": func(n int) (string, string) { return "a.yaml", strings.Repeat("a: 1\n", maxData/5) },
	"JSON": func(n int) (string, string) {
		return "a.json", "[" + strings.Repeat("1,", maxData/2-2) + "1]"
	},
	"nested JSON": func(n int) (string, string) { return "a.json", strings.Repeat("[", maxData) },
	"outputs": func(n int) (string, string) {
		n = min(n, maxNotebook) / 3
		return "a.ipynb", `{"cells":[{"cell_type":"code","outputs":[` + strings.Repeat(`{},`, n-30) + `{}]}]}`
	},
	"cells": func(n int) (string, string) {
		return "a.ipynb", `{"cells":[` + strings.Repeat(`{},`, min(n, maxNotebook)/3-10) + `{}]}`
	},
	"printed pieces": func(n int) (string, string) {
		n = min(n, maxNotebook) / 36
		return "a.ipynb", `{"cells":[{"outputs":[` + strings.Repeat(`{"output_type":"stream","text":"x"},`, n-3) + `{}]}]}`
	},
	"lines of a source": func(n int) (string, string) {
		return "a.ipynb", `{"cells":[{"source":[` + strings.Repeat(`"",`, min(n, maxNotebook)/3-20) + `""]}]}`
	},
	"patch": func(n int) (string, string) {
		return "a.patch", "--- a\n+++ b\n@@ -1,999999 +1,999999 @@\n" + strings.Repeat("-a\n", n/3)
	},
	"log":  func(n int) (string, string) { return "a.log", strings.Repeat("\x1b[1mx\x1b[31my\n", n/11) },
	"code": func(n int) (string, string) { return "a.go", strings.Repeat("a+1\n", n/4) },
	"text": func(n int) (string, string) { return "a.txt", strings.Repeat(`"`, n) },
}

// peak is the most memory that this process has held, in MB.
func peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	expect.OK(t, err)
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(line)[0])
	expect.OK(t, err)
	return kilobytes >> 10
}

func TestAPageOfTheLargestFilesTakesAQuarterOfAGigabyte(t *testing.T) {
	const file = 25 << 20
	if name := os.Getenv("VITRINE_COST"); name != "" {
		path, text := largest[name](file)
		before := peak(t)
		expect.OK(t, New().Page(t.Context(), io.Discard, sourceOf(path, text), Query{}))
		fmt.Printf("took %d MB\n", peak(t)-before)
		return
	}
	for name := range largest {
		t.Run(name, func(t *testing.T) {
			command := exec.Command(os.Args[0], "-test.run=^TestAPageOfTheLargest", "-test.v")
			command.Env = append(os.Environ(), "VITRINE_COST="+name)
			out, err := command.CombinedOutput()
			var took int
			_, line, found := strings.Cut(string(out), "took ")
			if _, scanned := fmt.Sscanf(line, "%d MB", &took); err != nil || !found || scanned != nil {
				t.Fatalf("%v: %.2000s", err, out)
			}
			t.Logf("%d MB", took)
			if took > 256 {
				t.Errorf("it takes %d MB", took)
			}
		})
	}
}
