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

// runningOwn is running for the own origin of an artifact, where 'self' is the artifact alone.
func runningOwn(from media.Sources) string {
	return strings.NewReplacer("worker-src", "worker-src 'self'", "frame-src 'none'", "frame-src 'self' blob: data:",
		"form-action 'none'", "form-action 'self'", "base-uri 'none'", "base-uri 'self'").Replace(running(from))
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

// policies are the content security policies of one deployment. All but those of viewer frames and workers forbid
// scripts and framing.
type policies struct {
	alone, framed, reported, scripted string // reported: only the script of frames runs
	svgAlone, svgFramed               string
	worker                            string // at own origins; empty: at the shared one
	noCookies                         string // script that tells the app that the browser has not kept the cookie
	app                               string // origin
}

// start and end are around what a policy is about.
const start, end = "default-src 'none'; ", "; frame-ancestors "

// sealed gives a document an opaque origin where the frame would let it have its own: a page at the own origin of an
// artifact, whose frame does, may lead that frame to the shared origin.
const sealed = "; sandbox allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-downloads"

// newPolicies returns the policies of the shared origin. Those of frames name that in addition to 'self', because in
// WebKit 'self' has no match in a document with an opaque origin, such as one in the viewers' sandbox.
func newPolicies(h *Host) policies {
	app, content := strings.TrimSuffix(h.Origins.App, "/"), strings.TrimSuffix(h.Origins.Content, "/")
	p := policiesOf(h, running(h.Loads))
	for _, framed := range []*string{&p.framed, &p.reported, &p.scripted} {
		*framed = strings.ReplaceAll(*framed, "'self'", "'self' "+content) + app
	}
	p.svgFramed += app
	if h.Origins.Own != "" {
		for _, framed := range []*string{&p.framed, &p.reported, &p.scripted, &p.svgFramed} {
			*framed += sealed
		}
	}
	return p
}

// ownPolicies returns the policies of own origins, whose pages may frame other ones of the same artifact.
func ownPolicies(h *Host) policies {
	p := policiesOf(h, runningOwn(h.Loads))
	p.app = strings.TrimSuffix(h.Origins.App, "/")
	p.worker = p.scripted + "'none'"
	for _, framed := range []*string{&p.framed, &p.reported, &p.scripted, &p.svgFramed} {
		*framed += p.app + " 'self'"
	}
	p.noCookies = `parent.postMessage({type:"vitrine:no-cookies"},"` + p.app + `")`
	return p
}

// policiesOf returns policies in which those of frames do not name who may frame.
func policiesOf(h *Host, running string) policies {
	unscripted := func(scripts string) string { return start + "script-src " + scripts + "; " + static(h.Static) + end }
	return policies{
		alone:     unscripted("'none'") + "'none'",
		framed:    unscripted("'none'"),
		reported:  unscripted(script.Hash(frameScript)),
		scripted:  start + running + end,
		svgAlone:  svgResources + end + "'none'",
		svgFramed: svgResources + end,
	}
}

// choose returns the policy of a response.
func (p policies) choose(e fileResponse) string {
	switch {
	case e.worker:
		return p.worker
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
