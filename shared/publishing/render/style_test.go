package render

import (
	"regexp"
	"strings"
	"testing"
)

var (
	classesOf = regexp.MustCompile(` class="([^"]+)"`)
	ruledBy   = regexp.MustCompile(`\.([a-z][a-z0-9-]*)`)
)

// ruled returns the classes that a style sheet has rules for.
func ruled(sheet string) map[string]bool {
	all := map[string]bool{}
	for _, m := range ruledBy.FindAllStringSubmatch(sheet, -1) {
		all[m[1]] = true
	}
	return all
}

func TestAPageHasTheRulesOfItsClasses(t *testing.T) {
	files := samples(t, "x")
	for _, path := range []string{"", "a.png", "a.mp3", "a.mp4", "a.pdf"} {
		files[path] = ""
	}
	files["formulas.md"] = "$a$\n\n$$\\boxed{\\frac{a}{b}}$$\n\n> [!TIP]\n> x\n\n" + diagram
	files["b.ipynb"] = `{"cells":[{"cell_type":"markdown","source":"$a$\n\n> [!NOTE]\n> x"}]}`
	all := ruled(stylesheet)
	for path, text := range files {
		s := sourceOf(path, text, "c.png")
		page := pageOf(t, s, Query{})
		_, page, _ = strings.Cut(page, "</style>")
		has := ruled(rulesOf(s.view()))
		for _, m := range classesOf.FindAllStringSubmatch(page, -1) {
			for class := range strings.FieldsSeq(m[1]) {
				if all[class] && !has[class] {
					t.Errorf("%q has no rules for the class %s", path, class)
				}
			}
		}
		if len(rulesOf(s.view())) > len(stylesheet)*4/5 {
			t.Errorf("%q has nearly all rules", path)
		}
	}
}
