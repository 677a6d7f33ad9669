package id

import "crypto/sha256"

// RegistrationOf returns the id of the registration whose claim token has a public id, so that one
// batch reads both. Its first 80 bits are that id, the rest is a digest of it.
func RegistrationOf(claim Public) Registration {
	public, err := claim.Bits()
	if err != nil {
		panic("id: a registration was made for a malformed public id")
	}
	sum := sha256.Sum256([]byte("registration\x00" + string(claim)))
	b := Bits(sum[:len(Bits{})])
	copy(b[:], public[:])
	return Registration("reg_" + encode128(b))
}
