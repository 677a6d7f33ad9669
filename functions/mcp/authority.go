package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
)

// screen refuses, before the body is read, a request whose credential cannot be a token of this host.
func (h *Host) screen(r *http.Request) *transport.Failure {
	_, f := h.bearer(r)
	return f
}

// bearer returns the credential of a request.
func (h *Host) bearer(r *http.Request) (string, *transport.Failure) {
	sent := r.Header.Values("Authorization")
	switch {
	case len(sent) == 0:
		return "", h.unauthorized("", "this host takes OAuth access tokens only; sign in as the resource metadata says")
	case len(sent) > 1 || strings.Contains(sent[0], ","):
		return "", h.unauthorized(invalidToken, "send exactly one header Authorization: Bearer <token>")
	}
	scheme, token, _ := strings.Cut(sent[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t") {
		return "", h.unauthorized(invalidToken, "send the header Authorization: Bearer <token>")
	}
	if foreign(token) {
		return "", h.unauthorized(invalidToken,
			"API keys and browser sessions are not accepted here; connect by OAuth, which the resource metadata describes")
	}
	return token, nil
}

// foreign reports whether a credential has the form of one that this host never accepts.
func foreign(token string) bool {
	return strings.HasPrefix(token, "ap_pk_") || strings.HasPrefix(token, "wos_") || strings.Contains(token, "workos_session")
}

const invalidToken = "invalid_token"

// unauthorized returns the refusal of a request without a live token. reason must be empty if the client sent no
// credential, because the challenge then names no error (RFC 6750, section 3.1).
func (h *Host) unauthorized(reason, message string) *transport.Failure {
	return &transport.Failure{
		Status:    http.StatusUnauthorized,
		Code:      transport.CodeServer,
		Reason:    invalidToken,
		Message:   message,
		Challenge: h.challenge(reason, credential.Delegable()),
	}
}

// lacking returns the refusal of a call whose token lacks a scope.
func (h *Host) lacking(needed []credential.Scope) *transport.Failure {
	return &transport.Failure{
		Status: http.StatusForbidden,
		Code:   transport.CodeServer,
		Reason: "insufficient_scope",
		Message: fmt.Sprintf("the call needs the scopes %s; connect again and allow them",
			strings.Join(credential.ScopeStrings(needed), " and ")),
		Challenge: h.challenge("insufficient_scope", needed),
	}
}

// challenge returns the value of WWW-Authenticate (RFC 6750 and RFC 9728). An empty reason names no error.
func (h *Host) challenge(reason string, scopes []credential.Scope) string {
	out := fmt.Sprintf("Bearer realm=%q", hostOf(h.Origins.MCP))
	if reason != "" {
		out += fmt.Sprintf(", error=%q", reason)
	}
	return out + fmt.Sprintf(", scope=%q, resource_metadata=%q",
		strings.Join(credential.ScopeStrings(scopes), " "), h.Origins.MCP+resourcePath)
}

func hostOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return origin
	}
	return u.Host
}

// authorize authenticates the member whose client sent a message, reads what its tool is about in the same step, and
// starts to count the call.
func (h *Host) authorize(tools toolset) func(*http.Request, transport.Message) (context.Context, *transport.Failure) {
	return func(r *http.Request, m transport.Message) (context.Context, *transport.Failure) {
		ctx := r.Context()
		bearer, f := h.bearer(r)
		if f != nil {
			return ctx, f
		}
		called := cmp.Or(tools.invoked(m), resourceRead(m))
		wants := access.Request{}
		if called != nil {
			wants = called.wants
		}
		authenticate := func(ctx context.Context) (access.Authenticated, error) {
			return h.Members.Authenticate(ctx, bearer, wants, web.RequestID(ctx))
		}
		found, err := authenticate(ctx)
		if err != nil {
			return ctx, h.refused(err)
		}
		web.Annotate(ctx,
			slog.String("workspace", string(found.Actor.Workspace.ID)), slog.String("member", string(found.Actor.Member)))
		if !m.Call() {
			return ctx, nil
		}
		web.Annotate(ctx, slog.String("rpc", methodOf(m)))
		if called == nil {
			return withCall(ctx, h.begin(ctx, found, invocation{}, false)), nil
		}
		web.Annotate(ctx, slog.String("tool", called.name))
		if !holds(found.Actor, called.scopes) {
			return ctx, h.lacking(called.scopes)
		}
		c := h.begin(ctx, found, *called, true)
		c.again = authenticate
		return withCall(ctx, c), nil
	}
}

// methodOf returns the name of a method for the log. It replaces unknown ones, because clients must not write to the
// log.
func methodOf(m transport.Message) string {
	if slices.Contains(methods, m.Method) {
		return m.Method
	}
	return "other"
}

func holds(a credential.Actor, needed []credential.Scope) bool {
	for _, s := range needed {
		if a.Require(s) != nil {
			return false
		}
	}
	return true
}

// refused converts the error of a token that was checked.
func (h *Host) refused(err error) *transport.Failure {
	if fault.CodeOf(err) == fault.NotAuthenticated {
		f := h.unauthorized(invalidToken, "the token is unknown, expired or ended; refresh it or connect again")
		f.Cause = err
		return f
	}
	return transport.FromFault(web.AsUnavailable(err))
}
