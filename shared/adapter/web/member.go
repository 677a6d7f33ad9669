package web

import (
	"context"

	"vitrine/shared/entry/access"
	"vitrine/shared/platform/limits"
)

// Member returns a route for members. They authenticate with an access token for this host or, if the operation's
// Security is MCPToken, for the MCP host. It checks what Guarded does, within the time limit of identity routes.
func Member[I, O any](op Operation, handle func(context.Context, *Request, *I) (O, error)) Route {
	if op.Security == "" {
		op.Security = Identity
	}
	return guarded(op, func(s *Server) *authScheme {
		d := &authScheme{authenticate: s.AuthenticateMember, asks: "a live access token", timeout: limits.IdentityAnswer}
		if op.Security == MCPToken {
			d.authenticate = s.AuthenticateMCP
		}
		return d
	}, handle)
}

// Operator returns a route for operators: members who signed in recently and whose ID token marks them as operators.
// All other callers get the answer of an unknown path. Otherwise it is like Member.
func Operator[I, O any](op Operation, handle func(context.Context, *Request, *I) (O, error)) Route {
	op.Security = Identity
	return guarded(op, func(s *Server) *authScheme {
		return &authScheme{
			authenticate: func(ctx context.Context, bearer string, w access.Request,
				requestID string) (access.Authenticated, error) {
				opened, err := s.AuthenticateMember(ctx, bearer, w, requestID)
				if err == nil {
					err = opened.Actor.Operates(s.Now())
				}
				return opened, err
			},
			hidden: true, timeout: limits.IdentityAnswer,
		}
	}, handle)
}
