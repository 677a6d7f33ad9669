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

// GatewayRequestIDField is what the gateway's id of a request is called, in the log lines of hosts and of gateways.
const GatewayRequestIDField = "gateway_request_id"

// WithGatewayRequestID says what the gateway calls a request, so that its log line and the host's can be joined. The
// host's own id may be the client's, which the gateway does not know.
func WithGatewayRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, gatewayIDKey{}, id)
}

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
