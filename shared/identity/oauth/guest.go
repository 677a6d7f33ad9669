package oauth

import (
	"cmp"
	"context"
	"net/netip"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
)

// Guest is the rate-limit state of a request at an endpoint that takes secrets from unauthenticated callers.
type Guest struct {
	server  *Server
	from    netip.Addr
	verdict func() error
}

// Receive starts to count a request and to read the recent failures of its address, so that both run concurrently with
// the first read of the request. The handler has to wait for Admitted before its first write and before costly work.
func (s *Server) Receive(ctx context.Context, from netip.Addr) *Guest {
	counted := async.Start(func() error { return s.take(ctx, s.Limits.Guest, from) })
	failures := async.Start(func() error { return s.checkFailures(ctx, from) })
	return &Guest{server: s, from: from, verdict: func() error { return cmp.Or(counted(), failures()) }}
}

// Admitted waits for the decision: slow_down for an address with too many requests or failures.
func (g *Guest) Admitted() error { return g.verdict() }

// Answer returns the error that the client gets for err, and counts it as a failure of the address. A pending
// authorization does not count, and neither does an error that the client did not cause.
func (g *Guest) Answer(ctx context.Context, err error) error {
	if refused := g.Admitted(); refused != nil {
		return refused
	}
	if err == nil {
		return nil
	}
	switch fault.OAuthErrorOf(err).Code {
	case fault.OAuthAuthorizationPending, fault.OAuthServerError, fault.OAuthTemporarilyUnavailable:
		return err
	}
	if limited := g.server.take(ctx, g.server.Limits.TokenFailure, g.from); limited != nil {
		return limited
	}
	return err
}

// checkFailures refuses an address that has used up its failures.
func (s *Server) checkFailures(ctx context.Context, from netip.Addr) error {
	return s.Limiter.Check(ctx, s.Failures, s.Limits.TokenFailure, address.Subject(from, s.Peppers))
}
