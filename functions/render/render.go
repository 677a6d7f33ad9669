// Package render is the host of pages that show files. It answers below /r/ on the content origin, and checks the same
// rights to read as for the files themselves.
package render

import (
	"net/http"
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
	// Strict makes the host answer only requests for the content origin's own name, as in production.
	Strict bool

	policies policies
}

// Handler returns the host. It panics if the content or the app origin is not an absolute http URL.
func (h *Host) Handler() http.Handler {
	h.policies = newPolicies(h.Origins.App, h.Origins.Content)
	return allFiles(h.Surface.Untrusted(h.Origins, h.Strict).Handler(h.routes()...))
}

// allFiles serves /r/{token}/ as /r/{token}. Viewers frame the list of all files by that path, so that its page tells its
// place below the token as other pages do. The handler inside refuses paths that end with a slash.
func allFiles(inside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if root, ok := strings.CutSuffix(r.URL.Path, "/"); ok && strings.Count(root, "/") == 2 && r.URL.RawPath == "" {
			r = r.Clone(r.Context())
			r.URL.Path = root
		}
		inside.ServeHTTP(w, r)
	})
}

// routes returns the host's routes. They are documented by the content host, because the origin is that host's.
func (h *Host) routes() (out []web.Route) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		id := strings.ToLower(method)
		out = append(out,
			web.Plain[struct{}](web.Operation{ID: "render." + id, Method: method, Path: "/r/{token}/{path}"}, h.page),
			web.Plain[struct{}](web.Operation{ID: "render.root." + id, Method: method, Path: "/r/{token}"}, h.page))
	}
	return out
}
