package mcp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// stateless is the newest revision of the protocol, which has no handshake.
const stateless = "2026-07-28"

// revisions are all that clients may speak.
var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", stateless}

// ask sends a request as a client of a revision does.
func (c *rawClient) ask(t testing.TB, revision, method string, params map[string]any) reply {
	t.Helper()
	headers := []string{"MCP-Protocol-Version", revision}
	if params == nil {
		params = map[string]any{}
	}
	if revision == stateless {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    stateless,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "raw", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
		headers = append(headers, "Mcp-Method", method)
		for _, named := range []string{"name", "uri"} {
			if name, ok := params[named].(string); ok {
				headers = append(headers, "Mcp-Name", name)
			}
		}
	}
	return c.rpc(t, method, params, headers...)
}

// TestEveryToolInEveryRevision goes from the first message to every tool with raw JSON.
func TestEveryToolInEveryRevision(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			c, _ := connected(t, p)
			c.begins(t, revision)
			c.usesEveryTool(t, revision)
		})
	}
}

// begins is how a client of a revision starts.
func (c *rawClient) begins(t *testing.T, revision string) {
	t.Helper()
	first, params := "initialize", map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "raw", "version": "1"},
	}
	if revision == stateless {
		first, params = "server/discover", nil
	}
	a := c.ask(t, revision, first, params)
	var begun struct {
		ProtocolVersion   string
		SupportedVersions []string
		Instructions      string
		Capabilities      map[string]any
	}
	harness.NoError(t, json.Unmarshal(a.Result, &begun))
	if a.Status != http.StatusOK || !strings.Contains(begun.Instructions, "publish_artifact") ||
		begun.Capabilities["tools"] == nil {
		t.Errorf("%s answers %d %s", first, a.Status, a.Body)
	}
	if revision == stateless && !slices.Contains(begun.SupportedVersions, stateless) ||
		revision != stateless && begun.ProtocolVersion != revision {
		t.Errorf("%s offers %q, %q", first, begun.ProtocolVersion, begun.SupportedVersions)
	}
	if revision == stateless {
		return
	}
	a = c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if a.Status != http.StatusAccepted || len(a.Body) > 0 {
		t.Errorf("the notification answers %d %s", a.Status, a.Body)
	}
	if a := c.ask(t, revision, "ping", nil); a.Status != http.StatusOK || string(a.Result) != "{}" {
		t.Errorf("ping answers %d %s", a.Status, a.Body)
	}
}

// usesEveryTool calls all tools in an order in which each finds what it needs.
func (c *rawClient) usesEveryTool(t *testing.T, revision string) {
	t.Helper()
	var known struct {
		contract.MCPPublished
		Items   []contract.LinkRow `json:"items"`
		Session string             `json:"upload_session_id"`
	}
	used := 0
	do := func(tool string, args map[string]any) {
		t.Helper()
		used++
		a := c.ask(t, revision, "tools/call", map[string]any{"name": tool, "arguments": args})
		var r toolReply
		harness.NoError(t, json.Unmarshal(a.Result, &r))
		if a.Status != http.StatusOK || r.IsError || len(r.Content) == 0 || r.Content[0].Text != string(r.Value) ||
			(revision == stateless) != strings.Contains(string(a.Result), `"resultType":"complete"`) {
			t.Fatalf("%s answers %d %s", tool, a.Status, a.Body)
		}
		harness.NoError(t, json.Unmarshal(r.Value, &known))
	}
	do("whoami", map[string]any{})
	do("publish_artifact", map[string]any{"title": "Tides", "body": tides, "render_mode": "html"})
	of := map[string]any{"artifact_id": known.ArtifactID}
	do("multi_edit", map[string]any{"artifact_id": known.ArtifactID, "path": "index.html",
		"edits": []map[string]any{{"old_string": "six", "new_string": "seven"}}})
	do("add_revision", map[string]any{"artifact_id": known.ArtifactID, "body": tides, "render_mode": "html"})
	do("list_artifacts", map[string]any{})
	do("read_artifact", of)
	do("read_file", map[string]any{"artifact_id": known.ArtifactID, "path": "index.html"})
	do("list_revisions", of)
	do("diff_revisions", of)
	do("update_display_metadata", map[string]any{"artifact_id": known.ArtifactID, "title": "Water"})
	do("set_visibility", map[string]any{"artifact_id": known.ArtifactID, "visibility": "unlisted"})
	do("create_revision_link", map[string]any{"artifact_id": known.ArtifactID, "revision_id": known.RevisionID})
	do("list_access_links", of)
	do("revoke_access_link", map[string]any{"access_link_id": known.Items[0].ID})
	do("delete_artifact", of)
	do("prepare_upload", map[string]any{"title": "Empty", "files": []map[string]any{{"path": "a.txt", "size_bytes": 0}}})
	do("publish_upload", map[string]any{"upload_session_id": known.Session})
	if used != len(allTools) {
		t.Errorf("%d tools were used", used)
	}
}

// TestTheClientOfTheSDKSpeaksEveryRevision connects as clients of each revision do. Older ones also ask for a stream of
// messages, which this host does not have.
func TestTheClientOfTheSDKSpeaksEveryRevision(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	p.Anyone.HTTP.Transport = http.DefaultTransport // the document lists no 405
	for _, revision := range revisions {
		c, who := connected(t, p)
		s := c.session(t, revision)
		var me contract.MCPWhoami
		if use(t, s, "whoami", nil, &me); me.WorkspaceMember.ID != who.ID {
			t.Errorf("in %s it acts for %+v", revision, me)
		}
	}
}

// TestWhatThisHostDoesNotHaveIsAnUnknownMethod asks for parts of the protocol that are left out.
func TestWhatThisHostDoesNotHaveIsAnUnknownMethod(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, _ := connected(t, p)
	for _, method := range []string{
		"logging/setLevel", "completion/complete", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen",
		"roots/list", "sampling/createMessage", "tools/none", "rpc.discover", "",
	} {
		for _, revision := range revisions {
			a := c.ask(t, revision, method, nil)
			if want := http.StatusNotFound; method != "" && (a.Status != want || a.Error == nil || a.Error.Code != -32601) {
				t.Errorf("%s in %s answers %d %s", method, revision, a.Status, a.Body)
			}
			if method == "" && a.Status != http.StatusBadRequest {
				t.Errorf("no method in %s answers %d %s", revision, a.Status, a.Body)
			}
		}
	}
}

// FuzzMessages sends bodies that are nearly messages: none breaks the host.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"whoami","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"multi_edit","arguments":{"artifact_id":"art_00000000000000000000000000","path":"a","edits":[{"old_string":"a","new_string":"b"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"artifact://art_00000000000000000000000000/a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"publish-report","arguments":{"topic":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"skills/get","params":{"name":"vitrine"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"2.0","id":null}`, `{"id":1.5}`, "\xff", `{"a":{"a":{"a":[`, "",
	} {
		f.Add(seed)
	}
	p := harness.NewBackendEnv(f, harness.Unlimited)
	c, _ := connected(f, p)
	f.Fuzz(func(t *testing.T, body string) {
		newest := []string{"MCP-Protocol-Version", stateless, "Mcp-Method", "tools/call", "Mcp-Name", "whoami"}
		for _, headers := range [][]string{nil, newest} {
			if a := c.send(t, body, headers...); a.Status >= http.StatusInternalServerError || a.Status < http.StatusOK {
				t.Errorf("%q answers %d %.300s", body, a.Status, a.Body)
			}
		}
	})
}
