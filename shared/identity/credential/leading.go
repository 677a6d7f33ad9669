package credential

import (
	"regexp"
	"strings"
)

// Form is the regular expression of a secret of any kind and environment. The last 6 characters are its checksum.
const Form = `ap_(?:[a-z]{2}` + public + `|ct` + public + `\.clm_` + symbol + `{26})_` +
	`[\w-]{21}[AQgw][\w-]{42}[AEIMQUYcgkosw048][0-9A-Za-z]{6}`

const (
	symbol = `[0-9A-HJKMNP-TV-Z]`
	public = `_(?:production|preview)_` + symbol + `{16}`
)

// leading matches a text that begins with the form of a secret. Any text may follow.
var leading = regexp.MustCompile(`^` + Form)

// Leading returns the secret at the beginning of text, of any kind and environment, and its length in bytes. It fails
// with ErrMalformed if there is none. The text after the secret does not matter, because Leading finds secrets in
// files.
func Leading(text []byte) (Token, int, error) {
	secret := string(leading.Find(text))
	if secret == "" {
		return Token{}, 0, ErrMalformed
	}
	parts := strings.SplitN(secret, "_", 4)
	t, err := Parse(secret, Kind(parts[1]), Environment(parts[2]))
	return t, len(secret), err
}
