package main

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// A comment names something in Go's way between backquotes, with a package before it, or in mixed case.
var (
	quotedName    = regexp.MustCompile("`([A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*)*)(?:\\(\\))?`")
	qualifiedName = regexp.MustCompile(`(?:^|[\s("'\[])([a-z][a-z0-9]*\.[A-Z][A-Za-z0-9]*)`)
	mixedName     = regexp.MustCompile(`(?:^|[\s("'\[*])([a-z]+[a-z0-9]*[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)`)
	wordOfText    = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// proper are names of products, formats and people that are written in mixed case.
var proper = map[string]bool{
	"CommonMark": true,
	"DevTools":   true,
	"GitHub":     true,
	"KiB":        true,
	"MathML":     true,
	"SigV4":      true,
	"TeX":        true,
	"W3C":        true,
}

// deadNames counts what comments name and the tree does not have.
func deadNames(t tree) figure {
	k := knownNames(t)
	var found []offender
	for _, f := range t.files {
		for _, group := range f.syntax.Comments {
			for _, c := range group.List {
				for n, line := range strings.Split(c.Text, "\n") {
					for _, name := range k.dead(line) {
						at := place{file: f.path, line: t.at(c).line + n}
						found = append(found, offender{place: at, what: name})
					}
				}
			}
		}
	}
	return figure{
		name:      "dead-names",
		title:     "names in comments that resolve to nothing",
		result:    atMost(len(found), 0),
		offenders: found,
	}
}

// known is what names in comments may refer to.
type known struct {
	words    map[string]bool            // in code and in texts of it
	packages map[string]map[string]bool // of the tree, with what each declares
	imported map[string]bool            // packages of others
}

func knownNames(t tree) known {
	k := known{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}}
	dirs := map[string]bool{}
	for _, f := range t.files {
		dirs[f.dir()] = true
	}
	for _, f := range t.files {
		pkg := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		if k.packages[pkg] == nil {
			k.packages[pkg] = map[string]bool{}
		}
		for _, d := range f.syntax.Decls {
			k.declare(k.packages[pkg], d)
		}
		for _, i := range f.syntax.Imports {
			of := strings.Trim(i.Path.Value, `"`)
			if _, below, _ := strings.Cut(of, "/"); !dirs[below] {
				k.imported[path.Base(of)] = true
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CommentGroup:
				return false
			case *ast.Ident:
				k.words[n.Name] = true
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					for _, w := range wordOfText.FindAllString(n.Value, -1) {
						k.words[w] = true
					}
				}
			}
			return true
		})
	}
	return k
}

// declare adds what a declaration of a package makes, methods and fields too.
func (k known) declare(names map[string]bool, d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
			return false
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.Field:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
			return false
		}
		return true
	})
}

// dead returns the names of a line of a comment that nothing has.
func (k known) dead(line string) []string {
	var names []string
	for _, shape := range []*regexp.Regexp{quotedName, qualifiedName, mixedName} {
		for _, m := range shape.FindAllStringSubmatch(line, -1) {
			if !k.resolves(m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

func (k known) resolves(name string) bool {
	first, rest, qualified := strings.Cut(name, ".")
	if !qualified {
		return k.words[name] || proper[name]
	}
	next, _, _ := strings.Cut(rest, ".")
	if own := k.packages[first]; own != nil && !k.imported[first] {
		return own[next]
	}
	return k.imported[first] || k.words[first] && k.words[next]
}
