package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

// delicate are the calls that a person is asked about. done is told when one of them takes effect.
func (e *env) delicate(done func()) map[string]map[string]any {
	e.artifacts.delete = func(artifact.Target) (time.Time, error) {
		done()
		return noon, nil
	}
	e.links.setVisibility = func(_ sharing.Target, word string) (sharing.Visibility, error) {
		done()
		return sharing.Visibility{Artifact: e.artifact.ID, Is: word}, nil
	}
	e.links.create = func(sharing.Target, sharing.Request) (link.Record, error) {
		done()
		return link.Record{}, nil
	}
	e.links.address = func(id.Link) (sharing.Address, error) { return sharing.Address{}, nil }
	return map[string]map[string]any{
		"delete_artifact":      {"artifact_id": e.artifact.ID},
		"set_visibility":       {"artifact_id": e.artifact.ID, "visibility": "unlisted"},
		"create_revision_link": {"artifact_id": e.artifact.ID, "revision_id": e.artifact.Current},
	}
}

func TestAPersonIsAskedWhereTheClientCan(t *testing.T) {
	for answer, want := range map[string]struct {
		action  string
		content map[string]any
		done    int
	}{
		"yes":            {"accept", map[string]any{"confirm": true}, 1},
		"yes, unchecked": {"accept", map[string]any{"confirm": false}, 0},
		"no":             {"decline", nil, 0},
		"closed":         {"cancel", nil, 0},
	} {
		t.Run(answer, func(t *testing.T) {
			e := newEnv(t)
			done, asked := 0, []string{}
			calls := e.delicate(func() { done++ })
			c := e.client(t, "", &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = append(asked, r.Params.Message)
					return &mcp.ElicitResult{Action: want.action, Content: want.content}, nil
				},
			})
			for tool, args := range calls {
				done, asked = 0, nil
				r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
				if err != nil {
					t.Fatal(err)
				}
				if done != want.done || len(asked) != 1 || !strings.Contains(asked[0], e.artifact.Title) {
					t.Errorf("%s: asked %q, done %d times", tool, asked, done)
				}
				if r.IsError != (want.done == 0) {
					t.Errorf("%s answers %v", tool, r.StructuredContent)
				}
			}
		})
	}
}

func TestNobodyIsAskedWhereTheClientCannot(t *testing.T) {
	e := newEnv(t)
	done := 0
	calls := e.delicate(func() { done++ })
	for _, version := range []string{"", "2025-11-25", "2025-06-18"} {
		c := e.client(t, version, nil)
		for tool, args := range calls {
			done = 0
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
			if err != nil || r.IsError || done != 1 {
				t.Errorf("%s in %q: %v, done %d times", tool, version, err, done)
			}
		}
	}
}

func TestNobodyIsAskedAboutWhatChangesNothing(t *testing.T) {
	e := newEnv(t)
	calls := e.delicate(func() {})
	calls["set_visibility"]["visibility"] = "private"
	c := e.client(t, "", &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			t.Error("the person is asked")
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	args := calls["set_visibility"]
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "set_visibility", Arguments: args})
	if err != nil || r.IsError {
		t.Errorf("making it private answers %v %v", r, err)
	}
	e.artifact.Status = artifact.Deleted
	e.artifacts.delete = func(artifact.Target) (time.Time, error) {
		return time.Time{}, artifact.NotFound()
	}
	args = calls["delete_artifact"]
	r, err = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete_artifact", Arguments: args})
	if err != nil || !r.IsError {
		t.Errorf("deleting it twice answers %v %v", r, err)
	}
}

// confirmed answers a question as a client does, with any state.
func (e *env) confirmed(t *testing.T, tool string, args map[string]any, state string) rpcAnswer {
	t.Helper()
	capable := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}},
	}
	params := map[string]any{"name": tool, "arguments": args, "_meta": capable}
	if state != "" {
		params["requestState"] = state
		params["inputResponses"] = map[string]any{
			confirmation: map[string]any{"action": "accept", "content": map[string]any{"confirm": true}},
		}
	}
	return e.post(t, message(t, "tools/call", params),
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

func TestAnAnswerIsThatToItsQuestion(t *testing.T) {
	e := newEnv(t)
	done := 0
	calls := e.delicate(func() { done++ })
	args := calls["delete_artifact"]
	asked := e.confirmed(t, "delete_artifact", args, "")
	question := decoded[struct {
		ResultType   string
		RequestState string
	}](t, asked.Result)
	if asked.Status != http.StatusOK || question.ResultType != "input_required" || question.RequestState == "" ||
		done != 0 {
		t.Fatalf("the first call answers %d %s", asked.Status, asked.Body)
	}
	other := *e.artifact
	other.ID = id.NewArtifact()
	e.members.artifacts = append(e.members.artifacts, &other)
	now := noon
	e.Host.Now = func() time.Time { return now }
	refused := func(name, tool string, args map[string]any, state string) {
		t.Helper()
		a := e.confirmed(t, tool, args, state)
		r := decoded[struct {
			IsError bool
			Value   json.RawMessage `json:"structuredContent"`
		}](t, a.Result)
		if !r.IsError || failed(t, r.Value).Code != string(fault.InvalidRequest) || done != 0 {
			t.Errorf("%s: %s, done %d times", name, a.Body, done)
		}
	}
	state := question.RequestState
	refused("another artifact", "delete_artifact", map[string]any{"artifact_id": other.ID}, state)
	refused("another tool", "set_visibility", calls["set_visibility"], state)
	refused("no state that was signed", "delete_artifact", args, strings.Repeat("A", len(state)))
	refused("a state that was changed", "delete_artifact", args, state[:len(state)-2]+"AA")
	refused("half a state", "delete_artifact", args, state[:20])
	member := e.members.actor.Member
	e.members.actor.Member = id.NewMember()
	refused("another member", "delete_artifact", args, state)
	e.members.actor.Member = member
	now = noon.Add(confirmationLife)
	refused("too late", "delete_artifact", args, state)
	now = noon.Add(confirmationLife - time.Second)
	if a := e.confirmed(t, "delete_artifact", args, state); done != 1 {
		t.Errorf("in time it answers %s", a.Body)
	}
}
