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
	redirectMost  = 2048 // bytes of one URI
	redirectsMost = 10
)

var (
	// loopback is http to the person's own machine: host, port and all that follows.
	loopback = regexp.MustCompile(`^http://(127\.0\.0\.1|\[::1\]|localhost)(?::([0-9]{1,5}))?((?:[/?].*)?)$`)
	// private are schemes that apps register with the operating system.
	private = regexp.MustCompile(`^([a-z][a-z0-9+.-]{2,30})://`)
	// reversedDomain is a private scheme that says whose it is (RFC 8252, section 7.1). Others may belong to the system, or to
	// a program that does harm with what it is sent.
	reversedDomain = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$`)
)

// knownSchemes are private schemes without a domain name whose programs are known to take an answer there.
var knownSchemes = []string{"cursor", "vscode", "vscode-insiders", "claude-desktop", "zed"}

// redirects tells whether a client may be answered at a URI: registered byte for byte, but a loopback one at any port. What
// could not be registered today is not answered, whenever it was.
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

// registrable tells whether a client may register a URI: https, http to loopback, or a private scheme.
func registrable(uri string) bool {
	if !plain(uri) {
		return false
	}
	u, err := url.Parse(uri)
	if err != nil || u.User != nil || u.Opaque != "" {
		return false
	}
	if at := loopback.FindStringSubmatch(uri); at != nil {
		return port(at[2])
	}
	if strings.HasPrefix(uri, "https://") {
		return u.Hostname() != "" && !strings.HasSuffix(u.Host, ":")
	}
	scheme := private.FindStringSubmatch(uri)
	return scheme != nil && (reversedDomain.MatchString(scheme[1]) || slices.Contains(knownSchemes, scheme[1]))
}

// plain refuses what browsers and parsers read differently: anything but printable ASCII, fragments, backslashes, user
// information.
func plain(uri string) bool {
	if uri == "" || len(uri) > redirectMost || !address.Plain(uri) {
		return false
	}
	_, rest, _ := strings.Cut(uri, "://")
	authority := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		authority = rest[:end]
	}
	return !strings.Contains(authority, "@")
}

// port takes the port of a loopback URI; none is a port too.
func port(s string) bool {
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

// shownHost is what a person has to recognise of a redirect URI.
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

// onlyLoopback tells whether every redirect goes to the person's own machine.
func onlyLoopback(registered []string) bool {
	return !slices.ContainsFunc(registered, func(r string) bool { return !loopback.MatchString(r) })
}
