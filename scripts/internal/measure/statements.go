package main

import (
	"fmt"
	"go/ast"
)

const (
	minFields   = 4 // of a struct literal that has to have one field a line
	minParallel = 3 // values of an assignment that is too wide
)

// packed counts struct literals with two fields and more a line.
func packed(t tree) figure {
	var found []offender
	literals := 0
	for _, f := range t.code() {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			c, isLiteral := n.(*ast.CompositeLit)
			if !isLiteral || len(c.Elts) < minFields || !isKeyedStruct(c) {
				return true
			}
			literals++
			if lines := t.fieldLines(c); 2*lines <= len(c.Elts) {
				what := fmt.Sprintf("%d fields on %d lines", len(c.Elts), lines)
				found = append(found, offender{place: t.at(c), what: what})
			}
			return true
		})
	}
	return figure{
		name:      "packed",
		title:     "struct literals of 4 fields and more with 2 and more a line",
		result:    below(len(found), literals, 100, 5, " %"),
		offenders: found,
	}
}

// isKeyedStruct reports whether a literal that has elements names fields. The keys of maps and arrays are no bare
// names, but for rare constants.
func isKeyedStruct(c *ast.CompositeLit) bool {
	switch c.Type.(type) {
	case *ast.MapType, *ast.ArrayType:
		return false
	}
	pair, isKeyed := c.Elts[0].(*ast.KeyValueExpr)
	if !isKeyed {
		return false
	}
	_, isName := pair.Key.(*ast.Ident)
	return isName
}

// fieldLines returns how many lines the fields of a literal begin on.
func (t tree) fieldLines(c *ast.CompositeLit) int {
	lines := map[int]bool{}
	for _, e := range c.Elts {
		lines[t.at(e).line] = true
	}
	return len(lines)
}

// assignments counts those of three values and more at once.
func assignments(t tree) figure {
	var found []offender
	for _, f := range t.code() {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			a, isAssignment := n.(*ast.AssignStmt)
			if isAssignment && len(a.Lhs) >= minParallel && len(a.Rhs) >= minParallel {
				found = append(found, offender{place: t.at(a), what: fmt.Sprintf("%d values", len(a.Rhs))})
			}
			return true
		})
	}
	return figure{
		name:      "assignments",
		title:     "assignments of 3 values and more at once",
		result:    atMost(len(found), 0),
		offenders: found,
	}
}
