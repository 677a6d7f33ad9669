package id

import "crypto/sha256"

// RegistrationOf returns the id of the registration whose claim token has a public id. Its first 80 bits are the public
// id and the others a digest of it, so that one batch reads token and registration.
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
