package codes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sources is what the Go files of a tree say about codes.
type sources struct {
	tests   map[string]bool     // names of the functions that go test runs
	carried map[string][]string // by code, the functions whose names begin with it
	named   map[string][]string // by code, where the name of a test, a subtest or a row of a table has it
	notes   []string            // where a numbered note is named that is not in the repository
}

func newSources() *sources {
	return &sources{tests: map[string]bool{}, carried: map[string][]string{}, named: map[string][]string{}}
}

var (
	testFunction = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark|Example)(?:[^a-z]\w*)?$`)
	// leadingCodes finds the codes that the name of a test begins with. TestI18nWorks has none.
	leadingCodes = regexp.MustCompile(`^[A-Z][a-z]+((?:[TFIR][0-9]+)+)(?:[^a-z0-9]|$)`)
	codeInName   = regexp.MustCompile(`[TFIR][0-9]+`)
	// codeInText finds the codes that the name of a subtest or the key of a table begins with: "F83 dots", "15, T26".
	codeInText = regexp.MustCompile(`(?:^|, )([TF][0-9]{2}|I[0-9])(?:[ :,]|$)`)
	// noteInText wants more text behind the number than codeInText, because a value of test data may be such a number.
	noteInText    = regexp.MustCompile(`(?:^|, )(R[0-9]+)[ :,]`)
	noteInComment = regexp.MustCompile(`\bR[0-9]+\b`)
)

// own is this folder, whose test data holds codes that have no row.
const own = "scripts/internal/codes"

// notNotes removes what looks like a note and is the name of something else.
var notNotes = strings.NewReplacer("Cloudflare R2", "", "S3 R2", "")

// scan reads all Go files below root, those of nested modules included.
func scan(root string) (*sources, error) {
	s := newSources()
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && at != root && (name == "node_modules" || name == "cdk.out" || strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		return s.read(filepath.ToSlash(relative), text)
	})
	return s, err
}

// read records what one file says.
func (s *sources) read(name string, text []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	at := func(p token.Pos) string { return fmt.Sprintf("%s:%d", name, files.Position(p).Line) }
	for _, group := range file.Comments {
		for _, c := range group.List {
			s.comment(at(c.Pos()), c.Text)
		}
	}
	if !strings.HasSuffix(name, "_test.go") {
		return nil
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			s.function(at(f.Pos()), f.Name.Name)
		}
	}
	if path.Dir(name) == own {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s.text(at(l.Pos()), l.Value)
		}
		return true
	})
	return nil
}

// comment records the numbered notes that a comment names.
func (s *sources) comment(place, text string) {
	for _, note := range noteInComment.FindAllString(notNotes.Replace(text), -1) {
		s.notes = append(s.notes, fmt.Sprintf("%s: a comment names the note %s", place, note))
	}
}

// function records a test function with the codes of its name.
func (s *sources) function(place, name string) {
	if !testFunction.MatchString(name) {
		return
	}
	s.tests[name] = true
	var codes []string
	if leading := leadingCodes.FindStringSubmatch(name); leading != nil {
		codes = codeInName.FindAllString(leading[1], -1)
	}
	for _, code := range codes {
		if strings.HasPrefix(code, "R") {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s names the note %s", place, name, code))
			continue
		}
		s.carried[code] = append(s.carried[code], name)
		s.named[code] = append(s.named[code], fmt.Sprintf("%s: %s", place, name))
	}
}

// text records the codes of a string of a test file.
func (s *sources) text(place, literal string) {
	text, err := strconv.Unquote(literal)
	if err != nil {
		return
	}
	for _, found := range codeInText.FindAllStringSubmatch(text, -1) {
		s.named[found[1]] = append(s.named[found[1]], fmt.Sprintf("%s: %q", place, text))
	}
	for _, found := range noteInText.FindAllStringSubmatch(text, -1) {
		s.notes = append(s.notes, fmt.Sprintf("%s: %q names the note %s", place, text, found[1]))
	}
}
