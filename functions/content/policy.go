package content

import (
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/platform/script"
)

// static returns what files may load whose scripts do not run, apart from framing.
func static(from media.Sources) string {
	return "style-src 'self' 'unsafe-inline'" + sources(from.Styles) +
		"; font-src 'self' data:" + sources(from.Fonts) +
		"; img-src 'self' data: blob:" + sources(from.Images) +
		"; connect-src 'self'" + sources(from.Connect) +
		"; media-src 'self' blob:; " + nothing
}

// running returns what files may load whose scripts run. What a script has made itself it may also load as a blob: or
// data: URL, which reaches nothing new. Workers have no 'self', because an opaque origin may start none from a file.
func running(from media.Sources) string {
	return "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:" + sources(from.Scripts) +
		"; worker-src blob: data:; style-src 'self' 'unsafe-inline'" + sources(from.Styles) +
		"; font-src 'self' data: blob:" + sources(from.Fonts) +
		"; img-src 'self' data: blob:" + sources(from.Images) +
		"; connect-src 'self' data: blob:" + sources(from.Connect) +
		"; media-src 'self' data: blob:; " + nothing
}

const (
	nothing      = "frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
	svgResources = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

// sources lists hosts in the form of a policy, each after a space.
func sources(hosts []string) (list string) {
	for _, h := range hosts {
		list += " https://" + h
	}
	return list
}

// policies are the content security policies of one deployment. All but those of viewer frames forbid scripts and
// framing. Those of frames name the content origin in addition to 'self', because in WebKit 'self' has no match in a
// document with an opaque origin, such as one in the viewers' sandbox.
type policies struct {
	alone, framed, reported, scripted string // reported: only the script of frames runs
	svgAlone, svgFramed               string
}

func newPolicies(h *Host) policies {
	app, content := strings.TrimSuffix(h.Origins.App, "/"), strings.TrimSuffix(h.Origins.Content, "/")
	const start, end = "default-src 'none'; ", "; frame-ancestors "
	unscripted := func(scripts string) string { return start + "script-src " + scripts + "; " + static(h.Static) + end }
	framed := func(policy string) string {
		return strings.ReplaceAll(policy, "'self'", "'self' "+content) + app
	}
	return policies{
		alone:     unscripted("'none'") + "'none'",
		framed:    framed(unscripted("'none'")),
		reported:  framed(unscripted(script.Hash(frameScript))),
		scripted:  framed(start + running(h.Loads) + end),
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
