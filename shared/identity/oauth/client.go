package oauth

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

// Clients keeps the clients that registered themselves.
type Clients interface {
	// Client reads a client; nil if there is none.
	Client(ctx context.Context, c id.Client) (*Client, error)
	// AddClient writes a new client, which leaves the store at an instant unless it is used.
	AddClient(ctx context.Context, c Client, until time.Time) error
	// TouchClient stamps the use of a client that is still there unless a stamp younger than since is, and moves its end.
	TouchClient(ctx context.Context, c id.Client, now, since, until time.Time) error
}

const clientNameRunes = 80

// firstParty are our own clients. Their redirect goes to whatever port they listen on.
var firstParty = map[id.Client]Client{
	CLI: {
		ID:         CLI,
		Name:       "Vitrine CLI",
		FirstParty: true,
		Redirects:  ownRedirects,
	},
	Dashboard: {
		ID:         Dashboard,
		Name:       "Vitrine dashboard",
		FirstParty: true,
		Redirects:  ownRedirects,
	},
}

var ownRedirects = []string{"http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback"}

// client finds a client; nil if there is none, or it was unused for too long.
func (s *Server) client(ctx context.Context, named string) (*Client, error) {
	if c, ok := firstParty[id.Client(named)]; ok {
		return &c, nil
	}
	if !id.Client(named).Valid() {
		return nil, nil
	}
	c, err := s.Clients.Client(ctx, id.Client(named))
	if err != nil || c == nil || !s.Now().Before(c.until()) {
		return nil, err
	}
	return c, nil
}

// touch keeps a client alive that gets tokens; once a day is enough, and losing a stamp is harmless.
func (s *Server) touch(ctx context.Context, c id.Client) {
	if _, ours := firstParty[c]; ours {
		return
	}
	now := s.Now()
	_ = s.Clients.TouchClient(ctx, c, now, now.Add(-limits.Day), now.Add(limits.UnusedClientLife))
}

// Register takes a client in that registers itself (RFC 7591): public, with redirects that are safe to answer at. It
// gets what it asked for where this server knows it.
func (s *Server) Register(ctx context.Context, r contract.RegisterClient, from netip.Addr) (contract.RegisteredClient, error) {
	if err := s.limit(ctx, "client", from, s.Limits.Registration); err != nil {
		return contract.RegisteredClient{}, err
	}
	given, err := accepted(r)
	if err == nil {
		err = s.room(ctx)
	}
	if err != nil {
		return contract.RegisteredClient{}, err
	}
	now := s.Now()
	c := Client{
		ID:        id.NewClient(),
		Name:      given.ClientName,
		Redirects: given.RedirectURIs,
		CreatedAt: now,
	}
	if err := s.Clients.AddClient(ctx, c, c.until()); err != nil {
		return contract.RegisteredClient{}, err
	}
	return contract.RegisteredClient{ClientID: c.ID, IssuedAt: now.Unix(), RegisterClient: given}, nil
}

// room refuses more clients than anybody may register together.
func (s *Server) room(ctx context.Context) error {
	wait, err := s.Limiter.Allow(ctx, "clients", "all", s.Limits.Clients)
	if err == nil && wait > 0 {
		err = fault.NewOAuth(fault.OAuthSlowDown, "many clients are registering; wait as long as Retry-After says").AsRateLimited(wait)
	}
	return err
}

// accepted is the metadata of a client as this server takes it.
func accepted(r contract.RegisterClient) (contract.RegisterClient, error) {
	if n := len(r.RedirectURIs); n == 0 || n > redirectsMost {
		return r, fault.NewOAuth(fault.OAuthInvalidRedirect, "send 1 to %d redirect_uris", redirectsMost)
	}
	for _, uri := range r.RedirectURIs {
		if !registrable(uri) {
			return r, fault.NewOAuth(fault.OAuthInvalidRedirect,
				"each redirect URI is https, http to 127.0.0.1, [::1] or localhost, "+
					"or of a private scheme that is a domain name backwards, as com.example.app://; none has a fragment or user")
		}
	}
	if r.AuthMethod != "" && r.AuthMethod != "none" {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "clients here are public: token_endpoint_auth_method is none")
	}
	r.AuthMethod = "none"
	if r.GrantTypes = offered(r.GrantTypes, contract.GrantCode, contract.GrantRefresh); !slices.Contains(r.GrantTypes, contract.GrantCode) {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "grant_types has to name authorization_code")
	}
	if r.ResponseTypes = offered(r.ResponseTypes, "code"); len(r.ResponseTypes) == 0 {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "response_types has to name code")
	}
	var fits bool
	if r.ClientName, fits = text.ClientName(r.ClientName); !fits {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "client_name is longer than %d characters", limits.ClientNameRunes)
	}
	r.Scope = words(scopesFor(Client{}, r.Scope))
	return r, nil
}

// offered are those of the asked values that there are, all of them if none was asked.
func offered(asked []string, known ...string) []string {
	if len(asked) == 0 {
		return known
	}
	return slices.DeleteFunc(known, func(k string) bool { return !slices.Contains(asked, k) })
}
