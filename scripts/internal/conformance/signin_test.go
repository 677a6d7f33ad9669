//go:build conformance

package conformance

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

// wantState connects a client again and checks what that says.
func (d *desk) wantState(t *testing.T, client, state string) {
	t.Helper()
	if c := d.connect(t, client); c[0].State != state {
		t.Errorf("connected again, %s is %s, want %s", client, c[0].State, state)
	}
}

// wantEnded disconnects, and checks that a token that worked and was in a file is in none, and refused.
func (d *desk) wantEnded(t *testing.T, token, file string) {
	t.Helper()
	if got := d.holders(t, token); !reflect.DeepEqual(got, []string{file}) {
		t.Errorf("its token is in %q, want %s", got, file)
	}
	try := func(want int) {
		t.Helper()
		a := harness.Must(d.Anyone.Do(t.Context(), "POST", d.Origins.MCP+"/", `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
			"Authorization", "Bearer "+token, "Content-Type", "application/json",
			"Accept", "application/json, text/event-stream"))(t)
		if a.Status != want {
			t.Errorf("its token is answered by %d %s, want %d", a.Status, a.Body, want)
		}
	}
	try(http.StatusOK)
	d.disconnect(t)
	if got := d.holders(t, token); len(got) > 0 {
		t.Errorf("its token is still in %q", got)
	}
	try(http.StatusUnauthorized)
}

// TestCodexSignsInAndCallsATool calls it by the server of its own that Codex has for editors, which needs no model.
func TestCodexSignsInAndCallsATool(t *testing.T) {
	d := newDesk(t)
	d.connect(t, "codex")
	d.signIn(t, 1, "codex mcp login vitrine")
	d.wantState(t, "codex", "listed") // its list never says more
	list := string(d.run(t, "codex", "mcp", "list", "--json"))
	if !strings.Contains(list, `"auth_status": "o_auth"`) {
		t.Errorf("its list is %s", list)
	}
	if got := d.codexCalls(t, d.home, "whoami", struct{}{}); !strings.Contains(got, "ada@example.org") {
		t.Errorf("a tool answers %s", got)
	}
	token := d.wantAsked(t, "2025-06-18 initialize", "2025-06-18 tools/list", "2025-06-18 tools/call whoami")
	d.wantEnded(t, token, ".codex/.credentials.json")
}

// codexCalls calls a tool through Codex, which works in a folder, and returns the result.
func (d *desk) codexCalls(t *testing.T, folder, tool string, arguments any) string {
	t.Helper()
	run := d.command(t.Context(), t, "codex", "app-server")
	in := harness.Must(run.StdinPipe())(t)
	out := bufio.NewScanner(harness.Must(run.StdoutPipe())(t))
	out.Buffer(nil, 1<<24)
	harness.NoError(t, run.Start())
	ask := func(method string, params, result any) {
		t.Helper()
		request := harness.Must(json.Marshal(map[string]any{"id": 1, "method": method, "params": params}))(t)
		harness.Must(in.Write(append(request, '\n')))(t)
		for out.Scan() {
			var m struct {
				ID            json.RawMessage
				Result, Error json.RawMessage
			}
			if json.Unmarshal(out.Bytes(), &m) != nil || m.ID == nil || m.Result == nil && m.Error == nil {
				continue // news
			}
			if m.Error != nil {
				t.Fatalf("Codex answers %s by %s", request, m.Error)
			}
			harness.NoError(t, json.Unmarshal(m.Result, result))
			return
		}
		t.Fatalf("Codex does not answer %s", request)
	}
	var result json.RawMessage
	type object = map[string]any
	ask("initialize", object{"clientInfo": object{"name": "test", "version": "1"}}, &result)
	var started struct{ Thread struct{ ID string } }
	ask("thread/start", object{"cwd": folder}, &started)
	ask("mcpServer/tool/call", object{
		"threadId": started.Thread.ID, "server": "vitrine", "tool": tool, "arguments": arguments,
	}, &result)
	in.Close()
	for out.Scan() {
	}
	harness.NoError(t, run.Wait())
	return string(result)
}

func TestOpenCodeSignsIn(t *testing.T) {
	d := newDesk(t)
	token := d.wantSignedIn(t, "opencode", "opencode mcp auth vitrine", "2025-11-25 initialize", "2025-11-25 tools/list")
	d.wantEnded(t, token, ".local/share/opencode/mcp-auth.json")
}

func TestClaudeCodeSignsIn(t *testing.T) {
	d := newDesk(t)
	token := d.wantSignedIn(t, "claude-code", "claude mcp login vitrine",
		"2026-07-28 server/discover", "2026-07-28 tools/list")
	d.wantEnded(t, token, ".claude/.credentials.json")
}

// wantSignedIn connects a client and signs it in by its command, and checks that it works and what it then asks. It returns
// its token.
func (d *desk) wantSignedIn(t *testing.T, client, command string, asks ...string) string {
	t.Helper()
	d.connect(t, client)
	d.signIn(t, 1, command)
	d.wire.take()
	d.wantState(t, client, "works")
	return d.wantAsked(t, asks...)
}

// enter submits a line in Gemini CLI. The key before Enter writes nothing. Enter alone would make a new line if it came
// as soon after a letter as in a text that is pasted.
const enter = "\x1b[F\r"

// TestGeminiSignsIn types what a person types into Gemini CLI, which asks a model for nothing meanwhile.
func TestGeminiSignsIn(t *testing.T) {
	d := newDesk(t)
	d.trust(t)
	d.env = append(d.env, "GEMINI_API_KEY=none")
	d.connect(t, "gemini-cli")
	s := d.start(t, "gemini")
	s.see(t, "Authenticated with gemini-api-key")
	s.press(t, "/mcp auth vitrine")
	s.see(t, "\n vitrine ") // below the line, as what would complete it
	s.press(t, enter)
	s.see(t, "Do you want to continue?")
	s.press(t, enter)
	s.allow(t)
	s.see(t, "Successfully authenticated and reloaded tools for 'vitrine'")
	s.press(t, "/quit")
	s.see(t, "\n quit ")
	s.press(t, enter)
	s.end(t)
	d.wantAsked(t, "2025-06-18 initialize", "prompts/list", "tools/list", "resources/list") // it names the revision once
	d.wantState(t, "gemini-cli", "works")
	token := d.wantAsked(t, "2025-06-18 initialize") // for its list it does no more than greet
	d.wantEnded(t, token, ".gemini/mcp-oauth-tokens.json")
}

// trust makes the home a folder in which Gemini CLI may start servers, as the person can at its first question.
func (d *desk) trust(t *testing.T) {
	t.Helper()
	trusted := harness.Must(json.Marshal(map[string]string{d.home: "TRUST_FOLDER"}))(t)
	harness.NoError(t, os.WriteFile(filepath.Join(d.home, ".gemini/trustedFolders.json"), trusted, 0o600))
}
