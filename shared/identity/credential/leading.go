package credential

import "regexp"

// leading matches a text that begins as secrets do; any text may follow.
var leading = regexp.MustCompile(`^ap_([a-z]{2})_(production|preview)_[0-9A-HJKMNP-TV-Z]{16}` +
	`(?:\.clm_[0-9A-HJKMNP-TV-Z]{26})?_[A-Za-z0-9_-]{71}`)

// Leading returns the secret of any kind and environment that text begins with, and how many bytes it takes;
// ErrMalformed if text begins with none. It finds secrets in files, so what follows the secret does not matter.
func Leading(text []byte) (Token, int, error) {
	m := leading.FindSubmatch(text)
	if m == nil {
		return Token{}, 0, ErrMalformed
	}
	t, err := Parse(string(m[0]), Kind(m[1]), Environment(m[2]))
	return t, len(m[0]), err
}
