package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"unicode"
)

const (
	maxReceivers = 20
	stores       = "shared/adapter/dynamo" // whose receivers are s, a store
)

// receivers counts types with a receiver that is not named after them.
func receivers(t tree) figure {
	type owner struct{ dir, name string }
	types := map[owner]bool{}
	var found []offender
	for _, f := range t.files {
		for _, d := range f.syntax.Decls {
			fn, isFunction := d.(*ast.FuncDecl)
			if !isFunction || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
				continue
			}
			of, name := receiver(fn), fn.Recv.List[0].Names[0].Name
			if name == "_" || f.dir() == stores && name == "s" || abbreviates(name, of) {
				continue
			}
			types[owner{f.dir(), of}] = true
			found = append(found, offender{place: t.at(fn), what: fmt.Sprintf("%s %s", name, of)})
		}
	}
	return figure{
		name:      "receivers",
		title:     "types with a receiver that is not named after them",
		result:    atMost(len(types), maxReceivers),
		offenders: found,
	}
}

// abbreviates reports whether a receiver is a letter that begins a word of its type, a word of it, or how it begins.
func abbreviates(name, of string) bool {
	words := camelWords(of)
	if len(name) == 1 {
		return slices.ContainsFunc(words, func(w string) bool { return w[:1] == name })
	}
	name = strings.ToLower(name)
	return slices.Contains(words, name) || strings.HasPrefix(strings.ToLower(of), name)
}

// camelWords returns the words of a name in lower case: "api" and "key" of APIKey.
func camelWords(name string) []string {
	var words []string
	start := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		ends := i == len(runes)
		if !ends && unicode.IsUpper(runes[i]) {
			ends = !unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
		}
		if ends {
			words = append(words, strings.ToLower(string(runes[start:i])))
			start = i
		}
	}
	return words
}
