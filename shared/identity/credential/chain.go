package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// Next derives the secret of a kind that follows t. The result is the same at every call, and cannot be computed
// without both t and key. It shares the public id and the workspace of t.
func (t Token) Next(kind Kind, key []byte) Token {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(strings.Join([]string{"next", string(kind), string(t.Kind), string(t.Public), t.secret}, "\x00")))
	return Token{
		Kind:      kind,
		Public:    t.Public,
		Workspace: t.Workspace,
		env:       t.env,
		secret:    encode(m.Sum(nil)),
	}
}
