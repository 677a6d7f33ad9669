package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/shared/entry/access"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// call is one authorized call: the member, the client, and what was read with the token.
type call struct {
	access.Authenticated
	invocation // zero if no tool is called

	asked   *mcp.CallToolRequest // the request of the SDK
	limited func() error         // waits for the limits
	// again authenticates the call anew.
	again func(context.Context) (access.Authenticated, error)
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the call of a context that authorize made.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// Limiter limits how often members call.
type Limiter interface {
	// Actor counts a request. It returns rate_limited_actor or rate_limited_workspace if that is one too many.
	Actor(ctx context.Context, w id.Workspace, subject string) error
}

// begin returns a call. It starts to count the call if counts is set, which is so if it costs more than the check of
// its token.
func (h *Host) begin(ctx context.Context, found access.Authenticated, v invocation, counts bool) *call {
	if !counts {
		return &call{Authenticated: found, invocation: v, limited: func() error { return nil }}
	}
	return &call{
		Authenticated: found,
		invocation:    v,
		limited: async.Start(func() error {
			return h.Limiter.Actor(ctx, found.Actor.Workspace.ID, found.Actor.Subject())
		}),
	}
}

// permit waits until the limits are counted and returns their refusal. Tools call it before they change anything.
func (c *call) permit() error { return c.limited() }

// command returns the command that the tool runs.
func (c *call) command() idempotency.Command {
	return idempotency.Command{Key: c.wants.Command(c.Actor.Subject()), Fingerprint: c.print}
}

// target returns the artifact that the tool is about, as it was read with the token.
func (c *call) target(named id.Artifact) artifact.Target {
	return artifact.Target{
		Command:     c.command(),
		Record:      c.Record,
		RequestedID: named,
		Artifact:    c.Artifact,
	}
}
