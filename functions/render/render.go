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
	h.policies.sealed = h.Origins.Own != ""
	shared := h.Surface.Untrusted(h.Origins, h.Strict).Handler(h.routes()...)
	return h.Surface.WithOwn(h.Origins, h.ownRoutes(), shared)
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
