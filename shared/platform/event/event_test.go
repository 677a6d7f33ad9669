package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"vitrine/scripts/testkit/expect"
)

// actions are the words of every action, read from the source: constants cannot be listed otherwise.
func actions(t *testing.T) (words []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	expect.OK(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if named, ok := spec.Type.(*ast.Ident); ok && named.Name == "Action" {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			expect.OK(t, err)
			words = append(words, word)
		}
		return false
	})
	return words
}

func TestEveryActionIsSaidInWords(t *testing.T) {
	all := actions(t)
	if len(all) < 25 {
		t.Fatalf("only %d actions were found", len(all))
	}
	for _, word := range all {
		if Summaries[Action(word)] == "" {
			t.Errorf("%s has no words for people", word)
		}
	}
}
