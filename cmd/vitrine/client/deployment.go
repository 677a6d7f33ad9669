package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

// Deployment is a server with known hosts. Keys are sent to its api and upload hosts only.
type Deployment struct {
	Hosts contract.Discovery

	caller *Caller
}

// Discover asks the server at base for its hosts. It refuses a document that names another origin as its own.
func (c *Caller) Discover(ctx context.Context, base string) (*Deployment, error) {
	root, err := Base(base)
	if err != nil {
		return nil, err
	}
	var hosts contract.Discovery
	if err := c.do(ctx, call{method: http.MethodGet, host: root, path: "/.well-known/vitrine"}, &hosts); err != nil {
		return nil, err
	}
	named := []*string{&hosts.APIURL, &hosts.UploadURL, &hosts.ContentURL, &hosts.AppURL}
	if hosts.MCPURL != "" {
		named = append(named, &hosts.MCPURL)
	}
	for _, host := range named {
		*host = strings.TrimRight(*host, "/")
		if !isAddress(*host) || !keepsTLS(*host, root) {
			return nil, c.badResponse(root, "its discovery document names %q, which is not the address of a host", origin(*host))
		}
	}
	for _, host := range []string{hosts.APIURL, hosts.UploadURL} {
		if err := c.encrypted(host); err != nil {
			return nil, err
		}
	}
	return &Deployment{Hosts: hosts, caller: c}, nil
}

// MCP returns the address of the MCP host; "" if there is none. It refuses one that a token would reach in plain text.
func (d *Deployment) MCP() (string, error) {
	if d.Hosts.MCPURL == "" {
		return "", nil
	}
	return d.Hosts.MCPURL, d.caller.encrypted(d.Hosts.MCPURL)
}

// Base checks an address of a server and returns its canonical form: no trailing slash, no default port, no capitals in
// the host.
func Base(address string) (string, error) {
	address = strings.TrimRight(address, "/")
	if !isAddress(address) {
		return "", failure.New(failure.Invalid, failure.Usage, "VITRINE_URL is not the address of a server").
			Advise(
				"It begins with http:// or https:// and has no user, query or fragment, for example https://vitrine.example.com")
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err // cannot happen: isAddress has parsed it
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.String(), nil
}

// isAddress reports whether a text is an http or https URL of a host, with a path at most.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" && !strings.Contains(text, "#")
}

// keepsTLS reports whether an address is as well protected as base: not http if base is https.
func keepsTLS(address, base string) bool {
	return strings.HasPrefix(address, "https://") || !strings.HasPrefix(base, "https://")
}
