package text

import "testing"

func TestNoProgramOfOthersHasTheNameOfTheProduct(t *testing.T) {
	for _, name := range []string{
		"Vitrine", "VITRINE CLI", "🔒 Verified: Vitrine", "Vitrine-Desktop", "ｖｉｔｒｉｎｅ", "𝐕itrine", "V i t r i n e",
		"Vit\u200brine",
		"vit rine login", "Vítrine", "Vіtrinе", "my.vitrine.app",
	} {
		if !NamesProduct(name) {
			t.Errorf("%q is let through", name)
		}
	}
	for _, name := range []string{"", "Claude Code", "Vitrinebau Meier", "Vit", "rine Vit", "Codex"} {
		if NamesProduct(name) {
			t.Errorf("%q is refused", name)
		}
	}
}
