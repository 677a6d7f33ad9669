package policy

import "testing"

func TestAContactIsShownAsPeopleReadIt(t *testing.T) {
	for url, want := range map[string]string{
		"":                                   "",
		"mailto:help@example.com":            "help@example.com",
		"mailto:help@example.com?subject=Hi": "help@example.com",
		"https://example.com/":               "example.com",
		"https://example.com/help?from=page": "example.com/help",
	} {
		if got := (Brand{Contact: url}).ContactText(); got != want {
			t.Errorf("ContactText() of %q = %q, want %q", url, got, want)
		}
	}
}
