package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// appClient is the id of an OAuth client in grants that no client asked for.
const appClient id.Client = "oc_journey"

// newFunctions starts a deployment whose hosts run as Lambda functions behind local gateways.
func newFunctions(t testing.TB) *harness.BackendEnv {
	t.Helper()
	p := harness.NewBackendEnv(t, harness.Unlimited, func(o *stack.Options) {
		o.Lambda, o.Middleware = true, nil
		o.Now = time.Now
	})
	if !p.Options.Lambda {
		t.Fatal("the hosts run in this process")
	}
	return p
}

// inBothWays runs a test in one process and as functions.
func inBothWays(t *testing.T, test func(*testing.T, *harness.BackendEnv)) {
	t.Parallel()
	t.Run("in one process", func(t *testing.T) { test(t, harness.NewBackendEnv(t, harness.Unlimited)) })
	t.Run("as functions", func(t *testing.T) { test(t, newFunctions(t)) })
}

// rawClient sends JSON-RPC messages as they are.
type rawClient struct {
	*harness.Env
	token string
	last  int
}

// connected is a client of a new member.
func connected(t testing.TB, p *harness.BackendEnv) (*rawClient, *harness.Member) {
	t.Helper()
	who := p.NewMember(t)
	return &rawClient{Env: p.Env, token: p.GrantTo(t, who, appClient, p.Origins.MCP).Key}, who
}

// reply is what a message is answered.
type reply struct {
	Status int
	Header http.Header
	Body   []byte
	Result json.RawMessage
	Error  *rpcError
	ID     json.RawMessage
}

type rpcError struct {
	Code    int
	Message string
	Data    struct {
		Code      string
		RequestID string `json:"request_id"`
	}
}

// send posts a body.
func (c *rawClient) send(t testing.TB, body string, headers ...string) (out reply) {
	t.Helper()
	r := harness.Must(http.NewRequestWithContext(ctx, "POST", c.Origins.MCP+"/", bytes.NewReader([]byte(body))))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Del(headers[i]); headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	a := harness.Must(c.Anyone.HTTP.Do(r))(t)
	defer a.Body.Close()
	out = reply{Status: a.StatusCode, Header: a.Header, Body: harness.Must(io.ReadAll(a.Body))(t)}
	if len(out.Body) > 0 && json.Unmarshal(out.Body, &out) != nil && out.Status < 500 {
		t.Errorf("the answer is no JSON: %d %.200s", out.Status, out.Body)
	}
	return out
}

// rpc sends a request of an older revision.
func (c *rawClient) rpc(t testing.TB, method string, params any, headers ...string) reply {
	t.Helper()
	c.last++
	m := map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	return c.send(t, string(harness.Must(contract.Encode(m))(t)), headers...)
}

// toolReply is the result of a tool.
type toolReply struct {
	Content []struct{ Type, Text string }
	Value   json.RawMessage `json:"structuredContent"`
	IsError bool            `json:"isError"`
}

// code is the code of a failure.
func (r toolReply) code(t testing.TB) fault.Code {
	t.Helper()
	var p struct {
		Error struct {
			Code      fault.Code
			Message   string
			RequestID string `json:"request_id"`
		}
	}
	harness.NoError(t, json.Unmarshal(r.Value, &p))
	if r.IsError && (p.Error.Message == "" || p.Error.RequestID == "" || r.Content[0].Text != string(r.Value)) {
		t.Errorf("the failure is %s", r.Value)
	}
	return p.Error.Code
}

// try calls a tool.
func (c *rawClient) try(t testing.TB, tool string, args any) (out toolReply) {
	t.Helper()
	a := c.rpc(t, "tools/call", map[string]any{"name": tool, "arguments": args})
	if a.Status != http.StatusOK || a.Error != nil {
		t.Fatalf("%s answers %d %.300s", tool, a.Status, a.Body)
	}
	harness.NoError(t, json.Unmarshal(a.Result, &out))
	if out.IsError && out.Value == nil { // the tool has an output schema
		out.Value = json.RawMessage(out.Content[0].Text)
	}
	return out
}

// call calls a tool that succeeds and unpacks its result.
func call[T any](t testing.TB, c *rawClient, tool string, args any) (out T) {
	t.Helper()
	r := c.try(t, tool, args)
	if r.IsError {
		t.Fatalf("%s: %s", tool, r.Value)
	}
	harness.NoError(t, json.Unmarshal(r.Value, &out))
	if r.Content[0].Text != string(r.Value) {
		t.Errorf("%s says %q as text and %s as structure", tool, r.Content[0].Text, r.Value)
	}
	return out
}

// refused calls a tool that fails with a code.
func (c *rawClient) refused(t testing.TB, code fault.Code, tool string, args any) {
	t.Helper()
	if r := c.try(t, tool, args); !r.IsError || r.code(t) != code {
		t.Errorf("%s %.200v: %.300s, want %s", tool, args, r.Value, code)
	}
}

// page publishes a text.
func (c *rawClient) page(t testing.TB, title, body string) contract.MCPPublished {
	t.Helper()
	return call[contract.MCPPublished](t, c, "publish_artifact",
		map[string]any{"title": title, "body": body, "render_mode": "html"})
}

// bearer adds a token to requests.
type bearer struct {
	http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// session is a client of the SDK with a token, of a revision of the protocol.
func (c *rawClient) session(t testing.TB, revision string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "journey", Version: "1"}, nil)
	s := harness.Must(client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   c.Origins.MCP,
		HTTPClient: &http.Client{Transport: bearer{c.Anyone.HTTP.Transport, c.token}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: revision}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// opened opens a session of a client that gets its tokens from a handler. The session ends with the test.
func opened(t *testing.T, d *harness.Env, handler auth.OAuthHandler) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "robot", Version: "1"}, nil)
	s := harness.Must(client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:     d.Origins.MCP,
		HTTPClient:   d.Anyone.HTTP,
		OAuthHandler: handler,
	}, nil))(t)
	t.Cleanup(func() { s.Close() })
	return s
}
