package api

import (
	"context"
	"net/http"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

const resourceDocument = "oauth-protected-resource"

// wellKnownRoutes are the documents that clients and agents discover the service by. All are made from configuration,
// and never from the name under which a request came.
func (h *Host) wellKnownRoutes() []web.Route {
	return []web.Route{
		web.Public(web.Operation{
			ID:           "metadata.resource",
			Method:       "GET",
			Path:         "/.well-known/" + resourceDocument,
			Summary:      "This host as a protected resource (RFC 9728)",
			CacheControl: forFiveMinutes,
			AnyOrigin:    true,
		}, h.resourceMetadata),
		web.Public(web.Operation{
			ID:           "metadata.resourceBelow",
			Method:       "GET",
			Path:         "/.well-known/{document}/{path}",
			Summary:      "The same for whoever asks about a part of this host; document is " + resourceDocument,
			CacheControl: forFiveMinutes,
			AnyOrigin:    true,
			Errors:       []fault.Code{fault.NotFound},
		}, h.resourceBelow),
		web.Public(web.Operation{
			ID:           "metadata.server",
			Method:       "GET",
			Path:         "/.well-known/oauth-authorization-server",
			Summary:      "The authorization server (RFC 8414)",
			CacheControl: forFiveMinutes,
			AnyOrigin:    true,
		}, h.serverMetadata),
		web.Plain[struct{}](web.Operation{
			ID:      "metadata.keys",
			Method:  "GET",
			Path:    "/.well-known/jwks.json",
			Summary: "The keys that sign identity assertions (RFC 7517)",
			Answers: []web.Answer{{Status: http.StatusOK, Description: "the key set", MediaType: "application/json"}},
		}, h.keySet),
		web.Plain[struct{}](web.Operation{
			ID:      "metadata.guide",
			Method:  "GET",
			Path:    "/auth.md",
			Summary: "How agents get access, for agents to read",
			Answers: []web.Answer{{Status: http.StatusOK, Description: "the guide", MediaType: "text/markdown"}},
		}, h.guide),
	}
}

func (h *Host) resourceMetadata(context.Context, *struct{}) (contract.ResourceMetadata, error) {
	return oauth.ResourceMetadata(h.URLs.Origins, h.Features.Brand), nil
}

type belowInput struct {
	Document string `path:"document"`
	Path     string `path:"path"`
}

func (h *Host) resourceBelow(_ context.Context, in *belowInput) (contract.ResourceMetadata, error) {
	if in.Document != resourceDocument {
		return contract.ResourceMetadata{}, fault.NewCode(fault.NotFound)
	}
	return oauth.ResourceMetadata(h.URLs.Origins, h.Features.Brand), nil
}

func (h *Host) serverMetadata(context.Context, *struct{}) (contract.ServerMetadata, error) {
	return oauth.Metadata(h.URLs.Origins, h.Features), nil
}

func (h *Host) keySet(w http.ResponseWriter, _ *http.Request) error {
	set := h.AssertionKeys
	if set == nil {
		set = []byte(`{"keys":[]}`)
	}
	return document(w, "application/json; charset=utf-8", set)
}

func (h *Host) guide(w http.ResponseWriter, _ *http.Request) error {
	return document(w, "text/markdown; charset=utf-8", h.authMD())
}

// document answers with a public document that scripts of every origin may read.
func document(w http.ResponseWriter, media string, text []byte) error {
	head := w.Header()
	head.Set("Content-Type", media)
	head.Set("Cache-Control", forFiveMinutes)
	head.Set("Access-Control-Allow-Origin", "*")
	w.Write(text) // a failure means that the client left
	return nil
}
