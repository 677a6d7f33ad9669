// Package token mints and checks the signed tokens that URLs carry instead of a credential.
//
// Layout, big endian, base64url without padding: version and kind (4 bits each), key id (1 byte), expiry in unix
// seconds (4), flags (1), workspace, artifact and revision ids (16 each), public id of the access link (10, only if its
// flag is set), and 16 bytes of HMAC-SHA-256 over label, host and the bytes before. 71 bytes are 95 characters, 81 are
// 108. A token names state and grants no access by itself, so every reader also asks the store.
package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// Kind is the route that a token is for; each kind has its own key.
type Kind byte

// The kinds.
const (
	Content   Kind = 1
	Bundle    Kind = 2
	AgentView Kind = 3
	Export    Kind = 4
)

var uses = map[Kind]string{Content: "content", Bundle: "bundle", AgentView: "agent-view", Export: "export"}

const (
	version   = 1
	bodyLen   = 55
	linkLen   = 10
	macLen    = 16
	plainText = 95  // characters of a token without link
	linkText  = 108 // characters of a token with one
)

const (
	flagNoIndex = 1 << iota
	flagScripts
	flagLink
	flagPublic
)

// ErrInvalid reports that a text is not a live token of the expected kind and host. It does not say why.
var ErrInvalid = errors.New("invalid token")

// Claims are the content of a token.
type Claims struct {
	Expires   time.Time // whole seconds
	Workspace id.Workspace
	Artifact  id.Artifact
	Revision  id.Revision
	Link      id.Public // the access link through which the token was minted; empty: none
	NoIndex   bool      // search engines are asked not to index
	Scripts   bool      // scripts may run in a viewer frame
	Public    bool      // of a bundle's token: minted for the public agent view, and opens as long as that does
}

// Codec mints and checks the tokens of one kind for one host.
type Codec struct {
	kind Kind
	host string
	keys keyring.Derived
}

// New makes a codec. host is the origin where the tokens are used; a token for another host is invalid.
func New(ring keyring.Ring, kind Kind, host string) (*Codec, error) {
	keys, err := ring.Derive(uses[kind])
	if err != nil {
		return nil, err
	}
	return &Codec{kind: kind, host: host, keys: keys}, nil
}

// Mint signs claims. Equal claims give equal tokens, so that a URL stays the same and browsers can revalidate it.
func (c *Codec) Mint(claims Claims) (string, error) {
	kid, key := c.keys.Active()
	b := make([]byte, 0, bodyLen+linkLen+macLen)
	b = append(b, version<<4|byte(c.kind), kid)
	b = binary.BigEndian.AppendUint32(b, uint32(claims.Expires.Unix()))
	b = append(b, claims.flags())
	ws, err1 := claims.Workspace.Bits()
	art, err2 := claims.Artifact.Bits()
	rev, err3 := claims.Revision.Bits()
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	b = append(append(append(b, ws[:]...), art[:]...), rev[:]...)
	if claims.Link != "" {
		link, err := claims.Link.Bits()
		if err != nil {
			return "", err
		}
		b = append(b, link[:]...)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, c.mac(key, b)...)), nil
}

// Formed reports whether a text has the form of a token of any kind, which may be forged or expired.
func Formed(text string) bool {
	if len(text) != plainText && len(text) != linkText {
		return false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// The decoder skips line ends, so a text of the right length may decode to fewer bytes.
	return err == nil && len(b) == base64.RawURLEncoding.DecodedLen(len(text))
}

// Parse checks a token without any lookup. A token has one spelling only.
func (c *Codec) Parse(text string, now time.Time) (Claims, error) {
	if len(text) != plainText && len(text) != linkText {
		return Claims{}, ErrInvalid
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// The decoder skips line ends, so a text of the right length may decode to fewer bytes.
	if err != nil || len(b) != base64.RawURLEncoding.DecodedLen(len(text)) || b[0] != version<<4|byte(c.kind) {
		return Claims{}, ErrInvalid
	}
	body, mac := b[:len(b)-macLen], b[len(b)-macLen:]
	key := c.keys.Key(body[1])
	if key == nil || !hmac.Equal(c.mac(key, body), mac) {
		return Claims{}, ErrInvalid
	}
	claims := read(body)
	if (claims.Link != "") != (len(text) == linkText) || !now.Before(claims.Expires) {
		return Claims{}, ErrInvalid
	}
	return claims, nil
}

func (c Claims) flags() (f byte) {
	if c.NoIndex {
		f |= flagNoIndex
	}
	if c.Scripts {
		f |= flagScripts
	}
	if c.Link != "" {
		f |= flagLink
	}
	if c.Public {
		f |= flagPublic
	}
	return f
}

func read(b []byte) Claims {
	flags := b[6]
	claims := Claims{
		Expires:   time.Unix(int64(binary.BigEndian.Uint32(b[2:])), 0),
		NoIndex:   flags&flagNoIndex != 0,
		Scripts:   flags&flagScripts != 0,
		Public:    flags&flagPublic != 0,
		Workspace: id.WorkspaceOf(id.Bits(b[7:23])),
		Artifact:  id.ArtifactOf(id.Bits(b[23:39])),
		Revision:  id.RevisionOf(id.Bits(b[39:55])),
	}
	if flags&flagLink != 0 && len(b) == bodyLen+linkLen {
		claims.Link = id.PublicOf(id.PublicBits(b[bodyLen:]))
	}
	return claims
}

func (c *Codec) mac(key, body []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("vitrine\x00" + c.host + "\x00"))
	m.Write(body)
	return m.Sum(nil)[:macLen]
}

// Until returns when tokens of an artifact expire: with the artifact, but at most limits.TokenLife ahead. For a pinned
// artifact past its stored expiry it is limits.PinnedTokenLife ahead. Until rounds up to the hour, so that equal
// requests give equal URLs.
func Until(now, expires time.Time, pinned bool) time.Time {
	if pinned && !now.Before(expires) {
		expires = now.Add(limits.PinnedTokenLife)
	}
	if end := now.Add(limits.TokenLife); end.Before(expires) {
		expires = end
	}
	if hour := expires.Truncate(time.Hour); hour.Before(expires) {
		return hour.Add(time.Hour)
	}
	return expires
}
