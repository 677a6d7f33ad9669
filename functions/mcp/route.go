package mcp

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
)

const (
	resourcePath = "/.well-known/oauth-protected-resource"
	serverPath   = "/.well-known/oauth-authorization-server"
	openIDPath   = "/.well-known/openid-configuration"

	forFiveMinutes = "public, max-age=300"
	jsonMedia      = "application/json"
)

func (h *Host) routes() []web.Route {
	endpoint := h.endpoint()
	routes := []web.Route{
		web.Public(web.Operation{
			ID:           "mcp.rootMetadata",
			Method:       "GET",
			Path:         "/",
			Summary:      "What this host is and how to connect to it",
			CacheControl: forFiveMinutes,
			AnyOrigin:    true,
			Page:         refuseStream,
			PageType:     "text/event-stream",
		}, h.describe),
		web.Plain[struct{}](web.Operation{
			ID:       "mcp.streamableHttpPost",
			Method:   "POST",
			Path:     "/",
			Summary:  "The Model Context Protocol: one JSON-RPC message",
			Security: web.MCPToken,
			Answers: append([]web.Answer{
				{Status: http.StatusAccepted, Description: "a notification was taken"},
			}, messages(map[int]string{
				http.StatusOK:                    "the result",
				http.StatusBadRequest:            "a message that is refused",
				http.StatusUnauthorized:          "a live token is missing",
				http.StatusForbidden:             "the token lacks a scope, or a page of another origin asks",
				http.StatusNotFound:              "an unknown method",
				http.StatusRequestEntityTooLarge: "a message that is too large",
				http.StatusServiceUnavailable:    "the database does not answer",
			})...),
		}, func(w http.ResponseWriter, r *http.Request) error {
			endpoint.ServeHTTP(w, r)
			return nil
		}),
		web.Plain[struct{}](web.Operation{
			ID:      "mcp.health",
			Method:  "GET",
			Path:    "/healthz",
			Summary: "Whether the host answers",
			Answers: []web.Answer{{
				Status:      http.StatusOK,
				Description: "it does",
				MediaType:   jsonMedia,
				Object:      true,
			}},
		}, health),
		web.Document(web.Operation{
			ID:      "mcp.openApiDocument",
			Method:  "GET",
			Path:    "/openapi.json",
			Summary: "This document",
			Answers: []web.Answer{{
				Status:      http.StatusOK,
				Description: "it",
				MediaType:   jsonMedia,
				Object:      true,
			}},
		}),
	}
	routes = append(routes, metadata("mcp.oauthProtectedResource", resourcePath, "This host as a protected resource (RFC 9728)",
		h.Resource)...)
	routes = append(routes, metadata("mcp.oauthAuthorizationServer", serverPath, "Its authorization server (RFC 8414)",
		h.Server)...)
	return append(routes, metadata("mcp.openIdConfiguration", openIDPath, "The same by the name that other clients ask for",
		h.Server)...)
}

// messages documents answers that are JSON-RPC messages.
func messages(by map[int]string) (out []web.Answer) {
	for _, status := range slices.Sorted(maps.Keys(by)) {
		out = append(out, web.Answer{
			Status:      status,
			Description: by[status],
			MediaType:   jsonMedia,
			Object:      true,
		})
	}
	return out
}

// metadata returns the routes of a document: its own path, and every path below it, because clients append the path of
// the resource.
func metadata[T any](id, path, summary string, document T) []web.Route {
	op := web.Operation{
		ID:           id,
		Method:       "GET",
		Path:         path,
		Summary:      summary,
		CacheControl: forFiveMinutes,
		AnyOrigin:    true,
	}
	below := op
	below.ID += "Below"
	below.Path += "/{path...}"
	below.Hidden = true
	return []web.Route{
		web.Public(op, func(context.Context, *struct{}) (T, error) { return document, nil }),
		web.Public(below, func(context.Context, *belowInput) (T, error) { return document, nil }),
	}
}

type belowInput struct {
	Path string `path:"path"`
}

func (h *Host) describe(context.Context, *struct{}) (contract.MCPDescription, error) {
	here := h.Origins.MCP
	return contract.MCPDescription{
		Name:                h.name(),
		Transport:           "streamable-http",
		Endpoint:            here,
		Use:                 "Add this address to an MCP client. It signs you in by OAuth in your browser; API keys are not accepted.",
		Post:                "JSON-RPC 2.0 messages of the Model Context Protocol, one a request",
		ResourceMetadata:    here + resourcePath,
		AuthorizationServer: here + serverPath,
		Docs:                h.Origins.API + "/auth.md",
	}, nil
}

// refuseStream refuses clients that want to listen for messages of the server, because it sends none.
func refuseStream(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Allow", "GET, POST")
	w.WriteHeader(http.StatusMethodNotAllowed)
	return nil
}

func health(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", jsonMedia)
	w.Header().Set("Cache-Control", "no-store")
	w.Write([]byte(`{"ok":true,"app":"mcp"}`)) // a failure means that the client left
	return nil
}
