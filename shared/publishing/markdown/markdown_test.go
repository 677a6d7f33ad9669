package markdown

import (
	"errors"
	"strings"
	"testing"

	"github.com/yuin/goldmark/parser"

	"vitrine/scripts/testkit/expect"
)

func TestABudgetCoversAllDocumentsOfAPage(t *testing.T) {
	b, p := NewBudget(), New("").Parser()
	parse := func(text string) error {
		_, err := b.Parse(p, []byte(text), parser.NewContext())
		return err
	}
	paragraph := strings.Repeat("*a_ ", 5000) // a hundred million steps
	expect.OK(t, parse("a *b*\n"), parse(paragraph))
	expect.Error(t, parse(paragraph), "reading its marks of emphasis takes more than 200000000 steps")
	expect.Error(t, parse("a\n"), "marks of emphasis") // none is read after that
	b = NewBudget()
	reason := errors.New("it has too many cells")
	b.Refuse(reason)
	if err := parse("a\n"); !errors.Is(err, reason) {
		t.Error(err)
	}
}

func TestItemsWithoutTextCostWhatTheyTakeInMemory(t *testing.T) {
	for text, refused := range map[string]bool{
		strings.Repeat("+\n", 250_000):            true,
		strings.Repeat("- +\n", 250_000):          true,
		strings.Repeat("+\n", 10_000):             false,
		strings.Repeat("- - -\n", 100_000):        false, // a rule
		strings.Repeat("- a\n\n-\n\n", Most/1000): false,
	} {
		_, err := NewBudget().Parse(New("").Parser(), []byte(text), parser.NewContext())
		if (err != nil) != refused {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}
