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

// NamesProduct reports whether a name has the product's name, or that of a deployment, as a word in any spelling: in
// capitals, in wide or accented letters, spaced out, or among symbols and emoji. A longer word that contains it is
// another name. deployment may be empty.
func NamesProduct(name, deployment string) bool {
	words := wordsOf(name)
	return spells(words, product) || spells(words, strings.Join(wordsOf(deployment), ""))
}

// WithoutServer returns a name without the brackets at its end if they name the product or a deployment. Programs write
// there what they call the server that they register with: "Robot (vitrine)".
func WithoutServer(name, deployment string) string {
	if at := strings.LastIndex(name, " ("); at > 0 && strings.HasSuffix(name, ")") && NamesProduct(name[at:], deployment) {
		return strings.TrimRight(name[:at], " ")
	}
	return name
}

// wordsOf returns the words of a name without accents, in lower case and in Latin letters where others look like them.
func wordsOf(name string) []string {
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(name))
	return strings.FieldsFunc(lookalikes.Replace(bare), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// spells reports whether consecutive words join to a whole name; never to an empty one.
func spells(words []string, whole string) bool {
	for n := range words {
		rest := whole
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
