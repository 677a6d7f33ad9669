package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Fetcher gets documents from URLs that strangers name.
type Fetcher interface {
	// Get reads at most maxBytes from a URL. It uses https on port 443, follows no redirect, and connects to public
	// addresses only. fresh is how long the answer may be kept; 0: the answer does not say.
	Get(ctx context.Context, url string, maxBytes int) (body []byte, fresh time.Duration, err error)
}

// documentHost is the host of a URL, with or without a port: a name, or an address.
var documentHost = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// maxClientURLBytes is the longest client id that is the URL of a metadata document.
const maxClientURLBytes = 512

// documentURL parses a client id that is the URL of a metadata document. It returns nil for any other id. It accepts
// http and any port, because the Fetcher decides which URLs it reads.
func documentURL(c id.Client) *url.URL {
	if len(c) > maxClientURLBytes || !address.Plain(string(c)) {
		return nil
	}
	u, err := url.Parse(string(c))
	if err != nil || u.User != nil || !documentHost.MatchString(u.Host) || u.Path == "" || u.Path == "/" {
		return nil
	}
	dots := slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return part == "." || part == ".." })
	if dots || !strings.HasPrefix(string(c), "https://") && !strings.HasPrefix(string(c), "http://") {
		return nil
	}
	return u
}

// documentHostOf returns the host of a client's metadata document; empty for a client without one.
func documentHostOf(c id.Client) string {
	u := documentURL(c)
	if u == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Host, ":443"))
}

// Host returns the host that serves the metadata document of the client. It is empty for a client without one. The
// host vouches for the redirect URIs, not for a program on the person's own machine that names the same client.
func (c Client) Host() string { return documentHostOf(c.ID) }

// Host returns the host that serves the metadata document of the grant's client. It is empty for a client without one.
func (g Grant) Host() string { return documentHostOf(g.Client) }

// described returns the client of a metadata document. It returns nil if no host has stored the document and this host
// cannot fetch documents.
func (s *Server) described(ctx context.Context, c id.Client, from netip.Addr) (*Client, error) {
	if s.NoDocuments {
		return nil, errNoDocuments()
	}
	stored, err := s.Clients.Client(ctx, c)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	if stored != nil && !now.Before(stored.until()) {
		stored = nil
	}
	if s.Fetcher != nil && (stored == nil || !now.Before(stored.FreshUntil)) {
		return s.fetch(ctx, c, stored, from)
	}
	if stored == nil {
		return nil, nil
	}
	return stored.usable(nil)
}

// errNoDocuments tells the person what to do, because an app keeps the name that it once chose.
func errNoDocuments() error {
	return fault.New(fault.InvalidRequest,
		"the app that sent you here names itself by a document at its own address, and this service has that turned off; "+
			"sign out of it in the app and connect again, so that the app registers instead")
}

// usable returns the client, or the error for a metadata document that cannot be used.
func (c Client) usable(cause error) (*Client, error) {
	if c.Unusable == "" {
		return &c, nil
	}
	return nil, fault.Wrap(fault.InvalidRequest, cause,
		"the app that sent you here cannot be let in: the document that describes it %s", c.Unusable)
}

// fetch reads the metadata document of a client and stores the client that it describes. While the document cannot be
// read, stored counts: the client of the last reading, or nil.
func (s *Server) fetch(ctx context.Context, c id.Client, stored *Client, from netip.Addr) (*Client, error) {
	known := stored != nil && stored.Unusable == ""
	err := s.mayFetch(ctx, from)
	switch {
	case known && err != nil:
		return stored, nil
	case err != nil:
		return nil, err
	}
	body, fresh, cause := s.Fetcher.Get(ctx, string(c), limits.DocumentBytes)
	now := s.Now()
	life := limits.DocumentRetry
	next := Client{ID: c, CreatedAt: now, Unusable: unreadable(c)}
	switch {
	case cause == nil:
		if next = describe(c, body, s.Name); next.Unusable == "" {
			life = min(max(fresh, limits.MinDocumentLife), limits.MaxDocumentLife)
		}
		next.CreatedAt = now
	case known:
		next = *stored
	}
	next.FreshUntil = now.Add(life)
	if err := s.Clients.Put(ctx, next, next.until()); err != nil {
		return nil, err
	}
	return next.usable(cause)
}

// unreadable returns the advice about a document that cannot be fetched. It leaves out the cause, which reveals the
// network of the deployment and is for the log only.
func unreadable(c id.Client) string {
	return "cannot be read. If this service cannot reach " + documentHostOf(c) + ", whoever runs it can let it out, or turn " +
		"client_documents off in its policy, so that apps register instead"
}

// mayFetch counts a document that is read for a browser. It counts against the address first, so that one address
// cannot use up the documents of all.
func (s *Server) mayFetch(ctx context.Context, from netip.Addr) error {
	if err := s.take(ctx, s.Limits.Document, from); err != nil {
		return err
	}
	return s.Limiter.Take(ctx, s.Limits.Documents, "all")
}

// describe returns the client that a metadata document describes to a deployment with a name. Its Unusable says why the document describes none.
func describe(c id.Client, body []byte, deployment string) Client {
	var d struct {
		ClientID string `json:"client_id"`
		contract.RegisterClient
	}
	out := Client{ID: c}
	if err := json.Unmarshal(body, &d); err != nil || !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		out.Unusable = "is no JSON object with members of the types of RFC 7591"
		return out
	}
	if d.ClientID != string(c) {
		out.Unusable = "names another client_id than its own address"
		return out
	}
	given, err := accepted(d.RegisterClient, deployment)
	if err != nil {
		out.Unusable = "is refused: " + fault.OAuthErrorOf(err).Description
		return out
	}
	out.Redirects = given.RedirectURIs
	if out.Name = given.ClientName; out.Name == "" {
		out.Name = out.Host()
	}
	return out
}
