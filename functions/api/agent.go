package api

import (
	"context"
	"net/http"
	"net/netip"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
)

// Agents serves agents, and the members who claim them.
type Agents interface {
	AgentRegistrations
	AgentTokens
	AgentClaims
}

// AgentRegistrations registers agents and asks people to claim them.
type AgentRegistrations interface {
	// Register makes an anonymous registration. Refusals: temporarily_unavailable where agents cannot register and for
	// providers, slow_down in its place for an address that comes too often, ephemeral_provision_rate_limited,
	// ephemeral_provision_unavailable.
	Register(
		ctx context.Context, r contract.RegisterAgent, from netip.Addr, requestID string,
	) (contract.RegisteredAgent, error)
	// RefuseProvider counts and refuses what an identity provider sends. Refusals: slow_down, temporarily_unavailable.
	RefuseProvider(ctx context.Context, from netip.Addr) error
	// StartClaim begins an attempt. Refusals: expired_token, slow_down, access_denied.
	StartClaim(
		ctx context.Context, c contract.StartClaim, admitted agentauth.Admitted, requestID string,
	) (contract.StartedClaim, error)
}

// AgentClaims lets members take over agents.
type AgentClaims interface {
	// Complete claims the registration of an agent for the caller's workspace. Refusals: invalid_request for
	// every fault of token or code, database_unavailable.
	Complete(ctx context.Context, by credential.Actor, c contract.CompleteClaim) (contract.CompletedClaim, error)
}

func (h *Host) agentRoutes() []web.Route {
	return []web.Route{
		web.OAuthJSON(web.Operation{
			ID:      "agentAuth.register",
			Method:  "POST",
			Path:    "/agent/identity",
			Summary: "Register an agent",
		}, h.registerAgent),
		web.OAuthJSON(web.Operation{
			ID:      "agentAuth.startClaim",
			Method:  "POST",
			Path:    "/agent/identity/claim",
			Summary: "Get a code that a person confirms to claim the agent",
		}, h.startClaim),
		web.OAuthClosed(web.Operation{
			ID:      "agentAuth.notify",
			Method:  "POST",
			Path:    "/agent/event/notify",
			Summary: "Receive a security event of an identity provider; none is trusted yet",
		}, "application/secevent+jwt", h.refuseEvent),
	}
}

// refuseEvent answers every security event unread, because no provider is trusted to send one.
func (h *Host) refuseEvent(r *http.Request) error {
	return h.Agents.RefuseProvider(r.Context(), web.ClientAddress(r))
}

func (h *Host) registerAgent(r *http.Request, in contract.RegisterAgent) (contract.RegisteredAgent, error) {
	return h.Agents.Register(r.Context(), in, web.ClientAddress(r), web.RequestID(r.Context()))
}

func (h *Host) startClaim(r *http.Request, in contract.StartClaim) (contract.StartedClaim, error) {
	ctx := r.Context()
	guest := h.OAuth.Receive(ctx, web.ClientAddress(r))
	out, err := h.Agents.StartClaim(ctx, in, guest.Admitted, web.RequestID(ctx))
	return out, guest.Answer(ctx, err)
}
