package main

import (
	"fmt"
	"go/ast"
)

const maxMethods = 40 // exported, of one type

// methods measures the type with the most exported methods.
func methods(t tree) figure {
	types := map[string]sized{}
	for _, f := range t.code() {
		for _, d := range f.syntax.Decls {
			fn, isFunction := d.(*ast.FuncDecl)
			if !isFunction || fn.Recv == nil || !fn.Name.IsExported() {
				continue
			}
			name := f.dir() + "." + receiver(fn)
			s := types[name]
			s.file = f.dir()
			s.name = name
			s.size++
			types[name] = s
		}
	}
	var all []sized
	for _, s := range types {
		all = append(all, s)
	}
	most := largest(all)
	return figure{
		name:  "methods",
		title: "most exported methods on one type",
		result: result{
			value: fmt.Sprintf("%d (%s)", most.size, most.name),
			goal:  fmt.Sprintf("<= %d", maxMethods),
			met:   most.size <= maxMethods,
		},
		offenders: larger(all, maxMethods, "methods"),
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
