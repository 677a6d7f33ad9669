package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/contract"
)

// Deployment is a server whose hosts are known. Keys go to its api and upload hosts and nowhere else.
type Deployment struct {
	Hosts contract.Discovery

	caller *Caller
}

// Discover asks the server at base where its hosts are. The answer counts only if that very origin gives it.
func (c *Caller) Discover(ctx context.Context, base string) (*Deployment, error) {
	root, err := parseBase(base)
	if err != nil {
		return nil, err
	}
	var hosts contract.Discovery
	if err := c.do(ctx, call{method: http.MethodGet, host: root, path: "/.well-known/vitrine"}, &hosts); err != nil {
		return nil, err
	}
	for _, host := range []*string{&hosts.APIURL, &hosts.UploadURL, &hosts.ContentURL, &hosts.AppURL, &hosts.MCPURL} {
		*host = strings.TrimRight(*host, "/")
		if !isAddress(*host) || !noStepDown(*host, root) {
			return nil, c.senseless(root, "its discovery document names %q, which is no address of a host", origin(*host))
		}
	}
	return &Deployment{Hosts: hosts, caller: c}, nil
}

// parseBase checks VITRINE_URL.
func parseBase(base string) (string, error) {
	base = strings.TrimRight(base, "/")
	if !isAddress(base) {
		return "", failure.New(failure.Invalid, failure.Usage, "VITRINE_URL is no address of a server").
			Advise("It begins with http:// or https:// and has no user, query or fragment, for example https://vitrine.example.com")
	}
	return base, nil
}

// isAddress tells whether a text is an http or https URL of a host, with a path at most.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" && !strings.Contains(text, "#")
}

// noStepDown tells whether an address that base names is as well protected as base: never http after https.
func noStepDown(address, base string) bool {
	return strings.HasPrefix(address, "https://") || !strings.HasPrefix(base, "https://")
}
