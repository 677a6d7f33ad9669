//go:build conformance

package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

// ofClients are files as people have them before they connect.
var ofClients = map[string]string{
	".claude.json": `{"mcpServers": {"other": {"type": "http", "url": "http://127.0.0.1:1/"}}}`,
	".codex/config.toml": "# mine\r\nmcp_oauth_credentials_store = \"file\"\r\n\r\n[mcp_servers.other]\r\n" +
		"url = 'http://127.0.0.1:1/'\r\nenabled = false",
	".gemini/settings.json": "{\n\t// mine\n\t\"privacy\": {\"usageStatisticsEnabled\": false},\n" +
		"\t\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}\n}\n",
	".config/opencode/opencode.json": "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {}, // none\n}",
}

// TestClientsListWhatConnectWrites connects the clients that npm has and asks their own lists, then takes it back.
func TestClientsListWhatConnectWrites(t *testing.T) {
	d := newDesk(t)
	for _, c := range d.connect(t, "claude-code", "codex", "gemini-cli", "opencode", "--skill") {
		if c.State != "listed" { // not one is signed in
			t.Errorf("%s is %s", c.Client, c.State)
		}
	}
	d.disconnect(t)
	for _, name := range []string{".agents", ".claude/skills", ".config/vitrine/connections.json"} {
		if _, err := os.Lstat(filepath.Join(d.home, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

// connect runs vitrine connect and returns what it says of each client.
func (d *desk) connect(t *testing.T, args ...string) []connectedClient {
	t.Helper()
	var said struct{ Clients []connectedClient }
	args = append(append([]string{"connect"}, args...), "--json")
	harness.NoError(t, json.Unmarshal(d.run(t, d.program, args...), &said))
	if len(said.Clients) == 0 {
		t.Fatal("connect names no client")
	}
	return said.Clients
}

// connectedClient is what vitrine connect says of a client.
type connectedClient struct{ Client, State, Kind string }

// disconnect runs vitrine disconnect. The files are then as before, but for what Claude Code counts in its own.
func (d *desk) disconnect(t *testing.T) {
	t.Helper()
	d.run(t, d.program, "disconnect", "--json")
	for name, want := range ofClients {
		got := string(harness.Must(os.ReadFile(filepath.Join(d.home, name)))(t))
		if name == ".claude.json" {
			var now, before map[string]any
			harness.NoError(t, json.Unmarshal([]byte(got), &now))
			harness.NoError(t, json.Unmarshal([]byte(want), &before))
			for member, value := range before {
				if !reflect.DeepEqual(now[member], value) {
					t.Errorf("%s of %s is %v, want %v", member, name, now[member], value)
				}
			}
		} else if got != want {
			t.Errorf("%s is\n%q\nwant\n%q", name, got, want)
		}
		if strings.Contains(got, d.Origins.MCP) {
			t.Errorf("%s has\n%s", name, got)
		}
	}
}
