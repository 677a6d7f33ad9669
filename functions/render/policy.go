package render

import (
	"net/http"
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

// vary sets what the response depends on, for caches.
func vary(h http.Header, r *http.Request) {
	h.Set("Vary", "Sec-Fetch-Dest, Sec-Fetch-Mode")
	if r.Header.Get("Origin") == "null" {
		h.Set("Vary", "Sec-Fetch-Dest, Sec-Fetch-Mode, Origin")
		h.Set("Access-Control-Allow-Origin", "null")
	}
}

// viewerFrame reports whether a browser loads the page into a frame. frame-ancestors lets the app alone do so.
func viewerFrame(r *http.Request) bool {
	dest, mode := r.Header.Get("Sec-Fetch-Dest"), r.Header.Get("Sec-Fetch-Mode")
	return (dest == "iframe" || dest == "frame") && (mode == "" || mode == "navigate")
}
