// Package oidc signs people in at an OpenID Connect provider. Even if the provider is hostile, every call ends in time,
// reads a bounded answer and accepts only signed claims.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/limits"
)

// Logout is how a provider signs people out.
type Logout string

// The ways to sign out.
const (
	NoLogout          Logout = "none"
	CognitoLogout     Logout = "cognito"
	RPInitiatedLogout Logout = "rp_initiated"
)

// Config describes the provider and this service's client there.
type Config struct {
	Issuer       string // exactly as in its ID tokens
	ClientID     string
	ClientSecret string // empty: a public client
	Scopes       []string
	Logout       Logout
	// EmailVerified counts addresses as verified if an ID token does not say whether they are. It is for issuers that have
	// people of one organization only and give each of them the address.
	EmailVerified bool
	// OperatorClaim is the claim of ID tokens that marks operators. Its value is OperatorValue, or a list that contains
	// it. If it is empty, there are no operators.
	OperatorClaim, OperatorValue string
	// Callback is the URL that the provider sends browsers back to. SignedOut is the one after signing out there.
	Callback, SignedOut string
	// Loopback allows a provider on this machine, which may do without TLS.
	Loopback bool
	Now      func() time.Time
}

// Check returns the first error of the configuration.
func (c Config) Check() error {
	var wrong []error
	if err := c.reachable(c.Issuer); err != nil {
		wrong = append(wrong, fmt.Errorf("the issuer %q %w", c.Issuer, err))
	}
	if c.ClientID == "" {
		wrong = append(wrong, errors.New("the client id is empty"))
	}
	switch c.Logout {
	case NoLogout, CognitoLogout, RPInitiatedLogout, "":
	default:
		wrong = append(wrong, fmt.Errorf("%q is no way to sign out", c.Logout))
	}
	return errors.Join(wrong...)
}

// reachable refuses URLs that must not be called: those without TLS, on this machine, or with user names or fragments.
func (c Config) reachable(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return errors.New("is no absolute URL without user and fragment")
	}
	here := loopback(u.Hostname())
	switch {
	case here && !c.Loopback:
		return errors.New("is on this machine")
	case u.Scheme == "https" || here && u.Scheme == "http":
		return nil
	}
	return errors.New("is not https")
}

func loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// Provider implements signin.Provider.
type Provider struct {
	config Config
	client *http.Client

	document *cached[document]
	keys     *cached[[]jose.JSONWebKey]
}

var _ signin.Provider = (*Provider)(nil)

// New makes a provider. It does not contact it.
func New(c Config) (*Provider, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"openid", "email", "profile"}
	}
	p := &Provider{config: c, client: newClient()}
	p.document = newCached(c.Now, p.discover)
	p.keys = newCached(c.Now, p.fetchKeys)
	return p, nil
}

// newClient returns a client with a time limit that follows no redirect. It keeps no connections, because sign-ins are
// rare, and a connection that was kept while the function was frozen is dead.
func newClient() *http.Client {
	return &http.Client{
		Timeout:       limits.ProviderTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: limitedTransport{&http.Transport{
			DialContext:            (&net.Dialer{Timeout: limits.ProviderTimeout}).DialContext,
			TLSHandshakeTimeout:    limits.ProviderTimeout,
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: maxHeader,
		}},
	}
}

// oauth returns the configuration of golang.org/x/oauth2.
func (p *Provider) oauth(d document) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     p.config.ClientID,
		ClientSecret: p.config.ClientSecret,
		RedirectURL:  p.config.Callback,
		Scopes:       p.config.Scopes,
		Endpoint:     oauth2.Endpoint{AuthURL: d.Authorization, TokenURL: d.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// Begin implements signin.Provider.
func (p *Provider) Begin(ctx context.Context, t signin.Transaction) (string, error) {
	d, err := p.document.get(ctx, anyDocument)
	if err != nil {
		return "", signin.Unreachable(err)
	}
	options := []oauth2.AuthCodeOption{
		oauth2.S256ChallengeOption(t.Verifier),
		oauth2.SetAuthURLParam("nonce", t.Nonce),
	}
	if t.Fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return p.oauth(d).AuthCodeURL(t.State, options...), nil
}

// Finish implements signin.Provider.
func (p *Provider) Finish(ctx context.Context, code string, t signin.Transaction) (member.Identity, error) {
	d, err := p.document.get(ctx, anyDocument)
	if err != nil {
		return member.Identity{}, signin.Unreachable(err)
	}
	answer, err := p.oauth(d).Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), code,
		oauth2.VerifierOption(t.Verifier))
	if err != nil {
		return member.Identity{}, exchangeFailed(err)
	}
	idToken, _ := answer.Extra("id_token").(string)
	c, err := p.verify(ctx, d, idToken)
	if err != nil {
		return member.Identity{}, err
	}
	if t.Nonce == "" || c.nonce != t.Nonce {
		return member.Identity{}, signin.Refused(errors.New("the ID token answers another sign-in"))
	}
	return c.identity()
}

// Verify implements signin.Provider.
func (p *Provider) Verify(ctx context.Context, idToken string) (member.Identity, error) {
	d, err := p.document.get(ctx, anyDocument)
	if err != nil {
		return member.Identity{}, signin.Unreachable(err)
	}
	c, err := p.verify(ctx, d, idToken)
	if err != nil {
		return member.Identity{}, err
	}
	if p.config.Now().Sub(c.issuedAt) > limits.ProviderTokenLife {
		return member.Identity{}, signin.Refused(errors.New("the ID token is old"))
	}
	return c.identity()
}

// exchangeFailed distinguishes a refused code from a provider that is unavailable or misconfigured. It drops the
// provider's text, which may hold secrets.
func exchangeFailed(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return signin.Unreachable(errors.New("the token endpoint gives no usable answer: " + kindOf(err)))
	}
	err = fmt.Errorf("the token endpoint answers %d", refused.Response.StatusCode)
	if refused.ErrorCode == "invalid_grant" || refused.ErrorCode == "invalid_request" {
		return signin.Refused(err)
	}
	return signin.Unreachable(err)
}

// kindOf describes a failed call without quoting what was sent or received.
func kindOf(err error) string {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err.Error()
	}
	return "malformed"
}

// SignOut implements signin.Provider.
func (p *Provider) SignOut() string {
	if p.config.Logout == NoLogout || p.config.Logout == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
	defer cancel()
	d, err := p.document.get(ctx, anyDocument)
	if err != nil {
		return ""
	}
	back, endpoint := "post_logout_redirect_uri", d.EndSession
	if p.config.Logout == CognitoLogout {
		back, endpoint = "logout_uri", sibling(d.Authorization, "/logout")
	}
	u, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.config.ClientID)
	q.Set(back, p.config.SignedOut)
	u.RawQuery = q.Encode()
	return u.String()
}

// sibling returns the URL of another path on the host of an endpoint.
func sibling(endpoint, path string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}).String()
}
