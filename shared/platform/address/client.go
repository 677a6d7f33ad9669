package address

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"

	"vitrine/shared/platform/keyring"
)

// Subject names the client at an address for counters, which must not tell who came. IPv6 clients own whole /64 networks;
// all whose address is unknown are one.
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

// Network is the part of an address that a person may see: enough to recognise their own.
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
