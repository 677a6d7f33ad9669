package main

import (
	"fmt"
	"go/ast"
	"path"
)

const (
	maxMethods    = 40 // exported, of one type
	maxHostFields = 14
	maxInterface  = 5 // methods and embedded interfaces
)

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
	return largestOf("methods", "most exported methods on one type", all, maxMethods, "methods")
}

// interfaces measures the largest interface. Constraints are left out.
func interfaces(t tree) figure {
	var all []sized
	for _, f := range t.code() {
		for _, s := range typeSpecs(f) {
			i, isInterface := s.Type.(*ast.InterfaceType)
			if isInterface && !isConstraint(i) {
				name := path.Base(f.dir()) + "." + s.Name.Name
				all = append(all, sized{place: t.at(s), name: name, size: i.Methods.NumFields()})
			}
		}
	}
	return largestOf("interfaces", "largest interface", all, maxInterface, "methods")
}

// fields counts those of the struct Host of one folder.
func fields(t tree, dir string) figure {
	var all []sized
	for _, f := range t.code() {
		if f.dir() != dir {
			continue
		}
		for _, s := range typeSpecs(f) {
			st, isStruct := s.Type.(*ast.StructType)
			if isStruct && s.Name.Name == "Host" {
				all = append(all, sized{place: t.at(s), name: dir + ".Host", size: st.Fields.NumFields()})
			}
		}
	}
	return largestOf(path.Base(dir)+"-fields", "fields of "+dir+".Host", all, maxHostFields, "fields")
}

// largestOf returns the figure of the largest of some parts. Without any part the goal is not met, because then the
// figure measures the wrong place.
func largestOf(name, title string, all []sized, goal int, unit string) figure {
	most := largest(all)
	fig := figure{
		name:      name,
		title:     title,
		result:    atMost(most.size, goal),
		offenders: larger(all, goal, unit),
	}
	if len(all) == 0 {
		fig.value = "none found"
		fig.met = false
		return fig
	}
	fig.value += fmt.Sprintf(" (%s)", most.name)
	return fig
}

// typeSpecs returns the types that a file declares outside functions.
func typeSpecs(f file) []*ast.TypeSpec {
	var specs []*ast.TypeSpec
	for _, d := range f.syntax.Decls {
		if g, isGeneral := d.(*ast.GenDecl); isGeneral {
			for _, s := range g.Specs {
				if t, isType := s.(*ast.TypeSpec); isType {
					specs = append(specs, t)
				}
			}
		}
	}
	return specs
}

// isConstraint reports whether an interface lists types.
func isConstraint(i *ast.InterfaceType) bool {
	for _, m := range i.Methods.List {
		switch m.Type.(type) {
		case *ast.UnaryExpr, *ast.BinaryExpr:
			return true
		}
	}
	return false
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
