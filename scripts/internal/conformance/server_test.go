//go:build conformance

package conformance

import (
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
)

// fixture has what the scenarios of the suite expect of a server and this service does not offer.
//
//go:embed fixture.json
var fixture []byte

// answer is what a tool or prompt of the fixture answers where its conditions hold.
type answer struct {
	Answered []string // questions that the client has answered
	State    string   // that the client sends back; empty: any
	Declared []string // capabilities of the client

	Result json.RawMessage
	Error  *jsonrpc.Error
}

// asked is what a call says about its client.
type asked struct {
	responses mcp.InputResponseMap
	state     string
	client    *mcp.ClientCapabilities
}

// choose returns the first answer whose conditions hold, with {name} replaced by the argument of that name.
func choose(answers []answer, q asked, arguments map[string]string) (json.RawMessage, error) {
	declared := map[string]json.RawMessage{}
	if text, err := json.Marshal(q.client); err != nil || json.Unmarshal(text, &declared) != nil {
		return nil, err
	}
	at := slices.IndexFunc(answers, func(a answer) bool {
		return (a.State == "" || a.State == q.state) && allIn(a.Answered, q.responses) && allIn(a.Declared, declared)
	})
	if at < 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the fixture has no answer to this"}
	}
	if answers[at].Error != nil {
		return nil, answers[at].Error
	}
	var replaced []string
	for name, value := range arguments {
		quoted, _ := json.Marshal(value) // strings always marshal
		replaced = append(replaced, "{"+name+"}", strings.Trim(string(quoted), `"`))
	}
	return json.RawMessage(strings.NewReplacer(replaced...).Replace(string(answers[at].Result))), nil
}

func allIn[T any](names []string, m map[string]T) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, there := m[name]
		return !there
	})
}

// offer is what the fixture offers.
type offer struct {
	Tools []struct {
		mcp.Tool
		Answers []answer
	}
	Prompts []struct {
		mcp.Prompt
		Answers []answer
	}
	Resources []struct {
		mcp.Resource
		Contents mcp.ResourceContents
	}
	Templates []struct {
		mcp.ResourceTemplate
		Contents mcp.ResourceContents
	}
}

func (o *offer) addTo(s *mcp.Server) {
	for _, t := range o.Tools {
		s.AddTool(&t.Tool, tool(t.Answers))
	}
	for _, p := range o.Prompts {
		s.AddPrompt(&p.Prompt, prompt(p.Answers))
	}
	for _, r := range o.Resources {
		s.AddResource(&r.Resource, resource(r.Contents))
	}
	for _, t := range o.Templates {
		s.AddResourceTemplate(&t.ResourceTemplate, resource(t.Contents))
	}
}

// newFixture makes the server of the fixture. Only one that streams tells clients of changes.
func newFixture(streams bool) (*mcp.Server, error) {
	var o offer
	if err := json.Unmarshal(fixture, &o); err != nil {
		return nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler: complete,
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{ListChanged: streams},
			Prompts:   &mcp.PromptCapabilities{ListChanged: streams},
			Resources: &mcp.ResourceCapabilities{},
		},
	})
	o.addTo(s)
	addEvents(s)
	return s, nil
}

func tool(answers []answer) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := choose(answers, asked{r.Params.InputResponses, r.Params.RequestState, r.ClientCapabilities()}, nil)
		if err != nil {
			return nil, err
		}
		out := new(mcp.CallToolResult)
		return out, json.Unmarshal(text, out)
	}
}

func prompt(answers []answer) mcp.PromptHandler {
	return func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		q := asked{r.Params.InputResponses, r.Params.RequestState, r.ClientCapabilities()}
		text, err := choose(answers, q, r.Params.Arguments)
		if err != nil {
			return nil, err
		}
		out := new(mcp.GetPromptResult)
		return out, json.Unmarshal(text, out)
	}
}

// resource answers contents, in which {id} is replaced by the part of the address that stands there in the template.
func resource(contents mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		out := contents
		out.URI = r.Params.URI
		id := strings.TrimSuffix(strings.TrimPrefix(out.URI, "test://template/"), "/data")
		out.Text = strings.ReplaceAll(out.Text, "{id}", id)
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&out}}, nil
	}
}

func complete(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
}

// fixtureMethods are those that the server of the fixture has, apart from streams.
var fixtureMethods = []string{
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
	"completion/complete",
}

// newHandler serves the fixture behind the front handler of the host, with streams, or with answers in JSON as the host
// does.
func newHandler(streams bool) (http.Handler, error) {
	server, err := newFixture(streams)
	if err != nil {
		return nil, err
	}
	h := &transport.Handler{
		SDK: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
			Stateless:    true,
			JSONResponse: !streams,
		}),
		Methods: fixtureMethods,
		MaxBody: 1 << 20,
	}
	if streams {
		h.Methods = append(slices.Clone(h.Methods), "subscriptions/listen")
	}
	return h, nil
}
