package mcp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
)

func TestThePromptAsksForAPublishedReport(t *testing.T) {
	client := newEnv(t).client(t, "", nil)
	list, err := client.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 1 {
		t.Fatalf("%v, %+v", err, list)
	}
	p := list.Prompts[0]
	if p.Name != "publish-report" || len(p.Arguments) != 2 || !p.Arguments[0].Required || p.Arguments[1].Required {
		t.Errorf("%+v, want one required and one optional argument", p)
	}
	for name, c := range map[string]struct {
		arguments map[string]string
		want      []string
	}{
		"a topic": {
			map[string]string{"topic": " seals <b>\n"},
			[]string{"Topic: seals <b>\n", "Audience: readers who know the field"},
		},
		"an audience too": {
			map[string]string{"topic": "seals", "audience": "children"},
			[]string{"Topic: seals\n", "Audience: children\n"},
		},
	} {
		out, err := client.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: c.arguments})
		if err != nil || len(out.Messages) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		text, _ := out.Messages[0].Content.(*mcp.TextContent)
		for _, want := range append(c.want, "publish_artifact", "private_url") {
			if out.Messages[0].Role != "user" || !strings.Contains(text.Text, want) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
	}
}

func TestThePromptRefusesWhatItCannotUse(t *testing.T) {
	e := newEnv(t)
	long := strings.Repeat("é", maxPromptRunes+1)
	for name, params := range map[string]map[string]any{
		"no topic":        {"name": "publish-report"},
		"an empty topic":  {"name": "publish-report", "arguments": map[string]any{"topic": " \n"}},
		"a long topic":    {"name": "publish-report", "arguments": map[string]any{"topic": long}},
		"a long audience": {"name": "publish-report", "arguments": map[string]any{"topic": "x", "audience": long}},
		"an unknown name": {"name": "publish", "arguments": map[string]any{"topic": "x"}},
	} {
		for generation, ask := range generations {
			a := ask(e, t, "prompts/get", params)
			if a.Error == nil || a.Status != http.StatusBadRequest || a.Error.Code != transport.CodeInvalidParams {
				t.Errorf("%s, %s: HTTP %d %s", name, generation, a.Status, a.Body)
			}
		}
	}
	// The SDK gives its own codes to arguments of a wrong type.
	for _, arguments := range []any{"x", 5, map[string]any{"topic": 5}} {
		for generation, ask := range generations {
			a := ask(e, t, "prompts/get", map[string]any{"name": "publish-report", "arguments": arguments})
			if a.Error == nil || a.Status != http.StatusBadRequest {
				t.Errorf("%v, %s: HTTP %d %s", arguments, generation, a.Status, a.Body)
			}
		}
	}
}
