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

// GatewayRequestIDField is the log field for the gateway's request ID, in the log lines of both hosts and gateways.
const GatewayRequestIDField = "gateway_request_id"

// WithGatewayRequestID stores the gateway's ID of a request in the context. It connects the log lines of gateway and
// host. The host's own ID does not, because the client may have chosen it and the gateway does not know it.
func WithGatewayRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, gatewayIDKey{}, id)
}

// WithClientAddress stores the address that a request came from. Only the adapter between gateway and host calls it,
// with the address that the gateway saw and not one that a header claims.
func WithClientAddress(ctx context.Context, a netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, a)
}

// ClientAddress returns the address that a request came from, or the zero value if it is unknown. It never reads
// X-Forwarded-For, because clients write that header.
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
