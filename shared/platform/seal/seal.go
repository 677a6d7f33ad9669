// Package seal encrypts stored texts that the service has to read again, so that a copy of the tables reveals none.
//
// Form: key id (1 byte), nonce (12) and AES-256-GCM of the text. The place of the text is authenticated with it, so
// that a text that is moved to another place does not open.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"

	"vitrine/shared/platform/keyring"
)

// ErrBroken reports that a text cannot be decrypted: it was changed or moved, or its key is gone.
var ErrBroken = errors.New("the sealed text does not open")

// Box encrypts for one use.
type Box struct {
	keys keyring.Derived
}

// New makes a box for a use. Boxes of other uses have other keys.
func New(ring keyring.Ring, use string) (*Box, error) {
	keys, err := ring.Derive(use)
	if err != nil {
		return nil, err
	}
	return &Box{keys: keys}, nil
}

// Seal encrypts a text that belongs to place.
func (b *Box) Seal(text []byte, place string) ([]byte, error) {
	kid, key := b.keys.Active()
	gcm, err := aead(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, gcm.NonceSize())
	rand.Read(nonce)
	return gcm.Seal(append([]byte{kid}, nonce...), nonce, text, []byte(place)), nil
}

// Open decrypts what Seal made for the same place. It fails with ErrBroken for any other input.
func (b *Box) Open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, ErrBroken
	}
	key := b.keys.Key(sealed[0])
	if key == nil {
		return nil, ErrBroken
	}
	gcm, err := aead(key)
	if err != nil || len(sealed) < 1+gcm.NonceSize() {
		return nil, ErrBroken
	}
	nonce, body := sealed[1:1+gcm.NonceSize()], sealed[1+gcm.NonceSize():]
	text, err := gcm.Open(nil, nonce, body, []byte(place))
	if err != nil {
		return nil, ErrBroken
	}
	return text, nil
}

func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
