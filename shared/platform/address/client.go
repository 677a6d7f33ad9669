package address

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"

	"vitrine/shared/platform/keyring"
)

// Subject returns the counter subject of a client address. It is a digest, because counters must not reveal addresses.
// IPv6 addresses are cut to their /64, because a client owns all of it. All unknown addresses share one subject.
func Subject(from netip.Addr, peppers keyring.Derived) string {
	if from = from.Unmap(); from.Is6() {
		prefix, _ := from.Prefix(64)
		from = prefix.Addr()
	}
	_, key := peppers.Active()
	m := hmac.New(sha256.New, key)
	m.Write([]byte("address\x00" + from.String()))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:12])
}

// Network returns the part of an address that is shown to people, which is enough to recognise their own network.
func Network(from netip.Addr) string {
	if !from.IsValid() {
		return "unknown"
	}
	from = from.Unmap().WithZone("")
	bits := 24
	if from.Is6() {
		bits = 48
	}
	prefix, _ := from.Prefix(bits)
	return prefix.String()
}
