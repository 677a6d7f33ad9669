//go:build conformance

package conformance

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addEvents adds the tools of the fixture that send notifications.
func addEvents(s *mcp.Server) {
	for name, do := range map[string]func(context.Context, *mcp.CallToolRequest) error{
		"test_tool_with_progress": progress,
		"test_logging_tool":       log,
		"test_trigger_tool_change": func(context.Context, *mcp.CallToolRequest) error {
			s.AddTool(&mcp.Tool{Name: "added", Description: "Does nothing.", InputSchema: noArguments}, event(nothing))
			return nil
		},
		"test_trigger_prompt_change": func(context.Context, *mcp.CallToolRequest) error {
			s.AddPrompt(&mcp.Prompt{Name: "added", Description: "Says nothing."}, prompt(nil))
			return nil
		},
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: "Sends notifications.", InputSchema: noArguments}, event(do))
	}
}

var noArguments = map[string]any{"type": "object"}

// event is a tool that answers when what it does is done.
func event(do func(context.Context, *mcp.CallToolRequest) error) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, do(ctx, r)
	}
}

func nothing(context.Context, *mcp.CallToolRequest) error { return nil }

// log sends a line, which only clients get that have asked for lines.
func log(ctx context.Context, r *mcp.CallToolRequest) error {
	line := &mcp.LoggingMessageParams{Level: "info", Data: "called"} //nolint:staticcheck // the suite still has it
	return r.Session.Log(ctx, line)                                  //nolint:staticcheck // the same
}

// progress reports three times where the client wants to hear of it.
func progress(ctx context.Context, r *mcp.CallToolRequest) error {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	for _, at := range []float64{0, 50, 100} {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100})
		if err != nil {
			return err
		}
	}
	return nil
}
