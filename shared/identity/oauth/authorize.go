package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"regexp"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Requests stores authorization requests with an open consent page.
type Requests interface {
	// Add writes a new request.
	Add(ctx context.Context, r Request) error
	// Request reads a request with strong consistency. It returns nil if there is none.
	Request(ctx context.Context, secret string) (*Request, error)
	// Grant replaces a request by a code and records the event, in one transaction. It returns ErrGone if the
	// request is gone.
	Grant(ctx context.Context, r Request, c Code, e event.Event) error
	// Drop deletes a request. It returns ErrGone if the request is gone.
	Drop(ctx context.Context, r Request) error
}

// Request is an authorization request that waits for a person's consent.
type Request struct {
	Secret    string // stored as its hash
	Client    Client // only ID and Name
	Redirect  string
	State     string
	Challenge string
	Scopes    []credential.Scope
	Audience  string
	Loopback  bool
	CreatedAt time.Time
	ExpiresAt time.Time
}

const maxState = 1024

var challenges = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Authorize returns where the browser goes: to the consent page, or with an error to a first-party client or to the
// error page. Errors of third-party clients go to the error page, because a redirect would send people to any address
// that somebody registered. Authorize fails for an unknown client or redirect URI, and the person sees that error.
func (s *Server) Authorize(ctx context.Context, a Authorization) (redirectTo string, err error) {
	client, refusal, err := s.validate(ctx, a)
	switch {
	case err != nil:
		return "", err
	case refusal != nil && client.FirstParty:
		return s.errorRedirect(a.RedirectURI, a.State, refusal), nil
	case refusal != nil:
		return s.Origins.App + "/oauth/error?" + a.query(), nil
	}
	now := s.Now()
	r := Request{
		Secret:    rand.Text(),
		Client:    *client,
		Redirect:  a.RedirectURI,
		State:     a.State,
		Challenge: a.Challenge,
		Scopes:    scopesFor(*client, a.Scope),
		Audience:  s.audienceFor(*client),
		Loopback:  loopback.MatchString(a.RedirectURI),
		CreatedAt: now,
		ExpiresAt: now.Add(limits.ConsentLife),
	}
	if err := s.Requests.Add(ctx, r); err != nil {
		return "", err
	}
	consent := "/oauth/consent?" + url.Values{"req": {r.Secret}}.Encode()
	if a.Prompt == promptLogin {
		return s.Origins.App + "/api/auth/sign-in?" + url.Values{"returnPathname": {consent}, "fresh": {"1"}}.Encode(), nil
	}
	return s.Origins.App + consent, nil
}

// promptLogin is the prompt (OpenID Connect Core, 3.1.2.1) that makes the person sign in anew before the consent page.
// It protects no action by itself: actions that need a fresh sign-in check its time.
const promptLogin = "login"

// validate returns the client of an authorization request and the refusal that is reported to the client. err is for
// the person only.
func (s *Server) validate(ctx context.Context, a Authorization) (client *Client, refusal *fault.OAuthError, err error) {
	client, err = s.client(ctx, a.ClientID, a.From)
	switch {
	case err != nil:
		return nil, nil, err
	// The client and its redirect URI come first, because every later error may be reported at that URI.
	case a.Repeated == "client_id" || a.Repeated == "redirect_uri" || client == nil:
		return nil, nil, fault.New(fault.InvalidRequest, "the app that sent you here is not known; it has to register anew")
	case !redirects(client.Redirects, a.RedirectURI):
		return nil, nil, fault.New(fault.InvalidRequest,
			"the app that sent you here wants the answer at an address that it did not register, "+
				"or that is not answered any more; it has to register anew")
	}
	if err := s.check(*client, a); err != nil {
		return client, fault.OAuthErrorOf(err), nil
	}
	return client, nil, nil
}

// check returns the errors that are reported to the client.
func (s *Server) check(c Client, a Authorization) error {
	switch {
	case a.Repeated == "resource":
		return fault.NewOAuth(fault.OAuthInvalidTarget, "ask for one resource")
	case a.Repeated != "":
		return fault.NewOAuth(fault.OAuthInvalidRequest, "a parameter stands twice")
	case a.ResponseType == "":
		return fault.NewOAuth(fault.OAuthInvalidRequest, "response_type is missing")
	case a.ResponseType != "code":
		return fault.NewOAuth(fault.OAuthUnsupportedResponse, "response_type is code")
	case len(a.State) > maxState:
		return fault.NewOAuth(fault.OAuthInvalidRequest, "state is longer than %d bytes", maxState)
	case a.ChallengeMethod != "S256" || !challenges.MatchString(a.Challenge):
		return fault.NewOAuth(fault.OAuthInvalidRequest,
			"PKCE is required: code_challenge, 43 characters, with code_challenge_method S256")
	}
	return checkResource(s.audienceFor(c), a.Resource)
}

// errorRedirect returns the redirect that reports an error to the client.
func (s *Server) errorRedirect(redirect, state string, err error) string {
	r := fault.OAuthErrorOf(err)
	return s.answerAt(redirect, state, url.Values{"error": {string(r.Code)}, "error_description": {r.Description}})
}

// answerAt adds state and issuer (RFC 9207) to an answer. It omits a state that is too long.
func (s *Server) answerAt(redirect, state string, parameters url.Values) string {
	if state != "" && len(state) <= maxState {
		parameters.Set("state", state)
	}
	parameters.Set("iss", s.Origins.API)
	return answerTo(redirect, parameters)
}

// Consent returns the content of the consent page. The secret of the request is enough to read it, because only Allow
// binds the request to a member.
func (s *Server) Consent(ctx context.Context, request string) (Consent, error) {
	r, err := s.request(ctx, request)
	if err != nil {
		return Consent{}, err
	}
	return Consent{
		Client:       r.Client,
		RedirectHost: shownHost(r.Redirect),
		Loopback:     r.Loopback,
		Scopes:       r.Scopes,
		Audience:     r.Audience,
		ExpiresAt:    r.ExpiresAt,
	}, nil
}

// Allow grants the client access in the member's name and returns the redirect with the code. A request is answered
// once.
func (s *Server) Allow(ctx context.Context, by credential.Actor, request string) (redirectTo string, err error) {
	if err := requireMember(by); err != nil {
		return "", err
	}
	r, err := s.request(ctx, request)
	if err != nil {
		return "", err
	}
	now := s.Now()
	code := credential.Mint(credential.AuthorizationCode, s.Environment, id.NoWorkspace, "")
	err = s.Requests.Grant(ctx, *r, Code{
		Public:          code.Public,
		Hash:            code.Hash(s.Peppers),
		Client:          r.Client.ID,
		Name:            r.Client.Name,
		Redirect:        r.Redirect,
		Challenge:       r.Challenge,
		Scopes:          r.Scopes,
		Audience:        r.Audience,
		Member:          by.Member,
		Workspace:       by.Workspace.ID,
		Epoch:           by.Workspace.Epoch,
		Operator:        by.Operator,
		AuthenticatedAt: by.AuthenticatedAt,
		CreatedAt:       now,
		ExpiresAt:       now.Add(limits.CodeLife),
	}, s.record(by.Workspace.ID, event.ByMember(by.Member), event.ConsentGranted, target(r.Client.ID), by.RequestID))
	if err != nil {
		return "", errSuperseded(err)
	}
	return s.answerAt(r.Redirect, r.State, url.Values{"code": {code.Reveal()}}), nil
}

// Deny refuses the client and returns the redirect that reports it.
func (s *Server) Deny(ctx context.Context, by credential.Actor, request string) (redirectTo string, err error) {
	if err := requireMember(by); err != nil {
		return "", err
	}
	r, err := s.request(ctx, request)
	if err != nil {
		return "", err
	}
	if err := s.Requests.Drop(ctx, *r); err != nil {
		return "", errSuperseded(err)
	}
	return s.errorRedirect(r.Redirect, r.State, fault.NewOAuth(fault.OAuthAccessDenied, "the person said no")), nil
}

// request reads an open consent request.
func (s *Server) request(ctx context.Context, secret string) (*Request, error) {
	if secret == "" || len(secret) > 64 {
		return nil, errSuperseded(ErrGone)
	}
	r, err := s.Requests.Request(ctx, secret)
	// The redirect is judged again, because an older version may have stored one that is not registrable any more.
	if err == nil && (r == nil || !s.Now().Before(r.ExpiresAt) || !registrable(r.Redirect)) {
		err = errSuperseded(ErrGone)
	}
	return r, err
}

// errSuperseded returns the error for a consent page that is no longer open.
func errSuperseded(err error) error {
	if errors.Is(err, ErrGone) {
		return fault.New(fault.NotFound, "this request was answered already, or it expired; start again in the app")
	}
	return err
}

// requireMember refuses every actor but a member with a browser session, because a token must not create further
// tokens.
func requireMember(by credential.Actor) error {
	if by.Member == "" || by.Client != "" {
		return fault.New(fault.Forbidden, "only a person who is signed in may answer this")
	}
	return nil
}

func target(c id.Client) event.Target { return event.Target{Type: event.OnClient, ID: string(c)} }

func (s *Server) record(
	w id.Workspace,
	by event.Actor,
	what event.Action,
	on event.Target,
	requestID string,
) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: w,
		At:        s.Now(),
		Action:    what,
		Actor:     by,
		Target:    on,
		RequestID: requestID,
	}
}
