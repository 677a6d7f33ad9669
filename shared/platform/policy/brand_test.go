package policy

import (
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestAContactIsShownAsPeopleReadIt(t *testing.T) {
	expect.Results(t, func(url string) string { return (Brand{Contact: url}).ContactText() }, map[string]string{
		"":                                   "",
		"mailto:help@example.com":            "help@example.com",
		"mailto:help@example.com?subject=Hi": "help@example.com",
		"https://example.com/":               "example.com",
		"https://example.com/help?from=page": "example.com/help",
	})
}
