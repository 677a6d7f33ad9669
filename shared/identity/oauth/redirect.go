package oauth

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/shared/platform/address"
)

const (
	maxRedirectLen = 2048 // bytes of one URI
	maxRedirects   = 10
)

var (
	// loopback matches an http URI on the person's own machine and captures host, port and the rest.
	loopback = regexp.MustCompile(`^http://(127\.0\.0\.1|\[::1\]|localhost)(?::([0-9]{1,5}))?((?:[/?].*)?)$`)
	// private matches a URI and captures its scheme, which apps register with the operating system.
	private = regexp.MustCompile(`^([a-z][a-z0-9+.-]{2,30})://`)
	// reversedDomain matches a private scheme that names its owner (RFC 8252, section 7.1). Other schemes may belong to
	// the system, or to a program that misuses the answer.
	reversedDomain = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$`)
)

// knownSchemes are private schemes without a domain name whose programs are known to accept redirects.
var knownSchemes = []string{"cursor", "vscode", "vscode-insiders", "claude-desktop", "zed"}

// redirects reports whether a client may be redirected to a URI. The URI has to equal a registered one byte for byte,
// or to differ from a registered loopback URI in the port only. redirects refuses a URI that an older version
// registered and that could not be registered today.
func redirects(registered []string, asked string) bool {
	if !registrable(asked) {
		return false
	}
	if slices.Contains(registered, asked) {
		return true
	}
	at := loopback.FindStringSubmatch(asked)
	if at == nil {
		return false
	}
	return slices.ContainsFunc(registered, func(r string) bool {
		own := loopback.FindStringSubmatch(r)
		return own != nil && own[1] == at[1] && own[3] == at[3]
	})
}

// registrable reports whether a client may register a URI: https, http to loopback, or a private scheme.
func registrable(uri string) bool {
	if !plain(uri) {
		return false
	}
	u, err := url.Parse(uri)
	if err != nil || u.User != nil || u.Opaque != "" {
		return false
	}
	if at := loopback.FindStringSubmatch(uri); at != nil {
		return validPort(at[2])
	}
	if strings.HasPrefix(uri, "https://") {
		return u.Hostname() != "" && !strings.HasSuffix(u.Host, ":")
	}
	scheme := private.FindStringSubmatch(uri)
	return scheme != nil && (reversedDomain.MatchString(scheme[1]) || slices.Contains(knownSchemes, scheme[1]))
}

// plain refuses URIs that browsers and parsers read differently: those with characters other than printable ASCII, with
// fragments, backslashes or user information.
func plain(uri string) bool {
	if uri == "" || len(uri) > maxRedirectLen || !address.Plain(uri) {
		return false
	}
	_, rest, _ := strings.Cut(uri, "://")
	authority := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority = rest[:end]
	}
	return !strings.Contains(authority, "@")
}

// validPort reports whether s is the port of a loopback URI, or empty.
func validPort(s string) bool {
	n, err := strconv.Atoi(s)
	return s == "" || err == nil && n > 0 && n <= 65535
}

// answerTo adds parameters to a redirect URI.
func answerTo(redirect string, parameters url.Values) string {
	if strings.Contains(redirect, "?") {
		return redirect + "&" + parameters.Encode()
	}
	return redirect + "?" + parameters.Encode()
}

// shownHost returns the part of a redirect URI by which a person recognises its owner.
func shownHost(redirect string) string {
	scheme, rest, _ := strings.Cut(redirect, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		host = rest[:end]
	}
	if scheme == "http" || scheme == "https" {
		return host
	}
	return scheme + "://" + host
}
