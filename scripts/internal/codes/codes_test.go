// Package codes ties docs/threats.md and docs/faults.md to the tests of the repository: each code in the name of a test
// has a row there, and each row names tests that exist, or says why it names none.
package codes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The documents, below the root of the repository.
const (
	root    = "../../.."
	threats = "docs/threats.md"
	faults  = "docs/faults.md"
)

// repository is scanned once.
var repository = sync.OnceValues(func() (*sources, error) { return scan(root) })

func TestEveryCodeHasARowAndEveryRowItsTests(t *testing.T) {
	s, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, document := range []string{threats, faults} {
		found, err := readTables(root, document)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			if documentOf(r.code) != document {
				t.Errorf("%s: the row %s belongs to %s", r.place, r.code, documentOf(r.code))
			}
		}
		rows = append(rows, found...)
	}
	if len(rows) < 150 || len(s.tests) < 500 {
		t.Fatalf("only %d rows and %d tests were found", len(rows), len(s.tests))
	}
	for _, problem := range slices.Sorted(slices.Values(problems(rows, s, isPackage))) {
		t.Error(problem)
	}
	t.Logf("%d rows, %d codes in the names of tests", len(rows), len(s.named))
}

// isPackage reports whether a folder is in the tree; those of shared/ are called without it.
func isPackage(dir string) bool {
	for _, at := range []string{dir, filepath.Join("shared", dir)} {
		if info, err := os.Stat(filepath.Join(root, at)); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// TestNoNoteIsNamedThatTheRepositoryLacks keeps out an R with a number, which means nothing to readers of the
// repository.
func TestNoNoteIsNamedThatTheRepositoryLacks(t *testing.T) {
	s, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range s.notes {
		t.Errorf("%s: say what it means instead", place)
	}
}

func TestCodesAreFoundInTheNamesOfTestsAlone(t *testing.T) {
	const source = "package p\n" + `
// T97 in a comment is no name.
func TestT91F92Both(t *testing.T) {
	for name := range map[string]bool{"F93 dots": true, "T94: x": true, "I5": true, "15, T95": true} {
		t.Run(name, nil)
	}
	_ = []string{"T2", "M0 60 T200 20", "%F0%9F", "2026-01-01T12:00:00Z", "a T96", "P1DT12H", "F12x"}
}
func TestTheDocumentsAreValidOpenAPI31(t *testing.T) {}
func TestRow1PathsStayPaths(t *testing.T)             {}
func TestS3Fails(t *testing.T)                        {}
func TestI18nWorks(t *testing.T)                      {}
func FuzzT98(f *testing.F)                            {}
func BenchmarkF99_Large(b *testing.B)                 {}
func T90(t *testing.T)                                {}
func (s stand) TestT89Method()                        {}
`
	s := newSources()
	if err := s.read("p/p_test.go", []byte(source)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for code := range s.named {
		got = append(got, code)
	}
	slices.Sort(got)
	if want := "F92 F93 F99 I5 T91 T94 T95 T98"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if place := s.named["F93"]; len(place) != 1 || place[0] != `p/p_test.go:5: "F93 dots"` {
		t.Errorf("F93 is at %q", place)
	}
	if len(s.tests) != 7 || s.tests["T90"] || len(s.notes) != 0 {
		t.Errorf("tests %v, notes %v", s.tests, s.notes)
	}
}

func TestNotesAreFoundInCommentsAndNamesOfTests(t *testing.T) {
	for name, c := range map[string]struct {
		path, source string
		want         int
	}{
		"a comment":                {"p.go", "// as (R901) has it", 1},
		"two in a comment":         {"p.go", "/* R901, R922. */", 2},
		"behind a line":            {"p.go", "var x int // R910", 1},
		"the name of a test":       {"p_test.go", "func TestR907F20Same(t *testing.T) {}", 1},
		"the name of a subtest":    {"p_test.go", `var x = []string{"R949: rights"}`, 1},
		"a bucket of another kind": {"p.go", "// as Cloudflare R2 does", 0},
		"other words":              {"p.go", "// RSA, R, HR901x, PR12, R901s and row 1", 0},
		"a text":                   {"p_test.go", `var x = []string{"R2", "AR901: x"}`, 0},
		"a text of the product":    {"p.go", `var x = "R901: x"`, 0},
		"numbered tests":           {"p_test.go", "func TestRow1Paths(t *testing.T) {}\nfunc TestR(t *testing.T) {}", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSources()
			if err := s.read(c.path, []byte("package p\n"+c.source)); err != nil || len(s.notes) != c.want {
				t.Errorf("got %q, %v; want %d", s.notes, err, c.want)
			}
		})
	}
}

// someTests are what the rows of TestProblemsSayWhatToDo are compared with.
const someTests = "package p\nfunc TestT01A(t *testing.T) {}\nfunc TestB(t *testing.T) {}"

func TestProblemsSayWhatToDo(t *testing.T) {
	const good = "| T01 | a | b | `p` | `TestT01A`, `TestB` |\n"
	second := func(where, shown string) string { return good + "| T02 | a | b | " + where + " | " + shown + " |" }
	for name, c := range map[string]struct{ rows, want string }{
		"everything is fine":            {good, ""},
		"a reason and tests":            {second("-", "`TestB`; not built yet: the rest"), ""},
		"a merged row":                  {second("-", "merged with T01"), ""},
		"not built":                     {second("-", "not built yet: bundles"), ""},
		"shown by a command":            {second("-", "shown elsewhere: `scripts/smoke` reads it"), ""},
		"no row for a code":             {"| F01 | a | b | - | `TestB` |", "the code T01, which has no row in " + threats},
		"a test that is gone":           {second("-", "`TestGone`"), "row T02 names TestGone, which is no test"},
		"a package that is gone":        {second("`q`", "`TestB`"), "row T02 names the package q"},
		"no test and no reason":         {second("-", "-"), "row T02 names no test and gives no reason"},
		"an empty reason":               {second("-", "not built yet:"), "gives no reason"},
		"merged with what is not there": {second("-", "merged with T09"), "merged with T09, which is no row"},
		"a reason against a test": {
			"| T01 | a | b | - | not built yet: x |", "names no test, but TestT01A carries its code",
		},
		"a row twice": {good + good, "d.md:2: the row T01 is at d.md:1 already"},
		"a row left out": {
			good + "| T03 | a | b | - | `TestB` |", `the row T03 follows "T01"; no number is left out`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSources()
			if err := s.read("p_test.go", []byte(someTests)); err != nil {
				t.Fatal(err)
			}
			rows, err := parseTables("d.md", c.rows)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(problems(rows, s, func(dir string) bool { return dir == "p" }), "\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func TestARowHasAllItsCells(t *testing.T) {
	_, err := parseTables("d.md", "| T01 | a | b | `TestB` |")
	if err == nil || !strings.Contains(err.Error(), "d.md:1: row T01 has 4 cells") {
		t.Error(err)
	}
}
