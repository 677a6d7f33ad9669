package account

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/event"
)

// actions are the words of every action, read from the source: constants cannot be listed otherwise.
func actions(t *testing.T) (words []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../platform/event/event.go", nil, 0)
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
		if summaries[event.Action(word)] == "" {
			t.Errorf("%s has no words for people", word)
		}
	}
}

func TestMembersAreNotToldOfReports(t *testing.T) {
	for _, hidden := range []event.Action{event.ArtifactReported, event.LockdownSet, event.LockdownLifted} {
		if slices.Contains(told, hidden) {
			t.Errorf("%s is told", hidden)
		}
	}
}

func TestAnActionOfANewerVersionIsNamed(t *testing.T) {
	if got := AuditRow(event.Event{Action: "artifact.framed", Detail: "gold"}).ChangeSummary; got != "artifact.framed: gold" {
		t.Errorf("%q", got)
	}
}
