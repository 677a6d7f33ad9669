package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// result is the answer of a tool.
type result struct {
	value any      // an object of the contract
	line  string   // for a person; empty: none
	nudge string   // what should be done next; empty: none
	meta  mcp.Meta // for the card; nil: none
	// shorter returns the value without the part that may be too large for an answer. nil: the value always fits.
	shorter func() (any, error)
	// ask is a question to the person that replaces the answer; nil: none.
	ask *question
}

// answer returns the result in the form of the protocol. The text repeats the structured content, because some clients
// pass on the text only.
func (r result) answer() (*mcp.CallToolResult, error) {
	if r.ask != nil {
		return r.ask.result(), nil
	}
	out, size, err := r.encode(r.value)
	if err != nil {
		return nil, err
	}
	if size <= transport.MaxAnswer-resultFrame || r.shorter == nil {
		return out, nil
	}
	shorter, err := r.shorter()
	if err != nil {
		return nil, err
	}
	out, _, err = r.encode(shorter)
	return out, err
}

// resultFrame is an upper bound for what surrounds a result in its answer.
const resultFrame = 4 << 10

// encode returns the result and its size within the answer of a Lambda function.
func (r result) encode(value any) (*mcp.CallToolResult, int, error) {
	body, err := encodeLine(value)
	if err != nil {
		return nil, 0, err
	}
	out := &mcp.CallToolResult{Meta: r.meta, StructuredContent: json.RawMessage(body)}
	texts := slices.DeleteFunc([]string{string(body), r.line, r.nudge}, func(t string) bool { return t == "" })
	for _, t := range texts {
		out.Content = append(out.Content, &mcp.TextContent{Text: t})
	}
	whole, err := contract.Encode(struct {
		Texts []string
		Value json.RawMessage
	}{texts, body})
	size, _ := limits.FunctionBody(whole)
	return out, size, err
}

// encodeLine encodes a value without a line feed at the end.
func encodeLine(value any) ([]byte, error) {
	body, err := contract.Encode(value)
	return bytes.TrimSuffix(body, []byte("\n")), err
}

// problem is the answer of a tool that fails.
type problem struct {
	Error problemFacts `json:"error"`
}

type problemFacts struct {
	contract.Problem
	RetryAfter int `json:"retry_after_seconds,omitempty"`
}

// failure returns the result of a tool that failed. The model sees its message and can act on it. A tool with an output
// schema omits the structured content, because the TypeScript SDK checks that of failures against the schema too, and
// shows the mismatch instead of the message.
func (t *tool) failure(ctx context.Context, err error) *mcp.CallToolResult {
	f := fault.Of(web.AsUnavailable(err))
	web.Failed(ctx, f.Code, err)
	body, _ := encodeLine(problem{factsOf(ctx, f)}) // strings and numbers always marshal
	out := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}}
	if t.output == nil {
		out.StructuredContent = json.RawMessage(body)
	}
	return out
}

// factsOf returns what the caller learns of a failure.
func factsOf(ctx context.Context, f *fault.Fault) problemFacts {
	return problemFacts{
		Problem:    contract.Problem{Code: string(f.Code), Message: f.Message, RequestID: web.RequestID(ctx)},
		RetryAfter: int(math.Ceil(f.RetryAfter.Seconds())),
	}
}

// errPanic is the failure of a tool that panicked.
var errPanic = errors.New("a tool panicked")

// soon is how long before an artifact ends its results say so.
const soon = 24 * time.Hour
