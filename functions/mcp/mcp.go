// Package mcp is the host that serves the Model Context Protocol. With its tools, agents without a shell publish, edit,
// read and share artifacts on behalf of the member who let their client in.
package mcp

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/policy"
)

// Host serves the MCP host with these services.
type Host struct {
	Surface *web.Server
	Origins address.Origins
	// Server describes the authorization server that issues tokens for this host.
	Server contract.ServerMetadata
	// Resource describes this host as a protected resource.
	Resource contract.ResourceMetadata

	Members Members
	Limiter Limiter
	// Confirmations are the keys that sign questions to a person, so that no client can invent the answer to another
	// question.
	Confirmations keyring.Derived
	Now           func() time.Time
	// Name is what the deployment calls itself; empty: Vitrine.
	Name string

	Limits *limits.Limits
	Loads  media.Sources // what pages may load from other hosts
	Manual manual.Manual // teaches agents to use this deployment

	Account   Account
	Artifacts Artifacts
	Edits     Edits
	Uploads   Uploads
	Views     Views
	Links     Links
	Threads   Threads
	Waits     Waits
	// Comparisons compares revisions.
	Comparisons Comparisons
}

func (h *Host) name() string { return cmp.Or(h.Name, policy.DefaultName) }

// Handler serves the host.
func (h *Host) Handler() http.Handler { return h.Surface.Handler(h.routes()...) }

// endpoint returns the handler for POST.
func (h *Host) endpoint() *transport.Handler {
	tools := h.tools()
	return &transport.Handler{
		SDK:       h.sdk(tools),
		Methods:   methods,
		Own:       skillMethods(h.Manual),
		Screen:    h.screen,
		Authorize: h.authorize(tools),
		MaxBody:   limits.MCPBody,
	}
}

// methods are the methods of the protocol that this host supports.
var methods = []string{
	"initialize",
	"ping",
	"server/discover",
	"tools/list",
	"tools/call",
	"resources/list",
	"resources/templates/list",
	"resources/read",
	"prompts/list",
	"prompts/get",
}

// Members authenticates members by the access tokens of their clients.
type Members interface {
	// Authenticate returns the member of a token, with what the request is about. It fails with not_authenticated or
	// database_unavailable.
	Authenticate(ctx context.Context, bearer string, w access.Request, requestID string) (access.Authenticated, error)
}
