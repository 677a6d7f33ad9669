package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
)

// Next returns the secret that follows t. It is the same at every call, and cannot be computed without both t and the
// key. It shares t's public id and workspace.
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
