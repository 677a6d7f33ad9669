package codes

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// row is a line of a table of docs/threats.md or docs/faults.md.
type row struct {
	place string // file and line
	code  string
	where []string // packages
	tests []string
	rest  string // what the last cell says beside its tests
}

const cells = 5 // code, what happens, what stops it, where, shown by

var (
	rowStart   = regexp.MustCompile(`^\| ([TFI][0-9]+) \|`)
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	mergedWith = regexp.MustCompile(`^merged with ([TFI][0-9]+)$`)
)

// reasons are how the last cell of a row begins that names no test. What follows says why or where.
var reasons = []string{"not built yet: ", "shown elsewhere: "}

// readTables reads the rows of a document.
func readTables(root, name string) ([]row, error) {
	text, err := os.ReadFile(path.Join(root, name))
	if err != nil {
		return nil, err
	}
	return parseTables(name, string(text))
}

func parseTables(name, text string) (rows []row, err error) {
	for n, line := range strings.Split(text, "\n") {
		start := rowStart.FindStringSubmatch(line)
		if start == nil {
			continue
		}
		place := fmt.Sprintf("%s:%d", name, n+1)
		parts := strings.Split(strings.Trim(line, "|"), "|")
		if len(parts) != cells {
			return nil, fmt.Errorf("%s: row %s has %d cells, not %d; write no | inside of a cell",
				place, start[1], len(parts), cells)
		}
		last := parts[cells-1]
		r := row{
			place: place,
			code:  start[1],
			where: spans(parts[3]),
			rest:  strings.Trim(codeSpan.ReplaceAllString(last, ""), " ,;"),
		}
		for _, span := range spans(last) {
			if testFunction.MatchString(span) {
				r.tests = append(r.tests, span)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// spans returns the texts between backquotes.
func spans(cell string) (out []string) {
	for _, found := range codeSpan.FindAllStringSubmatch(cell, -1) {
		out = append(out, found[1])
	}
	return out
}

// problems reports what does not fit between tables and tests, in sentences that say what to do.
func problems(rows []row, s *sources, isPackage func(string) bool) (out []string) {
	known, out := index(rows)
	for _, r := range known {
		out = append(out, r.problems(s, known, isPackage)...)
	}
	for code, places := range s.named {
		if _, ok := known[code]; !ok {
			out = append(out, fmt.Sprintf("%s has the code %s, which has no row in %s: "+
				"add the row, or name the test by the right code", places[0], code, documentOf(code)))
		}
	}
	return out
}

// index returns rows by their codes, and reports those that stand twice or leave a number out.
func index(rows []row) (known map[string]row, out []string) {
	known = map[string]row{}
	last := map[string]row{} // by kind
	for _, r := range rows {
		if before, twice := known[r.code]; twice {
			out = append(out, fmt.Sprintf("%s: the row %s is at %s already", r.place, r.code, before.place))
			continue
		}
		kind := r.code[:1]
		if before := last[kind]; r.number() != before.number()+1 {
			out = append(out, fmt.Sprintf("%s: the row %s follows %q; no number is left out", r.place, r.code, before.code))
		}
		known[r.code], last[kind] = r, r
	}
	return known, out
}

// number returns the number of a code, 0 for no row.
func (r row) number() int {
	n, _ := strconv.Atoi(strings.TrimLeft(r.code, "TFI"))
	return n
}

// problems reports what does not fit between a row, the other rows and the tests.
func (r row) problems(s *sources, known map[string]row, isPackage func(string) bool) (out []string) {
	add := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s: row %s ", r.place, r.code)+fmt.Sprintf(format, args...))
	}
	for _, name := range r.tests {
		if !s.tests[name] {
			add("names %s, which is no test; if it was renamed or removed, name the test that shows the row now", name)
		}
	}
	for _, dir := range r.where {
		if !isPackage(dir) {
			add("names the package %s, which is not in the tree", dir)
		}
	}
	if len(r.tests) > 0 {
		return out
	}
	if with := mergedWith.FindStringSubmatch(r.rest); with != nil {
		if _, ok := known[with[1]]; !ok {
			add("is merged with %s, which is no row", with[1])
		}
	} else if !explained(r.rest) {
		add("names no test and gives no reason: write \"merged with CODE\", \"not built yet: …\" or \"shown elsewhere: …\"")
	}
	if carried := s.carried[r.code]; len(carried) > 0 {
		add("names no test, but %s carries its code", carried[0])
	}
	return out
}

// explained reports whether a cell gives a reason why it names no test.
func explained(text string) bool {
	for _, reason := range reasons {
		if len(text) > len(reason) && strings.HasPrefix(text, reason) {
			return true
		}
	}
	return false
}

// documentOf names the document where the row of a code belongs.
func documentOf(code string) string {
	if strings.HasPrefix(code, "T") {
		return threats
	}
	return faults
}
