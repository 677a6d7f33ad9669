package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// product is the name that no third-party program may use.
const product = "vitrine"

// lookalikes are letters of other scripts that look like those of the product's name.
var lookalikes = strings.NewReplacer("ν", "v", "ѵ", "v", "і", "i", "ι", "i", "ı", "i", "т", "t", "τ", "t", "г", "r",
	"п", "n", "ո", "n", "η", "n", "е", "e", "ε", "e")

// NamesProduct reports whether a name has the product's name as a word in any spelling: in capitals, in wide or
// accented letters, spaced out, or among symbols and emoji. A longer word that contains it is another name.
func NamesProduct(name string) bool {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
	words := strings.FieldsFunc(lookalikes.Replace(bare), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return spells(words)
}

// spells reports whether consecutive words join to the product's name.
func spells(words []string) bool {
	for n := range words {
		rest := product
		for _, word := range words[n:] {
			left, ok := strings.CutPrefix(rest, word)
			if !ok {
				break
			}
			if rest = left; rest == "" {
				return true
			}
		}
	}
	return false
}
