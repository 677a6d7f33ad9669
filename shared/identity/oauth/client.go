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

// Clients stores clients that registered themselves and clients that metadata documents describe.
type Clients interface {
	// Client reads a client. It returns nil if there is none.
	Client(ctx context.Context, c id.Client) (*Client, error)
	// Add writes a new client that expires at until.
	Add(ctx context.Context, c Client, until time.Time) error
	// Put writes a client that expires at until, and replaces the stored one.
	Put(ctx context.Context, c Client, until time.Time) error
	// Touch records the use of an existing client and its new expiry, unless a use after since is recorded.
	Touch(ctx context.Context, c id.Client, now, since, until time.Time) error
}

// firstParty holds our own clients. Their redirects may have any port.
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
	Helper: {
		ID:         Helper,
		Name:       "Vitrine helper",
		FirstParty: true,
		Delegated:  true,
		Redirects:  ownRedirects,
	},
}

var ownRedirects = []string{"http://127.0.0.1/callback", "http://[::1]/callback", "http://localhost/callback"}

// client returns the client that a browser at an address names. It returns nil if there is none or it has expired.
func (s *Server) client(ctx context.Context, named string, from netip.Addr) (*Client, error) {
	if c, ok := firstParty[id.Client(named)]; ok {
		return &c, nil
	}
	if documentURL(id.Client(named)) != nil {
		return s.described(ctx, id.Client(named), from)
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

// touch extends the life of a client that registered itself and gets tokens. It writes at most once a day. It drops a
// failure, because the next token of the client extends its life again.
func (s *Server) touch(ctx context.Context, c id.Client) {
	if !c.Valid() {
		return
	}
	now := s.Now()
	_ = s.Clients.Touch(ctx, c, now, now.Add(-limits.Day), now.Add(limits.UnusedClientLife))
}

// Register registers a public client (RFC 7591) whose redirect URIs are safe. The client gets those of the requested
// values that this server supports.
func (s *Server) Register(
	ctx context.Context,
	r contract.RegisterClient,
	from netip.Addr,
) (contract.RegisteredClient, error) {
	if err := s.take(ctx, s.Limits.Registration, from); err != nil {
		return contract.RegisteredClient{}, err
	}
	given, err := accepted(r, s.Name)
	// A refused request must not use up the registrations of all callers, so it counts against its address only.
	if err == nil {
		err = s.Limiter.Take(ctx, s.Limits.Clients, "all")
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
	if err := s.Clients.Add(ctx, c, c.until()); err != nil {
		return contract.RegisteredClient{}, err
	}
	return contract.RegisteredClient{ClientID: c.ID, IssuedAt: now.Unix(), RegisterClient: given}, nil
}

// accepted returns the metadata that this server registers for a request, or refuses it. deployment is its name.
func accepted(r contract.RegisterClient, deployment string) (contract.RegisterClient, error) {
	if n := len(r.RedirectURIs); n == 0 || n > maxRedirects {
		return r, fault.NewOAuth(fault.OAuthInvalidRedirect, "send 1 to %d redirect_uris", maxRedirects)
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
	r.GrantTypes = supported(r.GrantTypes, contract.GrantCode, contract.GrantRefresh)
	if !slices.Contains(r.GrantTypes, contract.GrantCode) {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "grant_types has to name authorization_code")
	}
	if r.ResponseTypes = supported(r.ResponseTypes, "code"); len(r.ResponseTypes) == 0 {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "response_types has to name code")
	}
	var fits bool
	if r.ClientName, fits = text.ClientName(r.ClientName); !fits {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata, "client_name is longer than %d characters", limits.ClientNameRunes)
	}
	r.ClientName = text.WithoutServer(r.ClientName, deployment)
	if text.NamesProduct(r.ClientName, deployment) {
		return r, fault.NewOAuth(fault.OAuthInvalidMetadata,
			"client_name has the name of this service as a word; choose a name of your own")
	}
	r.Scope = scopeString(scopesFor(Client{}, r.Scope))
	return r, nil
}

// supported returns the requested values that are known, or all known ones if none was requested.
func supported(asked []string, known ...string) []string {
	if len(asked) == 0 {
		return known
	}
	return slices.DeleteFunc(known, func(k string) bool { return !slices.Contains(asked, k) })
}
