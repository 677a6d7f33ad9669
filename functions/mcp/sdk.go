package mcp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/manual"
)

// sdk returns the handler of the SDK with everything that this host offers.
func (h *Host) sdk(tools toolset) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{
		Name:       "vitrine",
		Title:      h.name(),
		Version:    contract.Release,
		WebsiteURL: h.Origins.App,
	}, &mcp.ServerOptions{
		Instructions: strings.NewReplacer("{{text}}", manual.MostText(h.Limits), "{{name}}", h.name()).Replace(instructions),
		Logger:       slog.New(slog.NewTextHandler(io.Discard, nil)), // discarded, because its lines may quote clients
		Capabilities: &mcp.ServerCapabilities{
			Tools:      &mcp.ToolCapabilities{},
			Resources:  &mcp.ResourceCapabilities{},
			Prompts:    &mcp.PromptCapabilities{},
			Extensions: extensions,
		},
		SetCacheable: cacheable,
		PageSize:     len(tools) + 1,
	})
	for _, t := range tools {
		server.AddTool(t.described(), h.handler(t))
	}
	h.addResources(server)
	h.addPrompts(server)
	server.AddReceivingMiddleware(negotiate, inOrder(tools), resourceReads)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:                    true,
		JSONResponse:                 true,
		DisableLocalhostProtection:   true, // web.Server checks host names, and the transport origins
		MaxRequestBodyBytes:          -1,   // the transport has already read and bounded the body
		PropagateRequestCancellation: true,
	})
}

// described returns the tool as the list of tools shows it.
func (t *tool) described() *mcp.Tool {
	out := &mcp.Tool{
		Name:        t.name,
		Title:       t.title,
		Description: t.description,
		InputSchema: t.input,
		Annotations: t.effect.annotations(t.title),
	}
	if t.output != nil {
		out.OutputSchema = t.output
	}
	if t.card {
		out.Meta = mcp.Meta{"ui": map[string]any{"resourceUri": cardURI}}
	}
	return out
}

// handler returns the handler that runs a tool. A panic ends the answer and not the process. A failure of a tool is a
// result, and not an error of the protocol.
func (h *Host) handler(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (out *mcp.CallToolResult, err error) {
		defer func() {
			if v := recover(); v != nil {
				web.Annotate(ctx, slog.String("stack", string(debug.Stack())))
				out, err = t.failure(ctx, fmt.Errorf("%w: %v", errPanic, v)), nil
			}
		}()
		c := callOf(ctx)
		if c == nil {
			return t.failure(ctx, fault.New(fault.Internal, "the call was not authorized")), nil
		}
		c.asked = r
		res, err := t.run(ctx, c, r.Params.Arguments)
		if refused := c.permit(); refused != nil {
			err = refused
		}
		if err == nil {
			out, err = res.answer()
		}
		if err != nil {
			return t.failure(ctx, err), nil
		}
		return out, nil
	}
}

// negotiate makes initialize answer a revision that this host supports for clients that begin with a handshake.
func negotiate(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, r)
		if out, ok := res.(*mcp.InitializeResult); ok && err == nil {
			asked, _ := r.GetParams().(*mcp.InitializeParams)
			out.ProtocolVersion = transport.Negotiated(asked.ProtocolVersion)
		}
		return res, err
	}
}

// inOrder restores the order of the tools in their list, which the SDK sorts by name.
func inOrder(tools toolset) mcp.Middleware {
	place := map[string]int{}
	for i, t := range tools {
		place[t.name] = i
	}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, r)
			if out, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				slices.SortFunc(out.Tools, func(a, b *mcp.Tool) int { return cmp.Compare(place[a.Name], place[b.Name]) })
			}
			return res, err
		}
	}
}

// listsLive is how long a client may cache a list. A list changes only with a deployment.
const listsLive = time.Hour

// cacheable marks lists as the same for all callers, and what is read as the caller's own.
func cacheable(_ context.Context, r mcp.Request, c *mcp.Cacheable) {
	if read, ok := r.(*mcp.ReadResourceRequest); ok && !fixedResource(read.Params.URI) {
		c.TTLMs, c.CacheScope = 0, "private"
		return
	}
	c.TTLMs, c.CacheScope = int(listsLive.Milliseconds()), "public"
}
