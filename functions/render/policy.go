package render

import (
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/render"
)

// policies are the content security policies of pages: the style sheet that a page holds, images and media of the content
// origin, the images that a page holds, and no script but what render.RunnerOf names. A page that runs something and is
// opened by itself has an origin of its own, as one in a frame has.
type policies struct{ app string }

const (
	images  = "img-src 'self' data:; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
	sandbox = "; sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
)

func newPolicies(app string) policies { return policies{app: strings.TrimSuffix(app, "/")} }

func (p policies) choose(a answer) string {
	var runner *render.Runner
	if !a.text {
		runner = render.RunnerOf(media.ViewOf(a.File.Path)) // none for a folder, whose file has no path
	}
	policy := "default-src 'none'; " + p.scripts(runner, a.framed && !a.text) + images
	switch {
	case a.framed:
		return policy + p.app
	case runner != nil:
		return policy + "'none'" + sandbox
	}
	return policy + "'none'"
}

// scripts returns the directives of what runs, and of styles and fonts, which depend on it. A page in a frame tells its
// height.
func (p policies) scripts(r *render.Runner, height bool) string {
	styles, reporter := "style-src "+render.StyleHash+"; ", ""
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
