package faults

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/engine"
)

// The rows of the design's two tables: faults, without the numbers of merged rows, and threats.
const (
	faultRows  = 88
	threatRows = 85
)

var mergedRows = []string{"F02", "F13", "F16", "F59"}

// requiredRows are the rows that the present hosts have to show, as ranges.
const requiredRows = "F01 F03-F08 F10-F12 F14 F15 F17-F36 F42-F58 F60 F62 F63 F65-F69 F73-F79 F82-F84 " +
	"T01-T03 T05-T11 T22-T29 T33 T35 T36 T38-T72 T74-T80 T83-T85"

// shownElsewhere are required rows that are shown in another way than the table says, with the reason.
var shownElsewhere = map[string]string{
	"F74": "no viewer polls, as live updates are not built; what is read by a link, or by what it gave, is refused " +
		"from its revocation on",
	"T48": "time is counted AWS calls: guests and members cause the same for what is not there and for somebody else's",
	"T75": "time is counted AWS calls; Authenticator.Open hashes once whether it found a key or not",
}

// TestEveryRequiredRowHasATest looks for the ids of rows in the names of tests, in what they say and in comments on
// them.
func TestEveryRequiredRowHasATest(t *testing.T) {
	t.Parallel()
	shown := rowsInTests(t)
	required := rowsOf(t, requiredRows)
	for _, row := range required {
		if reason := shownElsewhere[row]; reason != "" {
			t.Logf("%s: %s", row, reason)
		} else if shown[row] == "" {
			t.Errorf("no test names the row %s", row)
		}
	}
	var open []string
	for _, row := range allRows() {
		if shown[row] == "" && !slices.Contains(required, row) {
			open = append(open, row)
		}
	}
	t.Logf("%d of %d rows have a test; still open: %s", len(allRows())-len(open), len(allRows()), strings.Join(open, " "))
}

func allRows() (rows []string) {
	for n := range faultRows {
		if row := fmt.Sprintf("F%02d", n+1); !slices.Contains(mergedRows, row) {
			rows = append(rows, row)
		}
	}
	for n := range threatRows {
		rows = append(rows, fmt.Sprintf("T%02d", n+1))
	}
	return rows
}

// rowsOf spells ranges out.
func rowsOf(t *testing.T, ranges string) (rows []string) {
	t.Helper()
	all := allRows()
	for _, r := range strings.Fields(ranges) {
		first, last, is := strings.Cut(r, "-")
		if !is {
			last = first
		}
		from, to := slices.Index(all, first), slices.Index(all, last)
		if from < 0 || to < from {
			t.Fatalf("%s is no range of rows", r)
		}
		rows = append(rows, all[from:to+1]...)
	}
	return rows
}

// Ids stand alone in texts, and behind each other in names of tests.
var (
	rowInText = regexp.MustCompile(`\b[FT][0-9]{2}\b`)
	rowInName = regexp.MustCompile(`[FT][0-9]{2}`)
)

// rowsInTests finds, for each row, a file that has a test of it.
func rowsInTests(t *testing.T) map[string]string {
	t.Helper()
	shown := map[string]string{}
	root := harness.Must(engine.Root())(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == "cdk.out" || strings.HasPrefix(name, ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go") || name == "rows_test.go":
			return nil
		}
		return readRows(path, shown)
	})
	harness.NoError(t, err)
	return shown
}

// readRows adds the rows that a file of tests names.
func readRows(path string, shown map[string]string) error {
	file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	add := func(form *regexp.Regexp, text string) {
		for _, row := range form.FindAllString(text, -1) {
			shown[row] = path
		}
	}
	for _, comment := range file.Comments {
		add(rowInText, comment.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(rowInName, n.Name.Name)
		case *ast.BasicLit:
			if n.Kind == gotoken.STRING {
				add(rowInText, n.Value)
			}
		}
		return true
	})
	return nil
}
