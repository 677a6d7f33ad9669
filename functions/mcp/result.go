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

// result is what a tool answers.
type result struct {
	value any      // an object of the contract
	line  string   // for a person; empty: none
	nudge string   // what waits to be done; empty: none
	meta  mcp.Meta // for the card; nil: none
	// shorter is the value without what may be too large for an answer. nil: it always fits.
	shorter func() (any, error)
	// ask replaces the answer by a question to the person. nil: none.
	ask *question
}

// answer makes a result as the protocol has it. The text says the same as the structured content, because some clients
// pass on the text alone.
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

// resultFrame is more than what surrounds a result in its answer.
const resultFrame = 4 << 10

// encode makes a result and computes what it takes in the answer of a function.
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

// encodeLine encodes a value without the line feed after it.
func encodeLine(value any) ([]byte, error) {
	body, err := contract.Encode(value)
	return bytes.TrimSuffix(body, []byte("\n")), err
}

// problem is what a tool answers when it fails.
type problem struct {
	Error problemFacts `json:"error"`
}

type problemFacts struct {
	contract.Problem
	RetryAfter int `json:"retry_after_seconds,omitempty"`
}

// failure makes the result of a tool that failed. The model sees it and can do what the message says. A tool that tells
// what it answers has no structured content then, because the TypeScript SDK holds that of failures to the same schema
// and shows the mismatch in place of the message.
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

// factsOf is what a caller learns of a failure.
func factsOf(ctx context.Context, f *fault.Fault) problemFacts {
	return problemFacts{
		Problem:    contract.Problem{Code: string(f.Code), Message: f.Message, RequestID: web.RequestID(ctx)},
		RetryAfter: int(math.Ceil(f.RetryAfter.Seconds())),
	}
}

// errPanic is the failure of a tool that panicked.
var errPanic = errors.New("a tool panicked")

// soon is how long before the end of an artifact its results say so.
const soon = 24 * time.Hour
