//go:build conformance

package conformance

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
)

// toolCall is a call of a tool.
type toolCall struct {
	Name string         `json:"name"`
	Args map[string]any `json:"arguments"`
}

// sdkResult is what the TypeScript SDK gives for a call.
type sdkResult struct {
	called[json.RawMessage]
	Content []struct{ Text string }
	Thrown  string // the error of the SDK
}

// sdkCalls calls tools by the TypeScript SDK, which lists them first.
func sdkCalls(t *testing.T, at string, calls ...toolCall) (out []sdkResult) {
	t.Helper()
	ask(t, &out, "sdk.mjs", at, string(harness.Must(json.Marshal(calls))(t)))
	return out
}

// TestTheTypeScriptSDKShowsWhatIsWrong holds the errors of docs/mcp.md to what the SDK gives.
func TestTheTypeScriptSDKShowsWhatIsWrong(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	at := proxied(t, p, p.NewMember(t))
	page := map[string]any{"title": "Tides", "body": "High water at six", "render_mode": "text"}
	published := sdkCalls(t, at, toolCall{"publish_artifact", page}, toolCall{"whoami", nil})
	for _, r := range published {
		if r.Thrown != "" || r.IsError || r.Content[0].Text != string(r.Value) {
			t.Fatalf("%+v, want its value as its text", r)
		}
	}
	var made contract.MCPPublished
	harness.NoError(t, json.Unmarshal(published[0].Value, &made))
	docs := string(harness.Must(os.ReadFile("../../../docs/mcp.md"))(t))
	none := map[string]any{"artifact_id": "art_" + strings.Repeat("0", 26), "body": "x", "render_mode": "text"}
	edits := func(old string) map[string]any {
		return map[string]any{"artifact_id": made.ArtifactID, "path": "content.txt", "edits": []map[string]any{
			{"old_string": "six", "new_string": "seven"}, {old: "nine", "new_string": "ten"},
		}}
	}
	for i, r := range sdkCalls(t, at,
		toolCall{"add_revision", none},
		toolCall{"publish_artifact", map[string]any{"title": 7, "body": "x", "render_mode": "text"}},
		toolCall{"multi_edit", edits("old_text")},
		toolCall{"multi_edit", edits("old_string")},
		toolCall{"publish_upload", map[string]any{"upload_session_id": "upl_" + strings.Repeat("0", 26)}},
		toolCall{"whoami", map[string]any{"name": "x"}},
	) {
		var failure contract.Envelope
		if r.Thrown != "" || !r.IsError || r.Value != nil || json.Unmarshal([]byte(r.Content[0].Text), &failure) != nil {
			t.Errorf("call %d: %+v", i, r)
		} else if failure.Error.RequestID = ""; !strings.Contains(docs, "`"+failure.Error.Message+"`") {
			t.Errorf("call %d: docs/mcp.md does not have %q", i, failure.Error.Message)
		}
	}
	reads := p.GrantTo(t, p.NewMember(t, credential.Read), "oc_conformance", p.Origins.MCP).Key
	lacks := sdkCalls(t, proxiedWith(t, p, reads), toolCall{"publish_artifact", page})[0]
	const scopes = "the call needs the scopes publish and read; connect again and allow them"
	if !strings.Contains(lacks.Thrown, `"message":"`+scopes+`"`) || !strings.Contains(docs, "`"+scopes+"`") {
		t.Errorf("without a scope it throws %q", lacks.Thrown)
	}
}
