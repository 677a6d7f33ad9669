package credential

import "regexp"

// leading matches a text that begins with the form of a secret. Any text may follow.
var leading = regexp.MustCompile(`^ap_([a-z]{2})_(production|preview)_[0-9A-HJKMNP-TV-Z]{16}` +
	`(?:\.clm_[0-9A-HJKMNP-TV-Z]{26})?_[A-Za-z0-9_-]{71}`)

// Leading returns the secret at the beginning of text, of any kind and environment, and its length in bytes. It fails
// with ErrMalformed if there is none. The text after the secret does not matter, because Leading finds secrets in
// files.
func Leading(text []byte) (Token, int, error) {
	m := leading.FindSubmatch(text)
	if m == nil {
		return Token{}, 0, ErrMalformed
	}
	t, err := Parse(string(m[0]), Kind(m[1]), Environment(m[2]))
	return t, len(m[0]), err
}
