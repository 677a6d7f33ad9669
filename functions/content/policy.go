package content

import (
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/platform/script"
)

// What files may load, apart from framing.
var (
	// resources are for files whose scripts do not run. Section C.13 of the wire contract names these hosts.
	resources = "style-src 'self' 'unsafe-inline' https://cdn.jsdelivr.net https://unpkg.com " +
		"https://cdnjs.cloudflare.com https://fonts.googleapis.com; font-src 'self' data: https://fonts.gstatic.com; " +
		"img-src 'self' data: blob:; connect-src 'self'; media-src 'self' blob:; " + nothing
	// running is for files whose scripts run. What a script has made itself it may also load as a blob: or data: URL,
	// which reaches nothing new. Workers have no 'self', because an opaque origin may start none from a file.
	running = "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data: " + sources(media.Running().Scripts) +
		"; worker-src blob: data:; style-src 'self' 'unsafe-inline' " + sources(media.Running().Styles) +
		"; font-src 'self' data: blob: " + sources(media.Running().Fonts) +
		"; img-src 'self' data: blob: " + sources(media.Running().Images) +
		"; connect-src 'self' data: blob: " + sources(media.Running().Connect) +
		"; media-src 'self' data: blob:; " + nothing
)

const (
	nothing      = "frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
	svgResources = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

// sources lists hosts in the form of a policy.
func sources(hosts []string) string { return "https://" + strings.Join(hosts, " https://") }

// policies are the content security policies of one deployment. All but those of viewer frames forbid scripts and
// framing. Those of frames name the content origin in addition to 'self', because in WebKit 'self' has no match in a
// document with an opaque origin, such as one in the viewers' sandbox.
type policies struct {
	alone, framed, reported, scripted string // reported: only the script of frames runs
	svgAlone, svgFramed               string
}

func newPolicies(app, content string) policies {
	app = strings.TrimSuffix(app, "/")
	const start, end = "default-src 'none'; ", "; frame-ancestors "
	unscripted := func(scripts string) string { return start + "script-src " + scripts + "; " + resources + end }
	framed := func(policy string) string {
		return strings.ReplaceAll(policy, "'self'", "'self' "+strings.TrimSuffix(content, "/")) + app
	}
	return policies{
		alone:     unscripted("'none'") + "'none'",
		framed:    framed(unscripted("'none'")),
		reported:  framed(unscripted(script.Hash(frameScript))),
		scripted:  framed(start + running + end),
		svgAlone:  svgResources + end + "'none'",
		svgFramed: svgResources + end + app,
	}
}

// choose returns the policy of a response.
func (p policies) choose(e fileResponse) string {
	switch {
	case e.svg && e.framed:
		return p.svgFramed
	case e.svg:
		return p.svgAlone
	case !e.framed:
		return p.alone
	case e.Scripts:
		return p.scripted
	case e.html:
		return p.reported
	}
	return p.framed
}
