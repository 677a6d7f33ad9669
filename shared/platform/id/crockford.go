package id

import (
	"crypto/rand"
	"strings"
)

// alphabet is Crockford's base 32 in upper case, which has no I, L, O or U.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	bodyLen   = 26 // 128 bits, the first character below 8
	publicLen = 16 // 80 bits
)

// PublicBits is the packed form of a Public id.
type PublicBits [10]byte

// NewPublic returns 80 random bits as a Public id.
func NewPublic() Public {
	var b PublicBits
	rand.Read(b[:])
	return PublicOf(b)
}

// PublicOf returns the Public id with the given bits.
func PublicOf(b PublicBits) Public { return Public(encode(b[:], publicLen)) }

// Bits packs the id. It fails with ErrMalformed if the id is not 16 Crockford characters.
func (p Public) Bits() (b PublicBits, err error) {
	if len(p) != publicLen || !decode(string(p), b[:]) {
		return b, ErrMalformed
	}
	return b, nil
}

func encode128(b Bits) string { return encode(b[:], bodyLen) }

func decode128(s string) (b Bits, err error) {
	// 26 characters hold 130 bits, so only a first character below 8 stays within 128.
	if len(s) != bodyLen || s[0] > '7' || !decode(s, b[:]) {
		return b, ErrMalformed
	}
	return b, nil
}

// encode returns b as n characters of five bits each, right-aligned.
func encode(b []byte, n int) string {
	out := make([]byte, n)
	var acc uint32
	bits := 0
	for i, src := n-1, len(b)-1; i >= 0; i-- {
		if bits < 5 && src >= 0 {
			acc |= uint32(b[src]) << bits
			bits += 8
			src--
		}
		out[i] = alphabet[acc&31]
		acc >>= 5
		bits -= 5
	}
	return string(out)
}

// decode fills b from s, right-aligned. It returns false for a character outside the alphabet.
func decode(s string, b []byte) bool {
	var acc uint32
	bits, dst := 0, len(b)-1
	for i := len(s) - 1; i >= 0; i-- {
		v := strings.IndexByte(alphabet, s[i])
		if v < 0 {
			return false
		}
		acc |= uint32(v) << bits
		bits += 5
		if bits >= 8 && dst >= 0 {
			b[dst] = byte(acc)
			acc >>= 8
			bits -= 8
			dst--
		}
	}
	return true
}
