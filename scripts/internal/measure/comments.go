package main

import (
	"go/ast"
	"strings"
)

// vague are pronouns that hide who acts in a sentence. They count within longer words too ("whomever").
var vague = []string{"whoever", "whatever", "nobody", "somebody", "anybody", "whom", "nothing"}

// words counts vague pronouns in comments.
func words(t tree) figure {
	var found []offender
	lines := 0
	for _, f := range t.code() {
		for _, group := range f.syntax.Comments {
			lines += strings.Count(group.Text(), "\n")
			for _, c := range group.List {
				found = append(found, vagueWords(t, c)...)
			}
		}
	}
	return figure{
		name:      "words",
		title:     "vague pronouns per 1,000 lines of comment",
		result:    below(len(found), lines, 1000, 10, ""),
		offenders: found,
	}
}

// vagueWords returns an offender for each vague pronoun of a comment.
func vagueWords(t tree, c *ast.Comment) []offender {
	var found []offender
	first := t.at(c)
	for n, line := range strings.Split(c.Text, "\n") {
		for _, word := range vague {
			for range strings.Count(strings.ToLower(line), word) {
				at := place{file: first.file, line: first.line + n}
				found = append(found, offender{place: at, what: word + ": " + strings.TrimSpace(line)})
			}
		}
	}
	return found
}

// undocumented counts exported types and functions without a comment.
func undocumented(t tree) figure {
	var found []offender
	exported := 0
	for _, f := range t.code() {
		for _, d := range f.syntax.Decls {
			for name, documented := range declared(d) {
				if !name.IsExported() {
					continue
				}
				exported++
				if !documented {
					found = append(found, offender{place: t.at(name), what: name.Name})
				}
			}
		}
	}
	return figure{
		name:      "undocumented",
		title:     "exported types and functions without a comment",
		result:    below(len(found), exported, 100, 5, " %"),
		offenders: found,
	}
}

// declared yields the types and functions that a declaration makes, and whether each has a comment.
func declared(d ast.Decl) func(yield func(*ast.Ident, bool) bool) {
	return func(yield func(*ast.Ident, bool) bool) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			yield(d.Name, d.Doc != nil)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s, isType := spec.(*ast.TypeSpec)
				if isType && !yield(s.Name, d.Doc != nil || s.Doc != nil || s.Comment != nil) {
					return
				}
			}
		}
	}
}
