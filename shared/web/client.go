package web

import (
	"context"
	"net/http"
	"net/netip"
)

type addressKey struct{}

// WithClientAddress says from where a request came. Only the adapter that stands between gateway and host knows: what
// the gateway saw, never what a header claims.
func WithClientAddress(ctx context.Context, a netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, a)
}

// ClientAddress is from where a request came, the zero value when nobody knows. X-Forwarded-For is never read, because
// clients write it.
func ClientAddress(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(addressKey{}).(netip.Addr); ok {
		return a.Unmap().WithZone("")
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}
