package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// Agents serves agents and the members who claim them.
type Agents interface {
	AgentRegistrations
	AgentTokens
	AgentClaims
}

// AgentRegistrations registers agents and asks people to claim them.
type AgentRegistrations interface {
	// Register makes a registration, anonymous or by a provider's assertion. Its refusals are access_denied for a
	// registration without a person where there is none, temporarily_unavailable for a feature that is not set up,
	// slow_down for an address that comes too often, ephemeral_provision_rate_limited and
	// ephemeral_provision_unavailable. For assertions there are also login_required, agentauth.Interaction, and those of
	// shared/identity/provider.
	Register(
		ctx context.Context, r contract.RegisterAgent, from netip.Addr, requestID string,
	) (contract.RegisteredAgent, error)
	// RefuseProvider counts and refuses what an identity provider sends. Its refusals are slow_down and
	// temporarily_unavailable.
	RefuseProvider(ctx context.Context, from netip.Addr) error
	// Notify takes a security event of an identity provider. Its refusals are slow_down, replay_detected and those of
	// shared/identity/provider.
	Notify(ctx context.Context, token string, from netip.Addr, requestID string) error
	// StartClaim begins an attempt to claim an agent. Its refusals are expired_token, slow_down and access_denied.
	StartClaim(
		ctx context.Context, c contract.StartClaim, admitted agentauth.Admitted, requestID string,
	) (contract.StartedClaim, error)
}

// AgentClaims lets members take over agents.
type AgentClaims interface {
	// Complete claims the registration of an agent for the caller's workspace. Its refusals are invalid_request for
	// every fault of token or code, and database_unavailable.
	Complete(ctx context.Context, by credential.Actor, c contract.CompleteClaim) (contract.CompletedClaim, error)
}

func (h *Host) agentRoutes() []web.Route {
	register := web.Operation{
		ID:      "agentAuth.register",
		Method:  "POST",
		Path:    "/agent/identity",
		Summary: "Register an agent",
	}
	registration := web.AnsweringEither[contract.InteractionRequired, contract.LoginRequired](
		web.OAuthJSON(register, h.registerAgent), register, http.StatusUnauthorized)
	return []web.Route{
		web.Answering[contract.OAuthError](registration, register, http.StatusForbidden),
		web.OAuthJSON(web.Operation{
			ID:      "agentAuth.startClaim",
			Method:  "POST",
			Path:    "/agent/identity/claim",
			Summary: "Get a code that a person confirms to claim the agent",
		}, h.startClaim),
		web.SecurityEvents(web.Operation{
			ID:      "agentAuth.notify",
			Method:  "POST",
			Path:    "/agent/event/notify",
			Summary: "Receive a security event of an identity provider",
		}, h.takeEvent),
	}
}

// takeEvent passes a security event on. If no provider is trusted, it refuses without reading the event.
func (h *Host) takeEvent(r *http.Request, read func() (string, error)) error {
	ctx, from := r.Context(), web.ClientAddress(r)
	if !h.Features.Providers {
		return h.Agents.RefuseProvider(ctx, from)
	}
	token, err := read()
	if err != nil {
		return err
	}
	return h.Agents.Notify(ctx, token, from, web.RequestID(ctx))
}

func (h *Host) registerAgent(r *http.Request, in contract.RegisterAgent) (contract.RegisteredAgent, error) {
	web.RedactSecret(r.Context(), in.Assertion)
	out, err := h.Agents.Register(r.Context(), in, web.ClientAddress(r), web.RequestID(r.Context()))
	return out, challenge(err)
}

// challenge adds to a refusal that asks for a person the header and the body that tell an agent how to continue, and
// answers 403 where agents do not register. It does not change other errors.
func challenge(err error) error {
	if err == nil {
		return nil
	}
	refused := fault.OAuthErrorOf(err)
	if asked, ok := errors.AsType[*agentauth.Interaction](err); ok {
		return &web.OAuthAnswer{
			Status:    http.StatusUnauthorized,
			Challenge: agentChallenge(refused, ""),
			Body:      asked.Answer,
			Err:       err,
		}
	}
	if refused.Code == fault.OAuthAccessDenied {
		return &web.OAuthAnswer{
			Status: http.StatusForbidden,
			Body:   contract.OAuthError{Error: string(refused.Code), Description: refused.Description},
			Err:    err,
		}
	}
	if refused.Code != fault.OAuthLoginRequired {
		return err
	}
	age := contract.Seconds(refused.MaxAge)
	return &web.OAuthAnswer{
		Status:    http.StatusUnauthorized,
		Challenge: agentChallenge(refused, fmt.Sprintf(`, max_age="%d"`, age)),
		Body: contract.LoginRequired{
			Error:       string(refused.Code),
			Description: refused.Description,
			MaxAge:      age,
		},
		Err: err,
	}
}

// agentChallenge returns the WWW-Authenticate header of a refusal. The description needs no escaping, because those of
// these refusals hold no quotation mark.
func agentChallenge(refused *fault.OAuthError, more string) string {
	if more == "" {
		more = fmt.Sprintf(`, error_description="%s"`, refused.Description)
	}
	return fmt.Sprintf(`AgentAuth error="%s"%s`, refused.Code, more)
}

func (h *Host) startClaim(r *http.Request, in contract.StartClaim) (contract.StartedClaim, error) {
	ctx := r.Context()
	guest := h.OAuth.Receive(ctx, web.ClientAddress(r))
	out, err := h.Agents.StartClaim(ctx, in, guest.Admitted, web.RequestID(ctx))
	return out, guest.Answer(ctx, err)
}
