package prose

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/markdown"
)

// shapes are units that some reader of HTML or Markdown takes quadratic time or memory for when they are repeated.
var shapes = []string{
	"<div>", "<b>", "</b>", "<pre>", "<template>", "<svg><title>", "<script>", "<textarea>", "<a b=c ", "<a b='", "<i on",
	"<", "< ", "</", "<!--", "<!", "<?", "<![CDATA[", "]]>", "&", "&amp;", "a ", "\n", "<table><tr><td>",
	">", "> a\n", "> - > - ", "- ", "- a\n", "+ + + +\n", "1. a\n", "[", "[a](", "[a]: b\n", "[a][b]", "![",
	"[![x](y)](z) ", "[^1]", "[^a]: ", "*", "*a_ ", "a**b", "~~a", "`a``b", "```\n", "|a\n|-\n", "a:-\n", "http://a.b ",
	"a@b.c ", "# a\n", "a\n=\n", "a  \n", "<b>a\n\n", "\\", "\t", "$a ",
}

// work is what reading a file took.
type work struct{ tokens, allocated, text int }

func workOf(t testing.TB, path, body string) work {
	t.Helper()
	p := &page{whole: path == "a.html"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if p.whole {
		p.read([]byte(body))
	} else if err := p.markdown([]byte(body), markdown.NewBudget()); err != nil {
		return work{}
	}
	runtime.ReadMemStats(&after)
	return work{p.tokens, int(after.TotalAlloc - before.TotalAlloc), p.out.Len()}
}

// TestTwiceTheTextTakesTwiceTheWork counts tokens, allocated bytes and bytes of text. A document that would take more
// is refused in advance.
func TestTwiceTheTextTakesTwiceTheWork(t *testing.T) {
	const size = 32 << 10
	for _, path := range []string{"a.html", "a.md"} {
		read := 0
		for _, unit := range shapes {
			text := strings.Repeat(unit, size/len(unit))
			once, twice := workOf(t, path, text), workOf(t, path, text+text)
			if twice.tokens > 0 {
				read++
			}
			if twice.tokens > 2*once.tokens+10 || twice.text > 2*once.text+10 || twice.allocated > 3*once.allocated+1<<20 {
				t.Errorf("%s of %q takes %+v, and twice of it %+v", path, unit, once, twice)
			}
			if twice.tokens > 8*size || twice.text > 4*size || twice.allocated > 2000*size { // an estimate of the budget
				t.Errorf("%s of %q takes %+v", path, unit, twice)
			}
		}
		if read < len(shapes)/2 {
			t.Errorf("%s: of %d shapes %d are read", path, len(shapes), read)
		}
	}
}

func TestLargeFilesAreReadToTheirEnds(t *testing.T) {
	var attributes strings.Builder
	for n := range 400_000 {
		fmt.Fprintf(&attributes, " a%d", n)
	}
	const deep = 100_000
	again := strings.Repeat
	for name, c := range map[string]struct{ path, body, want string }{
		"tags 100,000 deep":             {"a.html", again("<div>", deep) + "a" + again("</div>", deep) + "b", "a\nb"},
		"templates 100,000 deep":        {"a.html", again("<template>", deep) + "a" + again("</template>", deep) + "b", "b"},
		"a million attributes":          {"a.html", "<p" + again(" a", 1_000_000) + ">a", "a"},
		"attributes of different names": {"a.html", "<p" + attributes.String() + ">a", "a"},
		"emphasis 300,000 deep":         {"a.md", again("*", 600_000) + "a" + again("*", 600_000), "a"},
		"an address of a mebibyte, many times": {
			"a.md", "[a]: b" + again("c", 1<<20) + "\n\n" + again("[a] ", deep), again("a ", deep-1) + "a",
		},
		"a notebook of 90,000 documents": {
			"a.ipynb", `{"cells":[` + again(`{"cell_type":"markdown","source":"a  "},`, 90_000) + `null]}`,
			again("a\n", 89_999) + "a",
		},
		"a notebook of nothing": {"a.ipynb", `{"cells":[` + again("null,", 800_000) + `null]}`, ""},
	} {
		if p := expect.Value(Of(c.path, []byte(c.body)))(t); p.Text != c.want {
			t.Errorf("%s: %.100q, not %.100q", name, p.Text, c.want)
		}
	}
}
