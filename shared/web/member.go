package web

import (
	"context"

	"vitrine/shared/limits"
)

// Member is a route for members, who come with an access token: one for this host, or for the MCP host if the operation's
// Security is MCPToken. It guards as Guarded does, and never answers later than identity routes may.
func Member[I, O any](op Operation, handle func(context.Context, *Call, *I) (O, error)) Route {
	if op.Security == "" {
		op.Security = Identity
	}
	return guarded(op, func(s *Surface) *door {
		d := &door{authenticate: s.AuthenticateMember, asks: "a live access token", within: limits.IdentityAnswer}
		if op.Security == MCPToken {
			d.authenticate = s.AuthenticateMCP
		}
		return d
	}, handle)
}
