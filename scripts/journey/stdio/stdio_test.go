package stdio

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// direct sends a request to the MCP host itself, by the same token.
func (m *machine) direct(t testing.TB, revision, body string) (out message) {
	t.Helper()
	r := harness.Must(http.NewRequestWithContext(t.Context(), "POST", m.Origins.MCP+"/", strings.NewReader(body)))(t)
	for name, value := range map[string]string{
		"Content-Type":         "application/json",
		"Authorization":        "Bearer " + m.credentials(t, nil).Access,
		"MCP-Protocol-Version": revision,
		"Mcp-Method":           methodIn(t, body),
	} {
		r.Header.Set(name, value)
	}
	a := harness.Must(m.Anyone.HTTP.Do(r))(t)
	defer a.Body.Close()
	harness.NoError(t, json.Unmarshal(harness.Must(io.ReadAll(a.Body))(t), &out))
	return out
}

func methodIn(t testing.TB, body string) string {
	var m message
	harness.NoError(t, json.Unmarshal([]byte(body), &m))
	return m.Method
}

func fields(t testing.TB, text json.RawMessage) (out map[string]any) {
	t.Helper()
	harness.NoError(t, json.Unmarshal(text, &out))
	return out
}

// TestEveryRevisionIsAnsweredAsByTheHost also shows that a sign-in asks the person once, and that the list of tools has
// one tool more and no other difference.
func TestEveryRevisionIsAnsweredAsByTheHost(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if asked := m.signIn(t); asked != 1 {
		t.Errorf("signing in asks %d times", asked)
	}
	for _, revision := range revisions {
		c := m.start(t)
		if revision != "2026-07-28" {
			got := c.greet(t, revision, map[string]any{})
			want := m.direct(t, "", request(t, revision, "0", "initialize", map[string]any{"protocolVersion": revision,
				"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "journey", "version": "1"}}))
			if string(got.Result) != string(want.Result) || fields(t, got.Result)["protocolVersion"] != revision {
				t.Errorf("%s: initialize answers %s, the host %s", revision, got.Result, want.Result)
			}
		}
		for n, method := range []string{
			"tools/list", "resources/list", "resources/templates/list", "prompts/list", "skills/list", "server/discover",
			"ping", "completion/complete", "subscriptions/listen",
		} {
			body := request(t, revision, fmt.Sprint(n+1), method, nil)
			c.send(t, body)
			got, want := c.answer(t, fmt.Sprint(n+1)), m.direct(t, revision, body)
			if (got.Error == nil) != (want.Error == nil) || got.Error != nil && got.Error.Code != want.Error.Code {
				t.Errorf("%s: %s fails with %+v, want %+v", revision, method, got.Error, want.Error)
				continue
			}
			if method == "tools/list" {
				got.Result = withoutLast(t, got.Result)
			}
			if string(got.Result) != string(want.Result) {
				t.Errorf("%s: %s answers %s, the host %s", revision, method, got.Result, want.Result)
			}
		}
	}
}

// withoutLast takes publish_path out of a list of tools, byte by byte.
func withoutLast(t testing.TB, list json.RawMessage) json.RawMessage {
	t.Helper()
	var tools struct {
		Tools []json.RawMessage `json:"tools"`
	}
	harness.NoError(t, json.Unmarshal(list, &tools))
	last := tools.Tools[len(tools.Tools)-1]
	if !strings.HasPrefix(string(last), `{"name":"publish_path",`) {
		t.Fatalf("the last tool is %s", last)
	}
	return json.RawMessage(strings.Replace(string(list), ","+string(last), "", 1))
}

func TestAProjectIsPublishedFromTheDisk(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.signIn(t)
	m.write(t, "project/.env", "TOKEN=x")
	m.write(t, "project/tides.css", "p { color: navy }")
	c := m.start(t)
	c.greet(t, "2025-06-18", map[string]any{})
	var made contract.MCPPublished
	r := c.call(t, "1", "publish_path", map[string]any{"path": "."})
	if r.IsError || json.Unmarshal(r.Value, &made) != nil || r.Content[0].Text != string(r.Value) {
		t.Fatalf("it answers %+v", r)
	}
	if link := r.Content[1].Text; link != "Tides: "+made.PrivateURL || !strings.HasPrefix(made.PrivateURL, m.Origins.App) {
		t.Errorf("the line for a person is %q of %s", link, r.Value)
	}
	if !strings.Contains(r.Content[2].Text, "Not published: .env") {
		t.Errorf("it says %q of the secret", r.Content[2].Text)
	}
	harness.WantPage(t, "the link", m.person.Get(t, "/v/"+string(made.ArtifactID)), http.StatusOK, "Tides")
	again := c.call(t, "2", "publish_path", map[string]any{"path": m.project, "artifact_id": made.ArtifactID})
	if again.IsError || !strings.HasPrefix(again.Content[1].Text, "Nothing changed") {
		t.Errorf("the same files again: %+v", again)
	}
	var listed struct{ Data []struct{ ID string } }
	harness.NoError(t, json.Unmarshal(c.call(t, "3", "list_artifacts", nil).Value, &listed))
	if len(listed.Data) != 1 || listed.Data[0].ID != string(made.ArtifactID) {
		t.Errorf("a tool of the host lists %+v", listed)
	}
	code, said := c.call(t, "4", "publish_path", map[string]any{"path": ".", "entrypoint": "none.html"}).failure(t)
	if code != "entrypoint_required" || !strings.Contains(said, ": the argument entrypoint FILE") {
		t.Errorf("another entrypoint is answered by %s: %s", code, said)
	}
	one := m.start(t, "--allow-secret")
	if r := one.call(t, "1", "publish_path", map[string]any{"path": ".env", "title": "All of it"}); r.IsError ||
		!strings.HasPrefix(r.Content[1].Text, "All of it: ") {
		t.Errorf("an allowed secret: %+v", r)
	}
}

// TestFourProcessesShareARefresh begins with an expired token, as four clients that start in the morning do.
func TestFourProcessesShareARefresh(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.signIn(t)
	for round := range 2 {
		before := m.credentials(t, func(s *stored) { s.Expires = time.Now() })
		var all []*agentClient
		for range 4 {
			c := m.start(t)
			c.send(t, request(t, "2025-06-18", "1", "tools/call", map[string]any{"name": "whoami"}))
			all = append(all, c)
		}
		for n, c := range all {
			var r toolResult
			if a := c.answer(t, "1"); json.Unmarshal(a.Result, &r) != nil || r.IsError || !strings.Contains(a.line, "ada@example.org") {
				t.Errorf("round %d: process %d answers %s", round, n, a.line)
			}
		}
		after := m.credentials(t, nil)
		if after.Refresh == before.Refresh || after.Access == before.Access || !after.Expires.After(time.Now()) {
			t.Errorf("round %d: the tokens are as before", round)
		}
	}
}

// TestATokenThatTheHostRefusesIsRenewed has one that looks valid to the program.
func TestATokenThatTheHostRefusesIsRenewed(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.signIn(t)
	m.credentials(t, func(s *stored) { s.Access = s.Access[:len(s.Access)-4] + "AAAA" })
	if r := m.start(t).call(t, "1", "whoami", nil); r.IsError {
		t.Errorf("it answers %+v", r)
	}
}

func TestLogoutEndsTheTokensOfTheProgram(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.signIn(t)
	c := m.start(t)
	if r := c.call(t, "1", "whoami", nil); r.IsError {
		t.Fatalf("signed in it answers %+v", r)
	}
	token := m.credentials(t, nil)
	out := m.Command(t, m.home, "", "logout")
	out.Env = append(out.Env, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	harness.NoError(t, out.Run())
	if _, err := os.Stat(filepath.Join(m.home, ".config/vitrine/credentials.json")); err == nil {
		t.Error("the file of logins is still there")
	}
	if _, said := c.call(t, "2", "whoami", nil).failure(t); !strings.Contains(said, "vitrine mcp login --server "+m.Origins.API) {
		t.Errorf("signed out it says %q", said)
	}
	a := harness.Must(m.Anyone.Do(t.Context(), "POST", m.Origins.API+"/oauth2/token",
		"grant_type=refresh_token&client_id=helper&refresh_token="+token.Refresh,
		"Content-Type", "application/x-www-form-urlencoded"))(t)
	if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), "invalid_grant") {
		t.Errorf("its refresh token is answered with %d %s", a.Status, a.Body)
	}
}

func TestSignedOutItStartsAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, revision := range revisions {
		c := m.start(t)
		if revision != "2026-07-28" {
			got := fields(t, c.greet(t, revision, map[string]any{}).Result)
			if got["protocolVersion"] != revision || !reflect.DeepEqual(got["capabilities"], map[string]any{"tools": map[string]any{}}) {
				t.Errorf("initialize answers %v", got)
			}
		} else if got := fields(t, c.ask(t, revision, "1", "server/discover", nil).Result); got["resultType"] != "complete" {
			t.Errorf("server/discover answers %v", got)
		}
		list := c.ask(t, revision, "2", "tools/list", nil)
		if !strings.Contains(list.line, `"tools":[{"name":"publish_path",`) || strings.Contains(list.line, "whoami") {
			t.Errorf("%s: tools/list answers %s", revision, list.line)
		}
		for _, tool := range []string{"whoami", "publish_path"} {
			code, said := c.call(t, "3", tool, map[string]any{"path": "."}).failure(t)
			if code != "not_authenticated" || !strings.Contains(said, "vitrine mcp login --server "+m.Origins.API) {
				t.Errorf("%s says %s: %s", tool, code, said)
			}
		}
		if r := c.ask(t, revision, "4", "resources/list", nil); r.Error == nil || !strings.Contains(r.Error.Message, "login") {
			t.Errorf("resources/list answers %s", r.line)
		}
	}
}

// TestWithoutTheServerCallsSaySo has a server that goes after the sign-in.
func TestWithoutTheServerCallsSaySo(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.signIn(t)
	m.credentials(t, func(s *stored) { s.MCPURL = "http://127.0.0.1:1" })
	c := m.start(t)
	c.greet(t, "2025-06-18", map[string]any{})
	if list := c.ask(t, "2025-06-18", "1", "tools/list", nil); list.Error != nil {
		t.Errorf("tools/list answers %s", list.line)
	}
	if code, said := c.call(t, "2", "whoami", nil).failure(t); code != "network_error" || !strings.Contains(said, "no response") {
		t.Errorf("whoami says %s: %s", code, said)
	}
}
