package main

import (
	"encoding/json"
	"net/http"
	"slices"

	"vitrine/shared/platform/id"
)

// Routes of people, whose bearer is an access token instead of a key, and those with a body.
var (
	ofPeople = []string{
		"pin", "unpin", "workspace", "keys", "list-keys", "revoke-key", "claim", "deletion", "request-deletion",
		"cancel-deletion", "ask-export", "export",
	}
	withBody = []string{"visibility", "link", "resolve", "keys", "claim", "request-deletion"}
)

// routeAPI serves the api host.
func (p *fakeServer) routeAPI(api *http.ServeMux) {
	p.route(api, "GET /.well-known/vitrine", "discovery", p.discovery)
	p.route(api, "POST /v1/ephemeral/provision", "provision", p.provision)
	p.route(api, "GET /.well-known/oauth-authorization-server", "metadata", p.metadata)
	p.route(api, "GET /oauth2/authorize", "authorize", p.authorize)
	p.route(api, "POST /oauth2/device_authorization", "device", p.startDevice)
	p.route(api, "POST /oauth2/token", "token", p.token)
	p.route(api, "POST /oauth2/revoke", "revoke", p.revoke)
	const deletion, export = "/v1/web/workspace/deletion", "/v1/web/workspace/export"
	page := []string{"cursor", "limit"}
	for pattern, r := range map[string]struct {
		name  string
		query []string
		serve http.HandlerFunc
	}{
		"GET /v1/usage-policy": {"policy", nil, p.usagePolicy},
		"GET /v1/whoami":       {"whoami", nil, p.whoami},
		"POST /v1/artifacts/{artifact}/revisions/{revision}/publish": {"publish", nil, p.publish},
		"GET /v1/artifacts":                                            {"list", page, p.list},
		"GET /v1/artifacts/{artifact}/agent-view":                      {"view", nil, p.view},
		"GET /v1/artifacts/{artifact}/revisions/{revision}/agent-view": {"view", nil, p.view},
		"GET /v1/artifacts/{artifact}/file-content":                    {"file", []string{"path", "revision_id"}, p.file},
		"GET /v1/artifacts/{artifact}/revisions":                       {"revisions", nil, p.listRevisions},
		"DELETE /v1/artifacts/{artifact}":                              {"delete", nil, p.delete},
		"PUT /v1/artifacts/{artifact}/visibility":                      {"visibility", nil, p.visibility},
		"POST /v1/artifacts/{artifact}/access-links":                   {"link", nil, p.createLink},
		"GET /v1/artifacts/{artifact}/access-links":                    {"links", nil, p.listLinks},
		"POST /v1/access-links/{link}/mint":                            {"mint", nil, p.mint},
		"POST /v1/access-links/{link}/revoke":                          {"unlink", nil, p.unlink},
		"POST /v1/access-links/resolve":                                {"resolve", nil, p.resolve},
		"POST /v1/api-keys/current/revoke":                             {"end key", nil, p.endKey},
		"POST /v1/ephemeral/claim":                                     {"claim", nil, p.claim},
		"POST /v1/web/artifacts/{artifact}/pin":                        {"pin", nil, p.pin},
		"POST /v1/web/artifacts/{artifact}/unpin":                      {"unpin", nil, p.pin},
		"GET /v1/web/workspace":                                        {"workspace", nil, p.workspace},
		"POST /v1/web/keys":                                            {"keys", nil, p.createKey},
		"GET /v1/web/keys":                                             {"list-keys", page, p.listKeys},
		"POST /v1/web/keys/{key}/revoke":                               {"revoke-key", nil, p.revokeKey},
		"GET " + deletion:                                              {"deletion", nil, p.deletion},
		"POST " + deletion:                                             {"request-deletion", nil, p.requestDeletion},
		"DELETE " + deletion:                                           {"cancel-deletion", nil, p.cancelDeletion},
		"POST " + export:                                               {"ask-export", nil, p.askExport},
		"GET " + export:                                                {"export", nil, p.showExport},
	} {
		p.route(api, pattern, r.name, p.guard(r.name, r.query, r.serve))
	}
}

// guard checks what all these routes have in common, and holds the lock while one answers.
func (p *fakeServer) guard(name string, query []string, serve http.HandlerFunc) http.HandlerFunc {
	person, anybody := slices.Contains(ofPeople, name), slices.Contains(open, name)
	return func(w http.ResponseWriter, r *http.Request) {
		for parameter, values := range r.URL.Query() {
			if !slices.Contains(query, parameter) || len(values) != 1 || values[0] == "" {
				p.violation("%s: %s is %q", name, parameter, values)
			}
		}
		switch {
		case !slices.Contains(withBody, name) && !p.isEmpty(w, r), person && !p.member(w, r),
			!person && !anybody && !p.allowed(w, r):
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if a := r.PathValue("artifact"); a != "" && p.world.find(id.Artifact(a)) == nil && name != "publish" &&
			(name != "delete" || a != artifact) {
			plannedFault{
				status: 404,
				code:   map[bool]string{true: "not_found", false: "artifact_not_found"}[name == "view" || name == "file"],
			}.answer("", w)
			return
		}
		serve(w, r)
	}
}

// decode decodes a strict body.
func (p *fakeServer) decode(r *http.Request, into any) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		p.wrong = append(p.wrong, r.URL.Path+": "+err.Error())
	}
}
