package client

import (
	"net/netip"
	"net/url"
	"strings"

	"vitrine/cmd/vitrine/failure"
)

// encrypted refuses to send a key, a token or a file over plain HTTP to another machine, unless the person allows it.
// It accepts malformed addresses, because they are refused elsewhere.
func (c *Caller) encrypted(address string) error {
	if IsProtected(address) || c.PlainHTTP {
		return nil
	}
	return failure.New(failure.Invalid, failure.Unencrypted,
		"%s is another machine, and plain HTTP would let others on the network read keys and files, and answer in its place",
		origin(address)).
		Advise("Use its https address; only on a network that you control: --insecure-http")
}

// IsProtected reports whether what is sent to an address stays on this machine or is encrypted on the way.
func IsProtected(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.Scheme != "http" || isLoopback(u)
}

// isLoopback reports whether an address is by its form one of this machine. Any other name may lead anywhere.
func isLoopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}
