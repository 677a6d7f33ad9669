package fetch

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"slices"
)

// maxDials is how many addresses of one host are tried in turn.
const maxDials = 2

// domainName matches names of at least two labels. The last label begins with a letter, because resolvers read
// 0x7f000001 and 127.1 as addresses.
var domainName = regexp.MustCompile(`(?i)^([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*$`)

// dialPublic resolves a host once and connects to one of the addresses that it checked. That makes DNS rebinding
// useless: a name may resolve differently the next time, but there is none.
func (c *Client) dialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errURL
	}
	found, err := c.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, a := range found[:min(len(found), maxDials)] {
		conn, err := c.Dial(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// lookup returns the addresses of a host, IPv4 first. It fails if any of them is not public, because a host that also
// has a private address is not to be trusted at all.
func (c *Client) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	var found []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		found = append(found, a)
	} else if !domainName.MatchString(host) {
		return nil, errName
	} else if found, err = c.Resolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errName
	}
	out := make([]netip.Addr, len(found))
	for n, a := range found {
		if !public(a) {
			return nil, errInner
		}
		out[n] = a.Unmap()
	}
	slices.SortStableFunc(out, func(a, b netip.Addr) int { return cmp.Compare(a.BitLen(), b.BitLen()) })
	return out, nil
}

var (
	global6 = netip.MustParsePrefix("2000::/3")
	// nat64 embeds an IPv4 address in its last four bytes (RFC 6052).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// special are the prefixes of the IANA special-purpose registries that do not lead to one public host.
	special = prefixes(
		"0.0.0.0/8",       // this network
		"10.0.0.0/8",      // private
		"100.64.0.0/10",   // shared by carriers
		"127.0.0.0/8",     // loopback
		"169.254.0.0/16",  // link-local, metadata of instances
		"172.16.0.0/12",   // private
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.88.99.0/24",  // relays of 6to4
		"192.168.0.0/16",  // private
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/4",     // multicast
		"240.0.0.0/4",     // reserved, broadcast
		"2001::/23",       // protocol assignments; Teredo, which embeds IPv4 addresses
		"2001:db8::/32",   // documentation
		"2002::/16",       // 6to4, which embeds IPv4 addresses
		"3fff::/20",       // documentation
	)
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// public reports whether a is a unicast address that the whole Internet can reach. It judges an IPv4 address embedded
// in IPv6 as itself. It refuses obsolete transition prefixes.
func public(a netip.Addr) bool {
	a = a.Unmap()
	switch {
	case !a.IsValid() || a.Zone() != "":
		return false
	case nat64.Contains(a):
		b := a.As16()
		return public(netip.AddrFrom4([4]byte(b[12:])))
	case a.Is6() && !global6.Contains(a):
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}
