package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// tree is the Go source under one folder, parsed.
type tree struct {
	fset  *token.FileSet
	files []file
}

type file struct {
	path   string // from the root of the tree, with slashes
	isTest bool
	lines  []string
	syntax *ast.File
}

// dir returns the folder of the file's package.
func (f file) dir() string { return path.Dir(f.path) }

// skipped are folders whose source is not ours or is input of tests. Folders that begin with a dot are skipped too.
var skipped = []string{"vendor", "node_modules", "testdata", "third_party", "cdk.out", "dist"}

// readTree parses all Go files of a folder except generated ones.
func readTree(root fs.FS) (tree, error) {
	t := tree{fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(skipped, d.Name()) || name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.add(root, name)
	})
	return t, err
}

func (t *tree) add(root fs.FS, name string) error {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(syntax) {
		return nil
	}
	t.files = append(t.files, file{
		path:   name,
		isTest: strings.HasSuffix(name, "_test.go"),
		lines:  strings.Split(strings.TrimSuffix(string(source), "\n"), "\n"),
		syntax: syntax,
	})
	return nil
}

// code returns the files that are no tests.
func (t tree) code() []file { return t.kind(false) }

// kind returns either the test files or all others.
func (t tree) kind(isTest bool) []file {
	var files []file
	for _, f := range t.files {
		if f.isTest == isTest {
			files = append(files, f)
		}
	}
	return files
}

// at returns the place of a node.
func (t tree) at(n ast.Node) place {
	p := t.fset.Position(n.Pos())
	return place{file: p.Filename, line: p.Line}
}

// span returns how many lines a node covers.
func (t tree) span(n ast.Node) int {
	return t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
}
