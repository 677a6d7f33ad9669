// Package render is the host of the pages that show files. It answers below /r/ of the content origin, behind the same
// gates as the files themselves.
package render

import (
	"net/http"
	"net/url"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/render"
)

// Host is the render host.
type Host struct {
	Surface  *web.Server
	Reader   *content.Reader
	Renderer *render.Renderer
	Origins  address.Origins
	// Strict makes the host answer requests for the content origin's own name only, as in production.
	Strict bool

	policies policies
}

// Handler returns the handler. It panics when the content or the app origin is not an absolute http URL.
func (h *Host) Handler() http.Handler {
	own, app := mustName(h.Origins.Content), mustName(h.Origins.App)
	h.policies = newPolicies(h.Origins.App)
	s := *h.Surface
	s.Metadata = "" // no credential is accepted here
	s.Headers = map[string]string{"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "cross-origin"}
	s.Serves = func(name string) bool { return name == own || !h.Strict && name != app }
	return s.Handler(h.routes()...)
}

// routes are those that the document of the content host describes, because the origin is that host's.
func (h *Host) routes() (out []web.Route) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		id := strings.ToLower(method)
		out = append(out,
			web.Plain[struct{}](web.Operation{ID: "render." + id, Method: method, Path: "/r/{token}/{path}"}, h.page),
			web.Plain[struct{}](web.Operation{ID: "render.root." + id, Method: method, Path: "/r/{token}"}, h.page))
	}
	return out
}

// mustName returns the host name of an origin.
func mustName(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic("render: not an absolute http origin: " + origin)
	}
	return strings.ToLower(u.Hostname())
}
