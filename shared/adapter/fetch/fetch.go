// Package fetch gets documents from URLs that strangers name: over HTTPS, from public addresses, and of a bounded size.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"vitrine/shared/identity/oauth"
)

const (
	userAgent = "Vitrine"
	maxHeader = 16 << 10
)

// Resolver looks up the addresses of a name; *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Client gets documents. It sends no cookie and no credential, uses no proxy, follows no redirect and keeps no
// connection.
type Client struct {
	Resolver Resolver
	// Dial connects to an IP address and port, never to a name.
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	Roots   *x509.CertPool // nil: those of the system
	Timeout time.Duration  // of a whole Get
	// Exempt are origins that may use http, other ports and addresses that are not public. They are compared as
	// strings.
	Exempt []string
}

var _ oauth.Fetcher = (*Client)(nil)

// New returns a client that uses the resolver and the network of the system.
func New(timeout time.Duration, exempt []string) *Client {
	return &Client{
		Resolver: net.DefaultResolver,
		Dial:     new(net.Dialer).DialContext,
		Timeout:  timeout,
		Exempt:   exempt,
	}
}

// Get reads the document at a URL. The answer must have status 200 and at most maxBytes. fresh is how long the answer
// may be cached; zero if it does not say. No error quotes the URL or the answer.
func (c *Client) Get(ctx context.Context, address string, maxBytes int) (body []byte, fresh time.Duration, err error) {
	exempt, err := c.admit(address)
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, errURL
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", userAgent)
	response, err := c.transport(exempt).RoundTrip(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	body, err = read(response, maxBytes)
	if late := ctx.Err(); late != nil { // checked first: a server may close the answer cleanly when the client gives up
		return nil, 0, late
	}
	return body, freshness(response.Header), err
}

var (
	errURL      = errors.New("the URL is not absolute, or has a user or a fragment")
	errScheme   = errors.New("the URL is not https")
	errPort     = errors.New("the port is not 443")
	errName     = errors.New("the host is neither a domain name nor an address")
	errInner    = errors.New("the host has an address that is not public")
	errLong     = errors.New("the answer is too long")
	errEncoding = errors.New("the answer is encoded, although that was not asked for")
)

// admit refuses URLs that must not be requested, and reports whether the URL's origin is exempt.
func (c *Client) admit(address string) (exempt bool, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || strings.Contains(address, "#"):
		return false, errURL
	case slices.Contains(c.Exempt, u.Scheme+"://"+u.Host):
		return true, nil
	case u.Scheme != "https":
		return false, errScheme
	case u.Host != u.Hostname() && u.Host != "["+u.Hostname()+"]" && u.Port() != "443":
		return false, errPort
	}
	return false, nil
}

// transport returns a transport for a single request.
func (c *Client) transport(exempt bool) *http.Transport {
	dial := c.dialPublic
	if exempt {
		dial = c.Dial
	}
	return &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// read reads the body of an answer.
func read(response *http.Response, maxBytes int) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer has status %d", response.StatusCode)
	}
	if coding := response.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, errEncoding
	}
	if response.ContentLength > int64(maxBytes) {
		return nil, errLong
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(maxBytes)+1))
	if err == nil && len(body) > maxBytes {
		err = errLong
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}
