// Package credential mints, parses and checks bearer secrets, and revokes them.
//
// All kinds have one form: ap_{kind}_{env}_{public id}[.{claim code}]_{tail}. The tail is the workspace id (22
// base64url characters), the secret (43) and a checksum (6 base 62 characters of the CRC-32 of the text before it). The
// workspace id lets one batch fetch credential and workspace. The checksum only catches typing errors.
package credential

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash/crc32"
	"regexp"
	"strings"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

// Kind is the purpose of a bearer secret, so that one kind cannot pass as another.
type Kind string

// The kinds of bearer secrets.
const (
	APIKey            Kind = "pk" // also the access token of an agent
	AccessToken       Kind = "at" // of an OAuth client, for a member
	RefreshToken      Kind = "rt"
	ClaimToken        Kind = "ct"
	ClaimAttempt      Kind = "ca" // opens the page where a person types an agent's code
	DeviceCode        Kind = "dc"
	AuthorizationCode Kind = "ac"
)

// Environment is part of every secret, so that a preview key is refused in production before any lookup.
type Environment string

// The environments.
const (
	Production Environment = "production"
	Preview    Environment = "preview"
)

const (
	workspaceLen = 22
	secretLen    = 43
	checkLen     = 6
	tailLen      = workspaceLen + secretLen + checkLen
	maxLen       = 256
)

// ErrMalformed reports that a text is not a credential of the expected kind and environment.
var ErrMalformed = errors.New("malformed credential")

var heads = regexp.MustCompile(`^ap_([a-z]{2})_(production|preview)_([0-9A-HJKMNP-TV-Z]{16})(?:\.(clm_[0-9A-HJKMNP-TV-Z]{26}))?$`)

// Token is a parsed bearer secret.
type Token struct {
	Kind      Kind
	Public    id.Public
	Workspace id.Workspace
	// ClaimCode is an attribution that a claim token may carry. The hash covers it.
	ClaimCode string

	env    Environment
	secret string
}

// Mint makes a fresh secret.
func Mint(kind Kind, env Environment, workspace id.Workspace, claimCode string) Token {
	var raw [32]byte
	rand.Read(raw[:])
	return Token{
		Kind:      kind,
		Public:    id.NewPublic(),
		Workspace: workspace,
		ClaimCode: claimCode,
		env:       env,
		secret:    encode(raw[:]),
	}
}

// MintAs makes a fresh secret with a given public id, so that it shares the stored item of another secret.
func MintAs(kind Kind, env Environment, workspace id.Workspace, public id.Public) Token {
	t := Mint(kind, env, workspace, "")
	t.Public = public
	return t
}

// Parse reads a bearer text of one kind and environment without any lookup. It fails with ErrMalformed for any other
// text.
func Parse(text string, kind Kind, env Environment) (Token, error) {
	if len(text) > maxLen || len(text) <= tailLen || text[len(text)-tailLen-1] != '_' {
		return Token{}, ErrMalformed
	}
	head, tail := text[:len(text)-tailLen-1], text[len(text)-tailLen:]
	m := heads.FindStringSubmatch(head)
	if m == nil || Kind(m[1]) != kind || Environment(m[2]) != env || (m[4] != "" && kind != ClaimToken) {
		return Token{}, ErrMalformed
	}
	if body := text[:len(text)-checkLen]; checksum(body) != text[len(body):] {
		return Token{}, ErrMalformed
	}
	bits, ok := decode(tail[:workspaceLen], len(id.Bits{}))
	secret := tail[workspaceLen : workspaceLen+secretLen]
	if _, fine := decode(secret, 32); !ok || !fine {
		return Token{}, ErrMalformed
	}
	return Token{
		Kind:      kind,
		Public:    id.Public(m[3]),
		Workspace: id.WorkspaceOf(id.Bits(bits)),
		ClaimCode: m[4],
		env:       env,
		secret:    secret,
	}, nil
}

// Reveal returns the bearer text. It may be shown once and must never be stored or logged.
func (t Token) Reveal() string {
	bits, err := t.Workspace.Bits()
	if err != nil {
		panic("credential: a token was made for a malformed workspace id")
	}
	body := t.head() + "_" + encode(bits[:]) + t.secret
	return body + checksum(body)
}

// String returns the token without its secret.
func (t Token) String() string { return t.head() + "_[secret]" }

func (t Token) head() string {
	head := "ap_" + string(t.Kind) + "_" + string(t.env) + "_" + string(t.Public)
	if t.ClaimCode != "" {
		head += "." + t.ClaimCode
	}
	return head
}

// Hash is the stored form of a secret: HMAC-SHA-256 under a pepper.
type Hash struct {
	Pepper byte // key id
	MAC    []byte
}

// Hash hashes the token under the active pepper.
func (t Token) Hash(peppers keyring.Derived) Hash {
	kid, key := peppers.Active()
	return Hash{Pepper: kid, MAC: t.mac(key)}
}

// Matches reports in constant time whether h is the hash of this token. A hash under a pepper that is gone never
// matches, at the same cost, so that times do not tell unknown credentials from wrong ones.
func (t Token) Matches(h Hash, peppers keyring.Derived) bool {
	key := peppers.Key(h.Pepper)
	if key == nil {
		key = make([]byte, 32)
		h.MAC = nil
	}
	return hmac.Equal(t.mac(key), h.MAC)
}

// HashCode hashes a short code that people type under the active pepper. use and public keep the hashes of equal codes
// apart.
func HashCode(peppers keyring.Derived, use string, public id.Public, code string) Hash {
	kid, key := peppers.Active()
	return Hash{Pepper: kid, MAC: codeMAC(key, use, public, code)}
}

// MatchesCode reports in constant time whether h is the hash of a code.
func MatchesCode(h Hash, peppers keyring.Derived, use string, public id.Public, code string) bool {
	key := peppers.Key(h.Pepper)
	return key != nil && hmac.Equal(codeMAC(key, use, public, code), h.MAC)
}

func codeMAC(key []byte, use string, public id.Public, code string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(strings.Join([]string{"code", use, string(public), code}, "\x00")))
	return m.Sum(nil)
}

func (t Token) mac(key []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(strings.Join([]string{string(t.Kind), string(t.Public), t.ClaimCode, t.secret}, "\x00")))
	return m.Sum(nil)
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, checkLen)
	for i := checkLen - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode reads canonical base64url of exactly n bytes.
func decode(s string, n int) ([]byte, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return b, err == nil && len(b) == n
}
