package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// AgentTokens serves the grant types of agents at the token endpoint.
type AgentTokens interface {
	// Exchange returns an access token for an identity assertion.
	Exchange(ctx context.Context, e agentauth.Exchange, admitted agentauth.Admitted) (contract.Token, error)
	// Redeem returns the access token of a registration that was claimed.
	Redeem(ctx context.Context, claimToken string, admitted agentauth.Admitted, requestID string) (contract.Token, error)
}

func (h *Host) oauthRoutes() []web.Route {
	return []web.Route{
		web.Plain[authorizeInput](web.Operation{
			ID:      "oauth.authorize",
			Method:  "GET",
			Path:    "/oauth2/authorize",
			Summary: "Ask a person to let a client in; for browsers",
			Answers: []web.Answer{
				{Status: http.StatusSeeOther, Description: "to the consent page, or with an error to the page that shows it or back to the client"},
				{Status: http.StatusBadRequest, Description: "the client or its redirect is not known", MediaType: "text/html"},
				{Status: http.StatusTooManyRequests, Description: "too many requests", MediaType: "text/html"},
				{Status: http.StatusServiceUnavailable, Description: "the database does not answer", MediaType: "text/html"},
			},
		}, h.authorize),
		web.OAuthForm(web.Operation{
			ID:         "oauth.token",
			Method:     "POST",
			Path:       "/oauth2/token",
			Summary:    "Exchange a grant for an access token",
			ClientAuth: true,
		}, []string{
			"grant_type", "client_id", "scope", "resource", "code", "redirect_uri", "code_verifier", "refresh_token",
			"device_code", "assertion", "claim_token",
			"subject_token", "subject_token_type", "requested_token_type",
		}, h.token),
		web.OAuthForm(web.Operation{
			ID:         "oauth.deviceAuthorization",
			Method:     "POST",
			Path:       "/oauth2/device_authorization",
			Summary:    "Begin a sign-in on another device",
			ClientAuth: true,
		}, []string{"client_id", "scope", "device_name"}, h.startDevice),
		web.OAuthForm(web.Operation{
			ID:      "oauth.revoke",
			Method:  "POST",
			Path:    "/oauth2/revoke",
			Summary: "End a token",
		}, []string{"token", "token_type_hint"}, h.revoke),
		web.OAuthJSON(web.Operation{
			ID:      "oauth.register",
			Method:  "POST",
			Path:    "/oauth2/register",
			Summary: "Register an OAuth client",
			Status:  http.StatusCreated,
		}, h.register),
		preflight("oauth.token.preflight", "/oauth2/token"),
		preflight("oauth.register.preflight", "/oauth2/register"),
	}
}

type authorizeInput struct {
	ResponseType    string `query:"response_type" enum:"code"`
	ClientID        string `query:"client_id"`
	RedirectURI     string `query:"redirect_uri"`
	Challenge       string `query:"code_challenge" doc:"PKCE, required"`
	ChallengeMethod string `query:"code_challenge_method" enum:"S256"`
	State           string `query:"state" doc:"at most 1024 bytes"`
	Scope           string `query:"scope"`
	Resource        string `query:"resource" doc:"where the token is meant to work"`
}

// preflight returns a CORS preflight route, so that scripts of other origins may send the request that follows.
func preflight(id, path string) web.Route {
	return web.Plain[struct{}](web.Operation{
		ID:      id,
		Method:  "OPTIONS",
		Path:    path,
		Summary: "What other origins may send",
		Answers: []web.Answer{{Status: http.StatusNoContent, Description: "the rules"}},
	}, func(w http.ResponseWriter, _ *http.Request) error {
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", "*")
		head.Set("Access-Control-Allow-Methods", "POST")
		head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
		head.Set("Access-Control-Max-Age", "300")
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// authorize redirects the browser, or tells the person what is wrong with the app that sent them.
func (h *Host) authorize(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), limits.IdentityAnswer)
	defer cancel()
	to, err := "", h.OAuth.MayAsk(ctx, web.ClientAddress(r))
	if err == nil {
		a := oauth.ParseAuthorization(r.URL.RawQuery)
		a.From = web.ClientAddress(r)
		to, err = h.OAuth.Authorize(ctx, a)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if err != nil {
		h.refusePage(w, r, err)
		return nil
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// refusePage shows a person why the request is refused. It is plain markup without script or style.
func (h *Host) refusePage(w http.ResponseWriter, r *http.Request, err error) {
	refused, status := fault.OAuthErrorOf(err), http.StatusBadRequest
	switch {
	case refused.Limited:
		status = http.StatusTooManyRequests
	case refused.Code == fault.OAuthServerError:
		status = http.StatusServiceUnavailable
	}
	web.Failed(r.Context(), fault.CodeOf(err), err)
	web.RetryAfter(w.Header(), refused.RetryAfter)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	contact := ""
	if b := h.Features.Brand; b.Contact != "" {
		contact = fmt.Sprintf(`<p>Contact: <a href="%s">%s</a></p>`, html.EscapeString(b.Contact), html.EscapeString(b.ContactText()))
	}
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">`+
		`<title>You cannot go on from here</title><h1>You cannot go on from here</h1><p>%s.</p>`+
		`<p>Close this page and start again in the app that you came from.</p><p>Request <code>%s</code></p>%s</html>`,
		html.EscapeString(refused.Description), html.EscapeString(web.RequestID(r.Context())), contact)
}

// token serves all grant types.
func (h *Host) token(r *http.Request, f web.Form) (contract.Token, error) {
	guest := h.OAuth.Receive(r.Context(), web.ClientAddress(r))
	out, err := h.grant(r, f, guest)
	return out, guest.Answer(r.Context(), err)
}

func (h *Host) grant(r *http.Request, f web.Form, guest *oauth.Guest) (contract.Token, error) {
	ctx, request := r.Context(), web.RequestID(r.Context())
	client, err := clientOf(r, f)
	if err != nil {
		return contract.Token{}, err
	}
	switch grant := f["grant_type"]; grant {
	case "":
		return contract.Token{}, fault.NewOAuth(fault.OAuthInvalidRequest, "grant_type is missing")
	case contract.GrantJWTBearer, contract.GrantClaim, contract.GrantClaimAlias:
		return h.agentToken(ctx, f, guest, request)
	default:
		return h.OAuth.Token(ctx, oauth.TokenRequest{
			GrantType:        grant,
			ClientID:         client,
			Scope:            f["scope"],
			Resource:         f["resource"],
			Code:             f["code"],
			RedirectURI:      f["redirect_uri"],
			Verifier:         f["code_verifier"],
			RefreshToken:     f["refresh_token"],
			DeviceCode:       f["device_code"],
			SubjectToken:     f["subject_token"],
			SubjectTokenType: f["subject_token_type"],
			WantedType:       f["requested_token_type"],
			ActorToken:       f["actor_token"],
		}, guest, request)
	}
}

func (h *Host) agentToken(
	ctx context.Context, f web.Form, guest *oauth.Guest, requestID string,
) (contract.Token, error) {
	if h.Agents == nil {
		return contract.Token{}, fault.NewOAuth(fault.OAuthUnsupportedGrant, "agents cannot register here")
	}
	if f["grant_type"] == contract.GrantJWTBearer {
		assertion := cmp.Or(f["assertion"], f["identity_assertion"])
		e := agentauth.Exchange{Assertion: assertion, Scope: f["scope"], Resource: f["resource"]}
		return h.Agents.Exchange(ctx, e, guest.Admitted)
	}
	return h.Agents.Redeem(ctx, f["claim_token"], guest.Admitted, requestID)
}

// clientOf returns the client that the form or the Authorization header names. All clients are public, so it refuses
// any secret that is not empty.
func clientOf(r *http.Request, f web.Form) (string, error) {
	unknown := fault.NewOAuth(fault.OAuthInvalidClient,
		"clients here are public: send client_id in the form and no secret")
	client, sent := f["client_id"], r.Header.Values("Authorization")
	if f["client_secret"] != "" || f["client_assertion"] != "" || len(sent) > 1 {
		return "", unknown
	}
	if len(sent) == 0 {
		return client, nil
	}
	scheme, coded, _ := strings.Cut(sent[0], " ")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	name, secret, _ := strings.Cut(string(raw), ":")
	name, err2 := url.QueryUnescape(name) // a client encodes its id before it goes into Basic (RFC 6749, section 2.3.1)
	if !strings.EqualFold(scheme, "basic") || err != nil || err2 != nil || name == "" || secret != "" || client != "" && client != name {
		return "", unknown
	}
	return name, nil
}

func (h *Host) startDevice(r *http.Request, f web.Form) (contract.DeviceAuthorization, error) {
	client, err := clientOf(r, f)
	if err != nil {
		return contract.DeviceAuthorization{}, err
	}
	return h.OAuth.StartDevice(r.Context(), client, f["scope"], f["device_name"], web.ClientAddress(r))
}

func (h *Host) revoke(r *http.Request, f web.Form) (web.Empty, error) {
	err := h.OAuth.MayRevoke(r.Context(), web.ClientAddress(r))
	if err == nil {
		err = h.OAuth.Revoke(r.Context(), f["token"], web.RequestID(r.Context()))
	}
	return web.Empty{}, err
}

func (h *Host) register(r *http.Request, in contract.RegisterClient) (contract.RegisteredClient, error) {
	return h.OAuth.Register(r.Context(), in, web.ClientAddress(r))
}
