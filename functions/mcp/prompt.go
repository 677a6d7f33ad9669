package mcp

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
)

// maxPromptRunes is the longest argument of a prompt.
const maxPromptRunes = 2000

// addPrompts adds the prompt publish-report.
func (h *Host) addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{
		Name:        "publish-report",
		Title:       "Publish a report",
		Description: "Write a report on a topic, publish it as a private artifact and give the person the link.",
		Arguments: []*mcp.PromptArgument{
			{
				Name:        "topic",
				Title:       "Topic",
				Description: "What the report is about",
				Required:    true,
			},
			{Name: "audience", Title: "Audience", Description: "Who will read it, and what they know already"},
		},
	}, reportPrompt)
}

// reportPrompt returns the text of publish-report. It takes arguments as they are, because they are the person's own
// words to their own model.
func reportPrompt(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	topic := strings.TrimSpace(r.Params.Arguments["topic"])
	audience := strings.TrimSpace(r.Params.Arguments["audience"])
	switch {
	case topic == "":
		return nil, badArgument("topic is missing: name what the report is about")
	case utf8.RuneCountInString(topic) > maxPromptRunes, utf8.RuneCountInString(audience) > maxPromptRunes:
		return nil, badArgument(fmt.Sprintf(
			"an argument has at most %d characters; say the rest in the chat", maxPromptRunes))
	}
	if audience == "" {
		audience = "readers who know the field but not this work"
	}
	return &mcp.GetPromptResult{
		Description: "Write a report and publish it",
		Messages: []*mcp.PromptMessage{{
			Role:    "user",
			Content: &mcp.TextContent{Text: "Topic: " + topic + "\nAudience: " + audience + "\n\n" + reportSteps},
		}},
	}, nil
}

// reportSteps tell a model how to write and publish a report.
//
//go:embed assets/report.md
var reportSteps string

func badArgument(message string) error {
	return &jsonrpc.Error{Code: transport.CodeInvalidParams, Message: message}
}
