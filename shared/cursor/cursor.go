// Package cursor seals places in lists for clients, so that they can neither read, forge nor carry them elsewhere.
//
// Form: "v1." and base64url of key id (1 byte), nonce (12) and AES-256-GCM of expiry, creation and id; the list and the
// workspace are authenticated with it. Partitions of the store are never taken from a cursor.
package cursor

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"vitrine/shared/artifact"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
)

const prefix = "v1."

// Codec implements artifact.Cursors.
type Codec struct {
	keys keyring.Derived
}

// New makes a codec.
func New(seal keyring.Ring) (*Codec, error) {
	keys, err := seal.Derive("cursor")
	if err != nil {
		return nil, err
	}
	return &Codec{keys: keys}, nil
}

// Seal implements artifact.Cursors.
func (c *Codec) Seal(w id.Workspace, list string, p artifact.Position, now time.Time) (string, error) {
	kid, key := c.keys.Active()
	box, err := aead(key)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, box.NonceSize())
	rand.Read(nonce)
	plain := binary.BigEndian.AppendUint64(nil, uint64(now.Add(limits.CursorLife).UnixMilli()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(p.CreatedAt.UnixMilli()))
	plain = append(plain, p.ID...)
	sealed := box.Seal(append([]byte{kid}, nonce...), nonce, plain, bound(w, list))
	return prefix + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Open implements artifact.Cursors.
func (c *Codec) Open(w id.Workspace, list, text string, now time.Time) (artifact.Position, error) {
	body, ok := strings.CutPrefix(text, prefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if !ok || err != nil || len(text) > limits.CursorLength || len(raw) == 0 {
		return artifact.Position{}, invalid()
	}
	key := c.keys.Key(raw[0])
	if key == nil {
		return artifact.Position{}, invalid()
	}
	box, err := aead(key)
	if err != nil || len(raw) < 1+box.NonceSize() {
		return artifact.Position{}, invalid()
	}
	nonce, sealed := raw[1:1+box.NonceSize()], raw[1+box.NonceSize():]
	plain, err := box.Open(nil, nonce, sealed, bound(w, list))
	if err != nil || len(plain) < 16 {
		return artifact.Position{}, invalid()
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))
	if !now.Before(expires) {
		return artifact.Position{}, invalid()
	}
	return artifact.Position{CreatedAt: time.UnixMilli(int64(binary.BigEndian.Uint64(plain[8:]))).UTC(), ID: id.Artifact(plain[16:])}, nil
}

func bound(w id.Workspace, list string) []byte { return []byte(string(w) + "\x00" + list) }

func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func invalid() error {
	return fault.New(fault.InvalidCursor, "this cursor is not valid here or is older than a day; start again without cursor")
}
