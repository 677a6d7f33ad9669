package id

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// Delegation identifies what a person at an identity provider lets agents do. It is the SHA-256 in base64url of the
// person's identity.
type Delegation string

// Term identifies one life of a delegation. A delegation that ended and was made again has another term.
type Term string

// DelegationOf returns the id of the delegation of the person that issuer knows as subject for an audience.
func DelegationOf(issuer, subject, audience string) Delegation {
	sum := sha256.Sum256([]byte(issuer + "\n" + subject + "\n" + audience))
	return Delegation(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// Valid reports whether the id has the form of a delegation id.
func (d Delegation) Valid() bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(d))
	return err == nil && len(raw) == sha256.Size && len(d) == base64.RawURLEncoding.EncodedLen(sha256.Size)
}

// Term returns the term of a generation of the delegation.
func (d Delegation) Term(generation int64) Term {
	return Term(string(d) + "." + strconv.FormatInt(generation, 10))
}
