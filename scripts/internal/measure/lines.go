package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxColumns   = 120
	maxFile      = 400
	maxTestFile  = 500
	maxUntested  = 150 // lines of a core package that may have no test file
	maxFunction  = 80
	maxNineInTen = 25 // lines of nine functions in ten
)

// columns counts lines as the linter lll does: a tab is one column, and imports and directives do not count.
func columns(t tree, ofTests bool) figure {
	var found []offender
	lines := 0
	for _, f := range t.kind(ofTests) {
		imports := t.importLines(f)
		for n, line := range f.lines {
			if strings.TrimSpace(line) == "" {
				continue
			}
			lines++
			width := utf8.RuneCountInString(line)
			if width > maxColumns && !imports[n+1] && !strings.HasPrefix(line, "//go:") {
				at := place{file: f.path, line: n + 1}
				found = append(found, offender{place: at, what: fmt.Sprintf("%d columns", width)})
			}
		}
	}
	name, of := "columns", "code"
	if ofTests {
		name, of = "test-columns", "tests"
	}
	return figure{
		name:      name,
		title:     fmt.Sprintf("lines of %s over %d columns", of, maxColumns),
		result:    below(len(found), lines, 0.5),
		offenders: found,
	}
}

// importLines returns the lines of a file's import declarations.
func (t tree) importLines(f file) map[int]bool {
	lines := map[int]bool{}
	for _, d := range f.syntax.Decls {
		if g, isGeneral := d.(*ast.GenDecl); isGeneral && g.Tok == token.IMPORT {
			for n := range t.span(g) {
				lines[t.at(g).line+n] = true
			}
		}
	}
	return lines
}

// files counts those that are too long.
func files(t tree) figure {
	var found []offender
	for _, f := range t.files {
		limit := maxFile
		if f.isTest {
			limit = maxTestFile
		}
		if len(f.lines) > limit {
			what := fmt.Sprintf("%d lines, at most %d", len(f.lines), limit)
			found = append(found, offender{place: place{file: f.path}, what: what})
		}
	}
	return figure{
		name:      "files",
		title:     fmt.Sprintf("files over %d lines, tests over %d", maxFile, maxTestFile),
		result:    atMost(len(found), 0),
		offenders: found,
	}
}

// core are the folders whose packages hold rules and know no transport.
var core = []string{"shared/platform/", "shared/identity/", "shared/publishing/", "shared/entry/"}

// untested counts packages of the core that have no test file.
func untested(t tree) figure {
	lines := map[string]int{}
	for _, f := range t.code() {
		if slices.ContainsFunc(core, func(room string) bool { return strings.HasPrefix(f.path, room) }) {
			lines[f.dir()] += len(f.lines)
		}
	}
	for _, f := range t.kind(true) {
		delete(lines, f.dir())
	}
	var all []sized
	for dir, n := range lines {
		all = append(all, sized{place: place{file: dir}, name: dir, size: n})
	}
	found := larger(all, maxUntested, "lines")
	return figure{
		name:      "untested",
		title:     fmt.Sprintf("core packages over %d lines without a test file", maxUntested),
		result:    atMost(len(found), 0),
		offenders: found,
	}
}

// functions measures the length of functions, signature and closing brace included.
func functions(t tree) figure {
	var all []sized
	for _, f := range t.code() {
		for _, d := range f.syntax.Decls {
			fn, isFunction := d.(*ast.FuncDecl)
			if isFunction && fn.Body != nil {
				all = append(all, sized{place: t.at(fn), name: qualified(fn), size: t.span(fn)})
			}
		}
	}
	p50 := percentile(all, 0.5).size
	p90 := percentile(all, 0.9).size
	longest := percentile(all, 1)
	return figure{
		name:  "functions",
		title: "lines of functions",
		result: result{
			value: fmt.Sprintf("p50 %d, p90 %d, longest %d (%s)", p50, p90, longest.size, longest.name),
			goal:  fmt.Sprintf("p90 <= %d, longest <= %d", maxNineInTen, maxFunction),
			met:   p90 <= maxNineInTen && longest.size <= maxFunction,
		},
		offenders: larger(all, maxNineInTen, "lines"),
	}
}

// qualified returns the name of a function, of a method with its type before it.
func qualified(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiver(fn) + "." + fn.Name.Name
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	at := fn.Recv.List[0].Type
	for {
		switch x := at.(type) {
		case *ast.StarExpr:
			at = x.X
		case *ast.IndexExpr:
			at = x.X
		case *ast.IndexListExpr:
			at = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
