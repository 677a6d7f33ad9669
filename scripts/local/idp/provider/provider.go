// Package provider is an identity provider for development and tests: OpenID Connect for one
// client, on this machine only. It signs in any e-mail address, and issues invalid tokens and
// breaks endpoints on demand. It also plays two providers that agents run at, whose assertions and
// security events a service trusts.
package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Client is the one client.
type Client struct {
	ID, Secret string
	Callbacks  []string // where browsers may be sent back to
	SignedOut  []string // and after signing out
}

// Options configure a provider.
type Options struct {
	Issuer string // its origin, on the loopback interface
	Client Client
	// Audience is the issuer of the service that assertions and security events are for; empty: there
	// are none.
	Audience string
	// Data is the folder that keeps the keys, so that tokens and members survive a restart; empty:
	// they are not kept.
	Data string
	Now  func() time.Time
}

// Provider is the identity provider; it is a Handler.
type Provider struct {
	// First is at the provider's own address, with the keys of the ID tokens. Second is below it.
	First, Second *Issuer

	issuer string
	client Client
	now    func() time.Time
	routes http.Handler

	mu     sync.Mutex
	asked  map[string]int // by path
	broken map[string]Break
	codes  map[string]grant // by code
}

// Open makes a provider.
func Open(o Options) (*Provider, error) {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Scheme != "http" || !onLoopback(u.Host) || u.Path != "" {
		return nil, fmt.Errorf("the issuer %q is not an http origin on this machine", o.Issuer)
	}
	if o.Client.ID == "" || o.Client.Secret == "" || len(o.Client.Callbacks) == 0 {
		return nil, errors.New("a client needs an id, a secret and a callback")
	}
	p := &Provider{
		issuer: o.Issuer,
		client: o.Client,
		now:    o.Now,
		asked:  map[string]int{},
		broken: map[string]Break{},
		codes:  map[string]grant{},
	}
	if err := p.openIssuers(o); err != nil {
		return nil, err
	}
	p.routes = p.mux()
	return p, nil
}

// mux has the routes of sign-in, and those of both issuers.
func (p *Provider) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, h := range map[string]http.HandlerFunc{
		"GET /.well-known/openid-configuration": p.discovery,
		"GET /jwks":                             p.First.jwks,
		"GET /authorize":                        p.authorize,
		"POST /authorize":                       p.authorize,
		"POST /token":                           p.token,
		"GET /logout":                           p.logout,
		"GET /mint":                             p.mint,
		"GET /style.css":                        style,
		"GET /{$}":                              p.home,
		"GET /healthz": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, map[string]any{"ok": true})
		},
	} {
		mux.HandleFunc(pattern, p.breakable(h))
	}
	for pattern, h := range p.First.agentRoutes() {
		mux.HandleFunc(pattern, p.breakable(h))
	}
	for pattern, h := range p.Second.agentRoutes() {
		mux.HandleFunc(strings.Replace(pattern, " ", " "+secondPath, 1), p.breakable(h))
	}
	return mux
}

// ServeHTTP refuses clients on other machines, and pages of other sites whose names resolve to this
// one.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !onLoopback(r.Host) || !onLoopback(r.RemoteAddr) {
		http.Error(w, "this identity provider serves its own machine only", http.StatusForbidden)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	p.routes.ServeHTTP(w, r)
}

// onLoopback reports whether host, with or without port, means this machine.
func onLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer":                   p.issuer,
		"authorization_endpoint":   p.issuer + "/authorize",
		"token_endpoint":           p.issuer + "/token",
		"jwks_uri":                 p.issuer + "/jwks",
		"end_session_endpoint":     p.issuer + "/logout",
		"response_types_supported": []string{"code"},
		"subject_types_supported":  []string{"public"},
		// clients must not accept the last two
		"id_token_signing_alg_values_supported":          []string{"RS256", "ES256", "HS256", "none"},
		"scopes_supported":                               []string{"openid", "email", "profile"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_post"},
		"code_challenge_methods_supported":               []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// logout supports both styles: post_logout_redirect_uri, and logout_uri as Cognito does. There is
// no session to end.
func (p *Provider) logout(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := q.Get("post_logout_redirect_uri")
	if back == "" {
		back = q.Get("logout_uri")
	}
	switch {
	case back == "":
		p.page(w, http.StatusOK, page{Title: "You are signed out"})
	case q.Get("client_id") != p.client.ID || !slices.Contains(p.client.SignedOut, back):
		p.refuse(w, "This client may not send you there after signing out.")
	default:
		http.Redirect(w, r, back, http.StatusSeeOther)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}
