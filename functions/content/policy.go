package content

import (
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/platform/script"
)

// What any file may load, apart from scripts and framing. Section C.13 of the wire contract says so.
var (
	scriptsOn = "'self' 'unsafe-inline' 'unsafe-eval' " + sources(media.ScriptHosts)
	resources = "style-src 'self' 'unsafe-inline' " + sources(media.StyleHosts) +
		"; font-src 'self' data: " + sources(media.FontHosts) + "; " +
		"img-src 'self' data: blob:; connect-src 'self'; media-src 'self' blob:; frame-src 'none'; object-src 'none'; " +
		"base-uri 'none'; form-action 'none'"
)

const (
	scriptsOff   = "'none'"
	svgResources = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)

// sources lists hosts in the form of a policy.
func sources(hosts []string) string { return "https://" + strings.Join(hosts, " https://") }

// policies are the content security policies of one deployment. All but those of viewer frames forbid scripts and
// framing. Those of frames name the content origin in addition to 'self', because in WebKit 'self' has no match in a
// document with an opaque origin, such as one in the viewers' sandbox.
type policies struct {
	alone, framed, reported, scripted string // reported: only the height reporter runs
	svgAlone, svgFramed               string
}

func newPolicies(app, content string) policies {
	base := func(scripts, ancestors string) string {
		return "default-src 'none'; script-src " + scripts + "; " + resources + "; frame-ancestors " + ancestors
	}
	app = strings.TrimSuffix(app, "/")
	framed := func(scripts string) string {
		return strings.ReplaceAll(base(scripts, app), "'self'", "'self' "+strings.TrimSuffix(content, "/"))
	}
	return policies{
		alone:     base(scriptsOff, "'none'"),
		framed:    framed(scriptsOff),
		reported:  framed(script.Hash(reporterScript)),
		scripted:  framed(scriptsOn),
		svgAlone:  svgResources + "; frame-ancestors 'none'",
		svgFramed: svgResources + "; frame-ancestors " + app,
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
