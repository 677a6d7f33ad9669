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
		"cancel-deletion", "ask-export", "export", "settings", "change-settings",
	}
	withBody = []string{
		"publish", "visibility", "link", "reply", "resolve", "keys", "claim", "request-deletion", "change-settings",
	}
)

// routeAPI serves the api host.
func (server *fakeServer) routeAPI(api *http.ServeMux) {
	server.route(api, "GET /.well-known/vitrine", "discovery", server.discovery)
	server.route(api, "POST /v1/ephemeral/provision", "provision", server.provision)
	server.route(api, "GET /.well-known/oauth-authorization-server", "metadata", server.metadata)
	server.route(api, "GET /oauth2/authorize", "authorize", server.authorize)
	server.route(api, "POST /oauth2/device_authorization", "device", server.startDevice)
	server.route(api, "POST /oauth2/token", "token", server.token)
	server.route(api, "POST /oauth2/revoke", "revoke", server.revoke)
	const deletion, export = "/v1/web/workspace/deletion", "/v1/web/workspace/export"
	page, files, threads := []string{"cursor", "limit"}, []string{"files_cursor"}, []string{"since", "state", "cursor"}
	for pattern, r := range map[string]struct {
		name  string
		query []string
		serve http.HandlerFunc
	}{
		"GET /v1/usage-policy": {"policy", nil, server.usagePolicy},
		"GET /v1/whoami":       {"whoami", nil, server.whoami},
		"POST /v1/artifacts/{artifact}/revisions/{revision}/publish": {"publish", nil, server.publish},
		"GET /v1/artifacts":                                            {"list", page, server.list},
		"GET /v1/artifacts/{artifact}/agent-view":                      {"view", files, server.view},
		"GET /v1/artifacts/{artifact}/revisions/{revision}/agent-view": {"view", files, server.view},
		"GET /v1/artifacts/{artifact}/file-content":                    {"file", []string{"path", "revision_id"}, server.file},
		"GET /v1/artifacts/{artifact}/revisions":                       {"revisions", page, server.listRevisions},
		"DELETE /v1/artifacts/{artifact}":                              {"delete", nil, server.delete},
		"PUT /v1/artifacts/{artifact}/visibility":                      {"visibility", nil, server.visibility},
		"GET /v1/artifacts/{artifact}/feedback":                        {"feedback", threads, listThreads},
		"POST /v1/artifacts/{artifact}/feedback/{thread}":              {"reply", nil, server.reply},
		"POST /v1/artifacts/{artifact}/access-links":                   {"link", nil, server.createLink},
		"GET /v1/artifacts/{artifact}/access-links":                    {"links", nil, server.listLinks},
		"POST /v1/access-links/{link}/mint":                            {"mint", nil, server.mint},
		"POST /v1/access-links/{link}/revoke":                          {"unlink", nil, server.unlink},
		"POST /v1/access-links/resolve":                                {"resolve", nil, server.resolve},
		"POST /v1/api-keys/current/revoke":                             {"end key", nil, server.endKey},
		"POST /v1/ephemeral/claim":                                     {"claim", nil, server.claim},
		"POST /v1/web/artifacts/{artifact}/pin":                        {"pin", nil, server.pin},
		"POST /v1/web/artifacts/{artifact}/unpin":                      {"unpin", nil, server.pin},
		"GET /v1/web/workspace":                                        {"workspace", nil, server.workspace},
		"POST /v1/web/keys":                                            {"keys", nil, server.createKey},
		"GET /v1/web/keys":                                             {"list-keys", page, server.listKeys},
		"POST /v1/web/keys/{key}/revoke":                               {"revoke-key", nil, server.revokeKey},
		"GET " + deletion:                                              {"deletion", nil, server.deletion},
		"POST " + deletion:                                             {"request-deletion", nil, server.requestDeletion},
		"DELETE " + deletion:                                           {"cancel-deletion", nil, server.cancelDeletion},
		"GET /v1/web/settings":                                         {"settings", nil, server.settings},
		"PATCH /v1/web/settings":                                       {"change-settings", nil, server.changeSettings},
		"POST " + export:                                               {"ask-export", nil, server.askExport},
		"GET " + export:                                                {"export", nil, server.showExport},
	} {
		server.route(api, pattern, r.name, server.guard(r.name, r.query, r.serve))
	}
}

// guard checks what all these routes have in common, and holds the lock while one answers.
func (server *fakeServer) guard(name string, query []string, serve http.HandlerFunc) http.HandlerFunc {
	person, anybody := slices.Contains(ofPeople, name), slices.Contains(open, name)
	return func(w http.ResponseWriter, r *http.Request) {
		for parameter, values := range r.URL.Query() {
			if !slices.Contains(query, parameter) || len(values) != 1 || values[0] == "" {
				server.violation("%s: %s is %q", name, parameter, values)
			}
		}
		switch {
		case !slices.Contains(withBody, name) && !server.isEmpty(w, r), person && !server.member(w, r),
			!person && !anybody && !server.allowed(w, r):
			return
		}
		server.mu.Lock()
		defer server.mu.Unlock()
		if a := r.PathValue("artifact"); a != "" && server.world.find(id.Artifact(a)) == nil && name != "publish" &&
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
func (server *fakeServer) decode(r *http.Request, into any) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		server.wrong = append(server.wrong, r.URL.Path+": "+err.Error())
	}
}
