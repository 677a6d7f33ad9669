package client

import (
	"regexp"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
)

// Key is an API key. Printing it hides the secret.
type Key struct{ secret string }

var (
	keyForm        = regexp.MustCompile(`^ap_pk_(preview|production|live)_[0-9A-HJKMNP-TV-Z]{16}_[A-Za-z0-9_-]{32,}$`)
	claimTokenForm = regexp.MustCompile(
		`^ap_ct_(preview|production)_[0-9A-HJKMNP-TV-Z]{16}(\.clm_[0-9A-HJKMNP-TV-Z]{26})?_[A-Za-z0-9_-]{32,}$`)
)

// ParseKey parses an API key. It refuses any other text, because that may be a secret of another service, which must
// not be sent.
func ParseKey(text string) (Key, error) {
	if !keyForm.MatchString(text) {
		return Key{}, failure.New(failure.Auth, fault.InvalidAuth,
			"VITRINE_API_KEY does not hold an API key; it was not sent").
			Advise("An API key begins with ap_pk_. Set a valid one, or unset it and sign in: vitrine login; vitrine publish --ephemeral needs neither.")
	}
	return Key{text}, nil
}

// PublicID returns the part of the key that names it and is no secret.
func (k Key) PublicID() string {
	if parts := strings.SplitN(k.secret, "_", 5); len(parts) == 5 {
		return parts[3]
	}
	return ""
}

// String hides the secret.
func (k Key) String() string { return "[API key]" }

// GoString hides the secret.
func (k Key) GoString() string { return k.String() }
