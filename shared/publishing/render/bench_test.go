package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

// markdownOf is a document of about a size, with what documents have.
func markdownOf(size int) string {
	const part = "## Heading %d\n\nA paragraph with **bold**, `code`, a [link](other.md) and https://example.com/x.\n\n" +
		"- [x] one\n- [ ] two\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n```go\nfunc f(n int) int { return n * 2 } // twice\n```\n\n"
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, part, i)
	}
	return b.String()
}

func csvOf(size int) string {
	var b strings.Builder
	b.WriteString("id,name,amount,share,at,note\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d,Name %d,%d.%02d,%d%%,2026-01-%02d,\"some, text\"\n", i, i*7%1000, i*31%9999, i%100, i%100, i%28+1)
	}
	return b.String()
}

func notebookOf(size int) string {
	type cellOf = map[string]any
	var cells []cellOf
	image := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 20_000)
	for n := 0; n < size; n += len(image) + 20_000 {
		cells = append(cells, cellOf{"cell_type": "markdown", "source": markdownOf(4000)},
			cellOf{"cell_type": "code", "source": strings.Repeat("x = f(1, 'a')  # note\n", 200), "outputs": []cellOf{
				{"output_type": "stream", "text": strings.Repeat("\x1b[32mok\x1b[0m line\n", 500)},
				{"output_type": "display_data", "data": cellOf{"image/png": image}},
			}})
	}
	text, _ := json.Marshal(cellOf{"cells": cells, "metadata": cellOf{"language_info": cellOf{"name": "python"}}})
	return string(text)
}

func BenchmarkPage(b *testing.B) {
	for _, c := range []struct{ name, path, text string }{
		{"markdown 10 KB", "a.md", markdownOf(10_000)},
		{"markdown 1 MB", "a.md", markdownOf(1_000_000)},
		{"code 1 MB", "a.go", strings.Repeat("func f(n int) int { return n * 2 } // twice\n", 22_000)},
		{"CSV 5 MB", "a.csv", csvOf(5_000_000)},
		{"JSON 2 MB", "a.json", "[" + strings.Repeat(`{"a":1,"b":"text"},`, 105_000) + "1]"},
		{"notebook 10 MB", "a.ipynb", notebookOf(10_000_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := New(), sourceOf(c.path, c.text, "other.md")
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				expect.OK(b, r.Page(b.Context(), io.Discard, s, Query{}))
			}
		})
	}
}

// formulasOf is a document of many formulas of a kind.
func formulasOf(n int, formula string) string {
	return strings.Repeat("A paragraph with $"+formula+"$ in it.\n\n", n)
}

func BenchmarkFormulas(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"200 roots", formulasOf(200, `x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}`)},
		{"200 of 2 KB", formulasOf(200, strings.Repeat(`\frac{a_i^2}{\sqrt{b}} + `, 80)+"c")},
		{"200 of 2 KB, one table", formulasOf(200, `\begin{matrix}`+strings.Repeat(`a&b\\`, 330)+`\end{matrix}`)},
		{"200 of 2 KB, 30 deep", formulasOf(200, strings.Repeat(strings.Repeat("{", 30)+"x"+strings.Repeat("}", 30), 33))},
		{"200 of 2 KB, scripts", formulasOf(200, strings.Repeat(`_a^b`, 500))},
		{"5,000, one letter", formulasOf(5000, "x")},
		{"20,000 fractions", "$$\n" + strings.Repeat(`\frac{`, 20_000) + "1" + strings.Repeat("}{2}", 20_000) + "\n$$"},
		{"20,000 groups", "$$\n" + strings.Repeat("{", 20_000) + "\n$$"},
		{"1 MB", "$$\n" + strings.Repeat("x", 1<<20) + "\n$$"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, s := New(), sourceOf("a.md", c.text)
			b.ReportAllocs()
			for b.Loop() {
				expect.OK(b, r.Page(b.Context(), io.Discard, s, Query{}))
			}
		})
	}
}
