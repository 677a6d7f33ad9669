package oauth

import (
	"context"
	"net/netip"
	"sync"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
)

// Guest is a request from an address at an endpoint that takes secrets without knowing who sends them.
type Guest struct {
	server  *Server
	from    netip.Addr
	verdict func() error
}

// Receive begins to count a request and to look how often its address failed lately, beside the first read of the
// request. Whoever serves it has to wait for Admitted before the first write, and before work that a stranger could cause.
func (s *Server) Receive(ctx context.Context, from netip.Addr) *Guest {
	g := &Guest{server: s, from: from}
	counted, failures := make(chan error, 1), make(chan error, 1)
	go func() { counted <- s.limit(ctx, "guest", from, s.Limits.Guest) }()
	go func() { failures <- s.failing(ctx, from) }()
	g.verdict = sync.OnceValue(func() error {
		over, failing := <-counted, <-failures
		if over != nil {
			return over
		}
		return failing
	})
	return g
}

// Admitted waits for the verdict: slow_down for an address that came or failed too often.
func (g *Guest) Admitted() error { return g.verdict() }

// Answer is what the guest is told where err came of it, which counts against the address. Waiting for a person is no
// failure, nor is anything that is not the client's fault.
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
	if limited := g.server.limit(ctx, failed, g.from, g.server.Limits.TokenFailure); limited != nil {
		return limited
	}
	return err
}

// failed counts what an address was refused.
const failed = "token"

// failing refuses an address that has used up its failures, before it is served.
func (s *Server) failing(ctx context.Context, from netip.Addr) error {
	wait, err := s.Limiter.Exhausted(ctx, s.Failures, failed, address.Subject(from, s.Peppers), s.Limits.TokenFailure)
	if err == nil && wait > 0 {
		err = tooMany(wait)
	}
	return err
}
