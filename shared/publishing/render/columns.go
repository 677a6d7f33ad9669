package render

import (
	"cmp"
	"strconv"
	"strings"
)

// order is the order of the rows of a table.
type order struct {
	column     int // from 0; -1: the order of the file
	descending bool
}

// sortOf parses Query.Sort.
func sortOf(text string) order {
	digits, descending := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxColumns {
		return order{column: -1}
	}
	return order{column: n - 1, descending: descending}
}

// column sums up the cells of a column in all rows that are read.
type column struct {
	name           string
	before         int // rows before the first one that has the column
	filled, empty  int
	numbers        int
	least, most    float64
	first, last    string // the first and the last text in sorted order
	leastText      string // least and most as the file spells them
	mostText       string
	known          bool // first and last are set
	numbersEnabled bool
}

// add adds a cell to the summary.
func (c *column) add(cell string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return
	}
	c.filled++
	if !c.known || cell < c.first {
		c.first = cell
	}
	if !c.known || cell > c.last {
		c.last = cell
	}
	c.known = true
	n, ok := parseNumber(cell)
	if !ok {
		return
	}
	if c.numbers == 0 || n < c.least {
		c.least, c.leastText = n, cell
	}
	if c.numbers == 0 || n > c.most {
		c.most, c.mostText = n, cell
	}
	c.numbers++
}

// parseNumber parses a number in the forms that tables use: with a sign, thousands in groups of three, an exponent or a
// percent sign.
func parseNumber(cell string) (float64, bool) {
	cell = strings.TrimSuffix(strings.TrimSpace(cell), "%")
	if cell == "" || len(cell) > 40 || !strings.ContainsAny(cell[:1], "+-.0123456789") {
		return 0, false
	}
	if whole, _, _ := strings.Cut(cell, "."); strings.Contains(whole, ",") {
		for i, group := range strings.Split(whole, ",") {
			if i > 0 && len(group) != 3 {
				return 0, false
			}
		}
		cell = strings.ReplaceAll(whole, ",", "") + cell[len(whole):]
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return n, err == nil
}

// compare orders two rows: numbers before texts, empty cells last in either direction, equal ones in the order of the
// file.
func (o order) compare(a, b record) int {
	x, y := o.cell(a), o.cell(b)
	n, xIs := parseNumber(x)
	m, yIs := parseNumber(y)
	by := 0
	switch {
	case x == "" || y == "":
		return cmp.Or(cmp.Compare(len(y), len(x))*sign(x, y), cmp.Compare(a.line, b.line))
	case xIs && yIs:
		by = cmp.Compare(n, m)
	case xIs != yIs:
		by = cmp.Compare(bit(yIs), bit(xIs))
	default:
		by = strings.Compare(x, y)
	}
	if o.descending {
		by = -by
	}
	return cmp.Or(by, cmp.Compare(a.line, b.line))
}

// sign returns 1 if exactly one of two cells is empty, else 0.
func sign(x, y string) int { return bit((x == "") != (y == "")) }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (o order) cell(r record) string {
	if o.column < len(r.cells) {
		return strings.TrimSpace(r.cells[o.column])
	}
	return ""
}

// topRows is a heap of the rows that are kept. Its root is the last of them in the order, which is dropped first.
type topRows struct {
	order order
	rows  []record
}

func (r *topRows) Len() int           { return len(r.rows) }
func (r *topRows) Less(i, j int) bool { return r.order.compare(r.rows[i], r.rows[j]) > 0 }
func (r *topRows) Swap(i, j int)      { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] }
func (r *topRows) Push(x any)         { r.rows = append(r.rows, x.(record)) }
func (r *topRows) Pop() any {
	last := r.rows[len(r.rows)-1]
	r.rows = r.rows[:len(r.rows)-1]
	return last
}
