package render

import (
	"strings"

	"vitrine/shared/publishing/render"
)

// policies are the content security policies of pages: no script, the one style sheet that a page holds, images and
// media of the content origin, and the images that a notebook holds.
type policies struct{ alone, framed string }

func newPolicies(app string) policies {
	base := "default-src 'none'; style-src '" + render.StyleHash + "'; img-src 'self' data:; media-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors "
	return policies{alone: base + "'none'", framed: base + strings.TrimSuffix(app, "/")}
}

func (p policies) choose(a answer) string {
	if a.framed {
		return p.framed
	}
	return p.alone
}
