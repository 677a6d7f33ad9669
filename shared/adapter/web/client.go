package web

import (
	"context"
	"net/http"
	"net/netip"
)

type (
	addressKey   struct{}
	gatewayIDKey struct{}
)

// GatewayRequestIDField is the log field of the gateway's request id, in the lines of hosts and of
// gateways.
const GatewayRequestIDField = "gateway_request_id"

// WithGatewayRequestID stores the gateway's id of a request, so that its log line and the host's
// can be joined. The host's own id may be the client's, which the gateway does not know.
func WithGatewayRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, gatewayIDKey{}, id)
}

// WithClientAddress stores the address that a request came from. Only the adapter between gateway
// and host sets it: the address that the gateway saw, never the claim of a header.
func WithClientAddress(ctx context.Context, a netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, a)
}

// ClientAddress returns the address that a request came from, the zero value if it is unknown.
// X-Forwarded-For is never read, because clients write it.
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
