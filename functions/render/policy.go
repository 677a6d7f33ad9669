package render

import (
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/render"
)

// policies makes the content security policies of pages. A page may use its own style sheet and images, images and
// media of the content origin, and no scripts but those that render.RunnerOf names. A page that runs something has an
// opaque origin when it is opened by itself, like one in a frame. The policies of both name the content origin in
// addition to 'self', because in WebKit 'self' has no match in a document with an opaque origin.
type policies struct {
	app, content string
	sealed       bool // frames may let their documents have an origin, and pages here must not
	own          bool // at the own origins of artifacts, whose pages may frame other ones of the same artifact
}

const (
	images  = "img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
	sandbox = "; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
)

func newPolicies(app, content string) policies {
	return policies{app: strings.TrimSuffix(app, "/"), content: strings.TrimSuffix(content, "/")}
}

func (p policies) choose(a answer) string {
	var runner *render.Runner
	if !a.text {
		runner = render.RunnerOf(media.ViewOf(a.File.Path)) // nil for a folder, which has no path
	}
	policy := "default-src 'none'; " + p.scripts(runner, render.StyleHash(a.File.Path), a.framed && !a.text) + images
	if !a.framed && runner == nil {
		return policy + "'none'"
	}
	if !p.own {
		policy = strings.ReplaceAll(policy, "'self'", "'self' "+p.content)
	}
	switch {
	case a.framed && p.own:
		return policy + p.app + " 'self'"
	case a.framed && p.sealed:
		return policy + p.app + sandbox
	case a.framed:
		return policy + p.app
	}
	return policy + "'none'" + sandbox
}

// scripts returns the directives for what runs, and for styles and fonts, which depend on that. height allows the
// script by which a page in a frame reports its height. style is the hash of the style sheet.
func (p policies) scripts(r *render.Runner, style string, height bool) string {
	styles, reporter := "style-src "+style+"; ", ""
	if height {
		reporter = " " + render.HeightHash
	}
	switch {
	case r == nil && height:
		return "script-src" + reporter + "; " + styles
	case r == nil:
		return styles
	}
	if r.Styles() {
		styles = "style-src 'unsafe-inline'; "
	}
	directives := "script-src " + r.Hash + " " + r.Base(p.app) + reporter + "; " + styles
	if fonts := r.Fonts(p.app); fonts != "" {
		directives += "font-src " + fonts + "; "
	}
	if r.Works() {
		directives += "worker-src blob:; connect-src 'self'; "
	}
	return directives
}
