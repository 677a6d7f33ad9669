package api

import (
	"net/http"
	"path"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/manual"
)

// manualRoutes lead to the documents of the app host that tell agents how to use the deployment, for whoever knows the
// address of this host only.
func (h *Host) manualRoutes() (routes []web.Route) {
	for _, at := range manual.Paths() {
		routes = append(routes, web.Plain[struct{}](web.Operation{
			ID:      "manual." + strings.TrimSuffix(path.Base(at), path.Ext(at)),
			Method:  "GET",
			Path:    at,
			Summary: "Leads to the document of the app host, for agents to read",
			Answers: []web.Answer{{Status: http.StatusFound, Description: "Location is the same path of the app host"}},
		}, h.toApp))
	}
	return routes
}

// toApp redirects to the same path of the app host.
func (h *Host) toApp(w http.ResponseWriter, r *http.Request) error {
	head := w.Header()
	head.Set("Location", h.URLs.Origins.App+r.URL.Path)
	head.Set("Cache-Control", forFiveMinutes)
	head.Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(http.StatusFound)
	return nil
}
