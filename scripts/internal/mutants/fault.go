package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kinds are the ways in which a fault changes code.
var kinds = []string{
	"negated",   // a condition holds where it did not
	"unchecked", // a check that ends the function or the turn of a loop is left out
	"bound",     // a comparison is off by one
	"dropped",   // an error is ignored
	"swapped",   // two statements change places
}

// rooms are the folders that faults are planted in.
var rooms = []string{"shared", "functions", "cmd"}

// place is the code that a fault changes. It finds the code again in a tree whose lines have moved.
type place struct {
	File string `json:"file"` // from the root, with slashes
	Func string `json:"func"`
	Kind string `json:"kind"`
	Text string `json:"text"` // the code that is changed
	Nth  int    `json:"nth"`  // among equal ones of the function, from 0
}

// fault is one change of one file.
type fault struct {
	place
	Line    int    `json:"line"`
	Caught  string `json:"caught,omitempty"`  // package and test that failed, or package alone
	Reached string `json:"reached,omitempty"` // the last step of tests that ran

	start, end int // of the changed code, as offsets
	code       string
}

// pkg returns the import path of the fault's package, relative to the module.
func (f fault) pkg() string { return "./" + filepath.ToSlash(filepath.Dir(f.File)) }

// plant writes the file with the fault in it to a path.
func (f fault) plant(root, path string) error {
	source, err := os.ReadFile(filepath.Join(root, f.File))
	if err != nil {
		return err
	}
	changed := slices.Concat(source[:f.start], []byte(f.code), source[f.end:])
	return os.WriteFile(path, changed, 0o600)
}

// find returns all faults that can be planted in the rooms of a tree, in the order of files.
func find(root string) ([]fault, error) {
	var all []fault
	for _, room := range rooms {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			found, err := findIn(root, path)
			all = append(all, found...)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	return all, nil
}

func findIn(root, path string) ([]fault, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(syntax) {
		return nil, err
	}
	s := &search{fset: fset, source: source, file: filepath.ToSlash(name), seen: map[place]int{}}
	for _, d := range syntax.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			s.in = f.Name.Name
			ast.Inspect(f.Body, s.visit)
		}
	}
	return s.faults, nil
}

// search gathers the faults of one file.
type search struct {
	fset   *token.FileSet
	source []byte
	file   string
	in     string        // the function that is searched
	seen   map[place]int // how often, with Nth 0
	faults []fault
}

func (s *search) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		s.condition(n)
	case *ast.BinaryExpr:
		if off, ok := offByOne[n.Op]; ok {
			x, y := s.text(n.X.Pos(), n.X.End()), s.text(n.Y.Pos(), n.Y.End())
			s.add("bound", n.Pos(), n.End(), x+" "+off.String()+" "+y)
		}
	case *ast.BlockStmt:
		s.neighbours(n.List)
	case *ast.CaseClause:
		s.neighbours(n.Body)
	}
	return true
}

var offByOne = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

func (s *search) condition(n *ast.IfStmt) {
	cond := s.text(n.Cond.Pos(), n.Cond.End())
	leaves := n.Else == nil && len(n.Body.List) > 0 && isExit(n.Body.List[len(n.Body.List)-1])
	if cond == "err != nil" {
		if leaves {
			s.add("dropped", n.Cond.Pos(), n.Cond.End(), "false && "+cond)
		}
		return
	}
	s.add("negated", n.Cond.Pos(), n.Cond.End(), "!("+cond+")")
	if leaves {
		s.add("unchecked", n.Cond.Pos(), n.Cond.End(), "false && ("+cond+")")
	}
}

func isExit(last ast.Stmt) bool {
	switch last.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// neighbours adds the swaps of statements that declare nothing.
func (s *search) neighbours(list []ast.Stmt) {
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if !isMovable(a) || !isMovable(b) {
			continue
		}
		first, second := s.text(a.Pos(), a.End()), s.text(b.Pos(), b.End())
		if first != second {
			s.add("swapped", a.Pos(), b.End(), second+"\n"+first)
		}
	}
}

func isMovable(n ast.Stmt) bool {
	switch n := n.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.IfStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		return true
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE
	}
	return false
}

func (s *search) add(kind string, from, to token.Pos, code string) {
	at := place{File: s.file, Func: s.in, Kind: kind, Text: s.text(from, to)}
	s.seen[at]++
	at.Nth = s.seen[at] - 1
	s.faults = append(s.faults, fault{
		place: at,
		Line:  s.fset.Position(from).Line,
		start: s.fset.Position(from).Offset,
		end:   s.fset.Position(to).Offset,
		code:  code,
	})
}

func (s *search) text(from, to token.Pos) string {
	return string(bytes.TrimSpace(s.source[s.fset.Position(from).Offset:s.fset.Position(to).Offset]))
}

// shuffled returns the faults in an order that depends on the seed alone, each kind in its turn.
func shuffled(all []fault, seed uint64) []fault {
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	of := map[string][]fault{}
	for _, f := range all {
		of[f.Kind] = append(of[f.Kind], f)
	}
	out := make([]fault, 0, len(all))
	for turn := 0; len(out) < len(all); turn++ {
		for _, kind := range kinds {
			if turn < len(of[kind]) {
				out = append(out, of[kind][turn])
			}
		}
	}
	return out
}
