package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// Clients of this program at every deployment. They are public and use PKCE instead of a secret. The second one gets
// tokens for the MCP host.
const (
	clientID = "cli"
	helperID = "helper"
)

// Timeouts of one call to the authorization server, which answers within 3 s even if its own dependencies hang. Two
// attempts to refresh fit into the 10 s in which a server accepts a replaced refresh token once more.
const (
	tokenTime          = 30 * time.Second
	refreshTime        = 4 * time.Second
	maxRefreshAttempts = 2
)

// maxToken bounds the body of a response of the authorization server in bytes.
const maxToken = 64 << 10

// scopes are the requested scopes. A server omits those that it does not grant to a command line.
var scopes = []string{"publish", "read", "admin"}

// Authority is the authorization server of a deployment, as one of our clients uses it.
type Authority struct {
	meta     contract.ServerMetadata
	caller   *Caller
	client   string
	scopes   []string
	resource string // where the tokens are accepted
}

// Helper returns the authorization server as the client uses it that gets tokens for the MCP host.
func (a *Authority) Helper(mcpURL string) *Authority {
	h := *a
	h.client, h.scopes = helperID, []string{"publish", "read"}
	h.resource = mcpURL
	return &h
}

// Tokens are the result of a sign-in. Refresh may be empty.
type Tokens struct {
	Access, Refresh secret.Text
	ExpiresAt       time.Time // of Access; zero: not known
}

// Authority reads the metadata of the deployment's authorization server. All endpoints must be on the api host itself,
// because other ones could direct codes and tokens elsewhere.
func (d *Deployment) Authority(ctx context.Context) (*Authority, error) {
	a := &Authority{
		caller:   d.caller,
		client:   clientID,
		scopes:   scopes,
		resource: d.Hosts.APIURL,
	}
	k := call{method: http.MethodGet, host: d.Hosts.APIURL, path: "/.well-known/oauth-authorization-server"}
	if err := d.caller.do(ctx, k, &a.meta); err != nil {
		return nil, err
	}
	m := &a.meta
	if m.Issuer != d.Hosts.APIURL {
		return nil, d.caller.badResponse(d.Hosts.APIURL, "its authorization server is another one, %s",
			origin(m.Issuer))
	}
	for _, endpoint := range []string{
		m.AuthorizationEndpoint, m.TokenEndpoint, m.RevocationEndpoint, m.DeviceAuthorizationEndpoint,
	} {
		if !isAddress(endpoint) || !strings.HasPrefix(endpoint, m.Issuer+"/") {
			return nil, d.caller.badResponse(d.Hosts.APIURL, "it does not say where people sign in")
		}
	}
	if !slices.Contains(m.CodeChallengeMethods, "S256") {
		return nil, d.caller.badResponse(d.Hosts.APIURL,
			"it does not support PKCE with S256, which a safe sign-in needs")
	}
	return a, nil
}

// TakesDocuments reports whether apps may name themselves by a document at their own address.
func (a *Authority) TakesDocuments() bool { return a.meta.ClientDocuments }

func (a *Authority) config() *oauth2.Config {
	return &oauth2.Config{ClientID: a.client, Scopes: a.scopes, Endpoint: oauth2.Endpoint{
		AuthURL:       a.meta.AuthorizationEndpoint,
		TokenURL:      a.meta.TokenEndpoint,
		DeviceAuthURL: a.meta.DeviceAuthorizationEndpoint,
		AuthStyle:     oauth2.AuthStyleInParams,
	}}
}

// Refresh replaces a refresh token. If the response is lost, it retries at once, while the server still accepts the
// replaced token.
func (a *Authority) Refresh(ctx context.Context, refresh secret.Text) (tokens Tokens, err error) {
	for range maxRefreshAttempts {
		err = a.ask(ctx, refreshTime, func(ctx context.Context) error {
			t, err := a.config().TokenSource(ctx, &oauth2.Token{RefreshToken: string(refresh)}).Token()
			tokens, err = a.checkTokens(t, err)
			return err
		})
		if err == nil || failure.Of(err).Exit != failure.Server || ctx.Err() != nil {
			break
		}
	}
	return tokens, err
}

// Revoke revokes a token of this program and all tokens of the same sign-in.
func (a *Authority) Revoke(ctx context.Context, token secret.Text) error {
	return a.RevokeOf(ctx, a.client, token)
}

// RevokeOf does so for the client that got the token.
func (a *Authority) RevokeOf(ctx context.Context, client string, token secret.Text) error {
	form := url.Values{"token": {string(token)}, "client_id": {client}}.Encode()
	return a.caller.retry(ctx, func(ctx context.Context) error {
		return a.ask(ctx, tokenTime, func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.meta.RevocationEndpoint, strings.NewReader(form))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			resp, err := transport{a.caller, ctx}.RoundTrip(req)
			if err != nil {
				return &url.Error{Op: "Post", Err: err}
			}
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			text, err := io.ReadAll(resp.Body)
			return errors.Join(err, &oauth2.RetrieveError{Response: resp, Body: text})
		})
	})
}

var (
	accessForm  = regexp.MustCompile(`^ap_at_(production|preview|live)_[0-9A-HJKMNP-TV-Z]{16}_[A-Za-z0-9_-]{32,}$`)
	refreshForm = regexp.MustCompile(`^ap_rt_(production|preview|live)_[0-9A-HJKMNP-TV-Z]{16}_[A-Za-z0-9_-]{32,}$`)
)

// checkTokens checks a response of the token endpoint.
func (a *Authority) checkTokens(t *oauth2.Token, err error) (Tokens, error) {
	if err != nil {
		return Tokens{}, err
	}
	if !accessForm.MatchString(t.AccessToken) || !strings.EqualFold(t.TokenType, "Bearer") ||
		(t.RefreshToken != "" && !refreshForm.MatchString(t.RefreshToken)) {
		return Tokens{}, a.caller.badResponse(a.meta.Issuer, "its tokens are malformed")
	}
	return Tokens{secret.Text(t.AccessToken), secret.Text(t.RefreshToken), t.Expiry}, nil
}

// transport is the http.RoundTripper of x/oauth2. It adds our headers, our limits, and the context of the call, which
// the library does not always pass on.
type transport struct {
	caller *Caller
	ctx    context.Context
}

// RoundTrip reads the whole response, so that a truncated one is a network error to every reader.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.caller.encrypted(r.URL.String()); err != nil {
		return nil, err
	}
	r = r.Clone(t.ctx)
	t.caller.setHeaders(r)
	resp, err := t.caller.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxToken+1))
	if err == nil && len(text) > maxToken {
		err = errors.New("the answer is too long")
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

// ask runs a call of x/oauth2 and converts its error to a failure, because the text of that error may contain the
// response.
func (a *Authority) ask(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(context.WithValue(ctx, oauth2.HTTPClient,
		&http.Client{Transport: transport{a.caller, ctx}, CheckRedirect: stay}))
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*failure.Failure](err); ok {
		return err
	}
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return a.refused(r)
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return a.caller.unreachable(ctx, a.meta.Issuer, err)
	}
	return a.caller.badResponse(a.meta.Issuer, "it reports success without a token")
}

// refused converts an error response of RFC 6749. It treats any other response like that of another call.
func (a *Authority) refused(r *oauth2.RetrieveError) error {
	var e contract.OAuthError
	if json.Unmarshal(r.Body, &e) != nil || !codeForm.MatchString(e.Error) {
		return a.caller.refused(call{}, r.Response, r.Body)
	}
	f := failure.New(exitOf(e.Error, r.Response.StatusCode), fault.Code(e.Error), "%s",
		firstOf(e.Description, "the server refuses this sign-in"))
	f.RetryAfter = retryAfter(r.Response.Header)
	f.RequestID = firstOf(r.Response.Header.Get("X-Request-Id"), a.caller.RequestID)
	f.Transient = transient(r.Response.StatusCode, f.Code)
	return f.Advise("%s", signInHint(f))
}

// exitOf returns the exit code for a refused sign-in. Every refusal concerns the credentials, except for a rate limit,
// a server error and a person's refusal.
func exitOf(code string, status int) failure.Exit {
	switch {
	case code == string(fault.OAuthAccessDenied):
		return failure.Declined
	case status == http.StatusTooManyRequests:
		return failure.Quota
	case status >= 500:
		return failure.Server
	}
	return failure.Auth
}

func signInHint(f *failure.Failure) string {
	switch {
	case f.Code == fault.Code(fault.OAuthAccessDenied):
		return "This login was declined in the browser. Run vitrine login again if that was a mistake."
	case f.Exit == failure.Quota || f.Exit == failure.Server:
		return hintByExit(f, call{})
	}
	return "Run the login again; nothing was stored."
}
