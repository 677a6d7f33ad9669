package comparison

import (
	"fmt"
	"strings"
	"testing"
)

// written writes a row with its cells as people mark them by hand.
func written(r Row) string {
	var cells []string
	for _, c := range r.Cells {
		cells = append(cells, map[Op]string{
			Same:    c.After,
			Removed: "[-" + c.Before + "-]",
			Added:   "[+" + c.After + "+]",
			Changed: "[-" + c.Before + "-][+" + c.After + "+]",
		}[c.Op])
	}
	return fmt.Sprintf("%d %d after %d: %s", r.From, r.To, r.Skipped, strings.Join(cells, "|"))
}

func TestTablesAreComparedByCell(t *testing.T) {
	const table = "id,name,age\n1,Ada,36\n2,Bob,40\n3,Cy,50\n"
	for name, c := range map[string]struct {
		before, after string
		want          []string // the first row, and those that differ
	}{
		"a cell":       {table, strings.Replace(table, "40", "41", 1), []string{"1 1 after 0: id|name|age", "3 3 after 1: 2|Bob|[-40-][+41+]"}},
		"a new row":    {table, table + "4,Di,20\n", []string{"1 1 after 0: id|name|age", "0 5 after 3: [+4+]|[+Di+]|[+20+]"}},
		"a lost row":   {table, strings.Replace(table, "2,Bob,40\n", "", 1), []string{"1 1 after 0: id|name|age", "3 0 after 1: [-2-]|[-Bob-]|[-40-]"}},
		"another row":  {"k,v\na,1\n", "k,v\nb,2\n", []string{"1 1 after 0: k|v", "2 0 after 0: [-a-]|[-1-]", "0 2 after 0: [+b+]|[+2+]"}},
		"a new column": {"a,b\n1,2\n", "a,x,b\n1,0,2\n", []string{"1 1 after 0: a|[+x+]|b", "2 2 after 0: 1|[+0+]|2"}},
		"a row before": {
			table, strings.Replace(table, "1,Ada,36\n", "0,Zoe,1\n1,Ada,37\n", 1),
			[]string{"1 1 after 0: id|name|age", "0 2 after 0: [+0+]|[+Zoe+]|[+1+]", "2 3 after 0: 1|Ada|[-36-][+37+]"},
		},
		"a row in a wider table": {
			"a,b\n1,2\n3,4\n", "a,b,c\n1,2,\n9,9,9\n3,5,6\n",
			[]string{"1 1 after 0: a|b|[+c+]", "2 2 after 0: 1|2|[++]", "0 3 after 0: [+9+]|[+9+]|[+9+]", "3 4 after 0: 3|[-4-][+5+]|[+6+]"},
		},
		"a lost column":     {"a,b\n1,2\n", "a\n1\n", []string{"1 1 after 0: a|[-b-]", "2 2 after 0: 1|[-2-]"}},
		"a renamed column":  {"a,b\n1,2\n", "a,c\n1,2\n", []string{"1 1 after 0: a|[-b-][+c+]"}},
		"a ragged row":      {"a,b\n1,2\n", "a,b\n1,2,3\n", []string{"1 1 after 0: a|b|[++]", "2 2 after 0: 1|2|[+3+]"}},
		"quoted cells":      {"a;b\n\"x;y\";1\n", "a;b\n\"x;\ny\";1\n", []string{"1 1 after 0: a|b", "2 0 after 0: [-x;y-]|[-1-]"}},
		"tabs":              {"a\tb,c\td\n1\t2\n", "a\tb,c\td\n1\t3\n", []string{"1 1 after 0: a|b,c|d", "2 2 after 0: 1|[-2-][+3+]|"}},
		"it is new":         {"", "a\n1\n", []string{"0 1 after 0: [+a+]", "0 2 after 0: [+1+]"}},
		"it is gone":        {"a\n1\n", "", []string{"1 0 after 0: [-a-]", "2 0 after 0: [-1-]"}},
		"only quotes":       {"a\n1\n", "a\n\"1\"\n", []string{"1 1 after 0: a"}},
		"a mark of order":   {"\ufeffa\n1\n", "a\n1\n", []string{"1 1 after 0: a"}},
		"markup in a cell":  {"a\n<b>\n", "a\n<b>\n<script>\n", []string{"1 1 after 0: a", "0 3 after 1: [+<script>+]"}},
		"formulas in cells": {"a,b\nx,=1\n", "a,b\nx,=2\n", []string{"1 1 after 0: a|b", "2 2 after 0: x|[-=1-][+=2+]"}},
	} {
		head, rows, ok := compareTables(c.before, c.after)
		got := []string{written(head)}
		for _, r := range rows {
			got = append(got, written(r))
		}
		if name == "quoted cells" { // the other row of the pair
			if len(got) != 2 || got[1] != "2 2 after 0: [-x;y-][+x;\ny+]|1" {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if !ok || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %t\n%s\nwant\n%s", name, ok, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestWhatIsNoTableIsNotComparedByCell(t *testing.T) {
	wide := strings.Repeat("x,", maxColumns) + "x\n"
	for name, texts := range map[string][2]string{
		"a quote in a cell":      {"a\n1\n", "a\nx\"y\n"},
		"it was none":            {"a\n\"\n", "a\n1\n"},
		"too many columns":       {"a\n1\n", wide},
		"too many in both":       {strings.Repeat("x,", 40) + "x\n", strings.Repeat("y,", 64) + "\n"},
		"a row that is too long": {"a\n1\n", "a\n\"" + strings.Repeat("x\n", maxPiece) + "\"\n"},
		"nothing at all":         {"", ""},
	} {
		if _, _, ok := compareTables(texts[0], texts[1]); ok {
			t.Errorf("%s is compared by cell", name)
		}
	}
}
