package oauth

import (
	"net/url"
	"slices"
	"strings"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
)

var (
	thirdPartyScopes = []credential.Scope{credential.Publish, credential.Read}
	firstPartyScopes = []credential.Scope{credential.Publish, credential.Read, credential.Admin}
)

// scopesFor returns the requested scopes that a client may get. It ignores unknown ones, because clients request scopes
// of other servers too. It returns publish and read if none is left. A third-party client never gets admin.
func scopesFor(c Client, asked string) []credential.Scope {
	grantable := thirdPartyScopes
	if c.actsAsMember() {
		grantable = firstPartyScopes
	}
	words := strings.Fields(asked)
	var out []credential.Scope
	for _, s := range grantable {
		if slices.Contains(words, string(s)) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return thirdPartyScopes
	}
	return out
}

// checkSubset refuses requested scopes that were not granted.
func checkSubset(granted []credential.Scope, asked string) error {
	for _, w := range strings.Fields(asked) {
		if !slices.Contains(granted, credential.Scope(w)) {
			return fault.NewOAuth(fault.OAuthInvalidScope, "a refresh cannot widen what was granted; leave scope out")
		}
	}
	return nil
}

func scopeString(scopes []credential.Scope) string {
	return strings.Join(credential.ScopeStrings(scopes), " ")
}

// audienceFor returns the origin where a client's tokens are accepted: the api for clients that act as the member, and the
// MCP host, if there is one, for all others.
func (s *Server) audienceFor(c Client) string {
	if c.actsAsMember() {
		return s.Origins.API
	}
	return s.Origins.Delegated()
}

// checkResource refuses a resource (RFC 8707) other than the audience. The resource may be missing.
func checkResource(audience, resource string) error {
	if resource == "" || normalOrigin(resource) == normalOrigin(audience) {
		return nil
	}
	return fault.NewOAuth(fault.OAuthInvalidTarget, "this client can get tokens for %s only", audience)
}

// normalOrigin returns the normal form of an origin. It returns any other text as it is, which then equals no origin.
func normalOrigin(resource string) string {
	u, err := url.Parse(resource)
	if err != nil || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery ||
		strings.Contains(resource, "#") || u.Host == "" {
		return resource
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := map[string]string{"https": ":443", "http": ":80"}[scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return scheme + "://" + host
}
