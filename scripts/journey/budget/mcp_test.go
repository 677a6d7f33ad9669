package budget

import (
	"encoding/json"
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// route is what a route asks of AWS at most: calls and round trips, as the tests beside this one hold them.
type route struct{ calls, trips int }

var (
	createRoute   = route{5, 3}
	reviseRoute   = route{7, 5}
	putRoute      = route{1, 1}
	finalizeRoute = route{6 + linting, 4 + linting}
	publishRoute  = route{4, 3}
	viewRoute     = route{4, 2}
	pinnedRoute   = route{3, 2}
	fileRoute     = route{4, 2}
	listRoute     = route{5, 2} // of a workspace that may have claimed another
	revisionRoute = route{4, 2}
	deleteRoute   = route{5, 4}
	renameRoute   = route{4, 3}
	linkRoute     = route{4, 3}
	mintRoute     = route{5, 3}
	linksRoute    = route{5, 3}
	revokeRoute   = route{5, 4}
	threadsRoute  = route{5, 3}
	answerRoute   = route{6, 5}
	whoamiRoute   = route{4, 3}
)

// toolCosts are the tools with the routes that do the same for an API key. A tool may ask for one call and one round
// trip more than all its routes together, because the check of its token reads the member after the grant.
var toolCosts = []struct {
	tool   string
	routes []route
}{
	{"whoami", []route{whoamiRoute}},
	{"publish_artifact", []route{createRoute, putRoute, finalizeRoute, publishRoute}},
	{"multi_edit", []route{viewRoute, fileRoute, reviseRoute, putRoute, finalizeRoute, publishRoute}},
	{"add_revision", []route{viewRoute, fileRoute, reviseRoute, putRoute, finalizeRoute, publishRoute}},
	{"list_artifacts", []route{listRoute}},
	{"read_artifact", []route{viewRoute}},
	{"read_file", []route{fileRoute}},
	{"list_revisions", []route{revisionRoute}},
	{"diff_revisions", []route{pinnedRoute, pinnedRoute, fileRoute, fileRoute}},
	{"update_display_metadata", []route{renameRoute}},
	{"set_visibility", []route{linkRoute, mintRoute}},
	{"create_revision_link", []route{linkRoute, mintRoute}},
	{"list_access_links", []route{linksRoute}},
	{"revoke_access_link", []route{revokeRoute}},
	{"prepare_upload", []route{createRoute}},
	{"publish_upload", []route{finalizeRoute, publishRoute}},
	{"catch_up", []route{threadsRoute}},
	{"answer_feedback", []route{answerRoute}},
	{"delete_artifact", []route{deleteRoute}},
}

// toolCaller calls tools with the ids that earlier calls gave.
type toolCaller struct {
	*budgetEnv
	who   *wire.Agent
	known struct {
		contract.MCPPublished
		Items   []contract.LinkRow       `json:"items"`
		Threads []contract.ThreadSummary `json:"threads"`
		Session string                   `json:"upload_session_id"`
	}
}

// message sends one message and fails the test for every refusal.
func (c *toolCaller) message(
	t *testing.T, method string, params map[string]any, headers ...string,
) (result json.RawMessage) {
	t.Helper()
	a := harness.Do(t, c.who, "POST", c.Origins.MCP+"/", map[string]any{
		"jsonrpc": "2.0", "id": method, "method": method, "params": params,
	}, append(headers, "Content-Type", "application/json")...)
	var out struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if harness.Decode(t, a, &out); a.Status != http.StatusOK || out.Error != nil {
		t.Fatal(method, a.Status, string(a.Body))
	}
	return out.Result
}

// arguments are those of a tool.
func (c *toolCaller) arguments(tool string) map[string]any {
	k := c.known
	switch tool {
	case "whoami", "list_artifacts":
		return map[string]any{}
	case "publish_artifact":
		return map[string]any{"title": "Tides", "body": "six", "render_mode": "text"}
	case "multi_edit":
		return map[string]any{"artifact_id": k.ArtifactID, "path": "content.txt",
			"edits": []map[string]any{{"old_string": "six", "new_string": "seven"}}}
	case "add_revision":
		return map[string]any{"artifact_id": k.ArtifactID, "body": "eight", "render_mode": "text"}
	case "read_file":
		return map[string]any{"artifact_id": k.ArtifactID, "path": "content.txt"}
	case "update_display_metadata":
		return map[string]any{"artifact_id": k.ArtifactID, "title": "Water"}
	case "set_visibility":
		return map[string]any{"artifact_id": k.ArtifactID, "visibility": "unlisted"}
	case "create_revision_link":
		return map[string]any{"artifact_id": k.ArtifactID, "revision_id": k.RevisionID}
	case "revoke_access_link":
		return map[string]any{"access_link_id": k.Items[0].ID}
	case "answer_feedback":
		return map[string]any{"artifact_id": k.ArtifactID, "thread_id": k.Threads[0].ID, "reply": "Metres"}
	case "prepare_upload":
		return map[string]any{"title": "Empty", "files": []map[string]any{{"path": "a.txt", "size_bytes": 0}}}
	case "publish_upload":
		return map[string]any{"upload_session_id": k.Session}
	}
	return map[string]any{"artifact_id": k.ArtifactID}
}

func TestEveryToolStaysWithinTheSumOfItsRoutes(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	who := p.NewMember(t)
	c := &toolCaller{budgetEnv: l, who: p.GrantTo(t, who, "oc_x", p.Origins.MCP).Agent}
	for _, free := range []string{"ping", "tools/list", "resources/list", "prompts/list"} {
		c.wantWithin(t, free, budget{2, 2, 3, 0}, func() { c.message(t, free, map[string]any{}) })
	}
	const revision = "io.modelcontextprotocol/protocolVersion"
	c.wantWithin(t, "server/discover", budget{2, 2, 3, 0}, func() {
		c.message(t, "server/discover", map[string]any{"_meta": map[string]any{
			revision:                             "2026-07-28",
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "budget", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}}, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
	})
	for _, tt := range toolCosts {
		most := budget{calls: 1, trips: 1, rru: 1000, wru: 1000} // units are those of the services
		for _, r := range tt.routes {
			most.calls, most.trips = most.calls+r.calls, most.trips+r.trips
		}
		if tt.tool == "catch_up" {
			harness.WriteAs(t, who, c.known.ArtifactID, contract.CreateThread{Body: "Which unit?"})
		}
		c.clock.Advance(limits.Default().Actor.Window) // or a permit that an earlier call took counts for this one
		c.wantWithin(t, tt.tool, most, func() {
			result := c.message(t, "tools/call", map[string]any{"name": tt.tool, "arguments": c.arguments(tt.tool)})
			var out struct {
				Content json.RawMessage
				Value   json.RawMessage `json:"structuredContent"`
				IsError bool
			}
			harness.NoError(t, json.Unmarshal(result, &out))
			if out.IsError {
				t.Fatalf("%s: %s", tt.tool, out.Content)
			}
			harness.NoError(t, json.Unmarshal(out.Value, &c.known))
		})
	}
}
