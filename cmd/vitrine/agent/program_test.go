package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

// fakePrograms stands for the clients' own programs. Claude Code lays its file out anew, as it does.
type fakePrograms struct {
	*Agents
	ran    []string
	lists  map[string]string // by the start of a command
	broken bool              // the programs do nothing and report success
}

func newPrograms(t *testing.T) *fakePrograms {
	t.Helper()
	p := &fakePrograms{Agents: newAgents(t), lists: map[string]string{}}
	p.LookPath = func(program string) (string, error) { return "/bin/" + program, nil }
	p.Run = func(_ context.Context, program string, args ...string) (string, error) {
		line := program + " " + strings.Join(args, " ")
		p.ran = append(p.ran, line)
		for start, text := range p.lists {
			if strings.HasPrefix(line, start) {
				return text, nil
			}
		}
		if program == "claude" && !p.broken {
			return "", p.claude(args)
		}
		return "", nil
	}
	return p
}

// claude does what claude mcp add and remove do to the file of the user.
func (p *fakePrograms) claude(args []string) error {
	file := filepath.Join(p.Home, ".claude.json")
	text, err := os.ReadFile(file)
	all := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &all)
	} else {
		err = nil
	}
	servers, _ := all["mcpServers"].(map[string]any)
	if servers == nil {
		servers = map[string]any{}
	}
	name := args[len(args)-1]
	switch {
	case err != nil:
		return err
	case args[1] == "remove" && servers[name] == nil:
		return exitCode(1)
	case args[1] == "remove":
		delete(servers, name)
	case args[1] == "add" && slices.Contains(args, "--"):
		at := slices.Index(args, "--")
		servers[args[at-1]] = map[string]any{"type": "stdio", "command": args[at+1], "args": args[at+2:]}
	case args[1] == "add" && servers[args[len(args)-2]] != nil:
		return exitCode(1)
	case args[1] == "add":
		servers[args[len(args)-2]] = map[string]any{"type": "http", "url": name}
	}
	all["mcpServers"] = servers
	all["count"] = fmt.Sprint(all["count"], "+")
	text, err = json.MarshalIndent(all, "", " ")
	return errors.Join(err, os.WriteFile(file, text, 0o600))
}

// exitCode is the error of a program that ended with a code.
func exitCode(code int) error {
	return exec.Command("sh", "-c", fmt.Sprint("exit ", code)).Run()
}

func servers(t *testing.T, a *Agents) any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Home, ".claude.json"))
	var all struct {
		MCPServers map[string]any `json:"mcpServers"`
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all.MCPServers
}

func TestClaudeCodeChangesItsFileItself(t *testing.T) {
	for n, died := 1, true; died; n++ {
		died = false
		p, c := newPrograms(t), client(t, claudeCode)
		write(t, filepath.Join(p.Home, ".claude.json"), `{"mcpServers": {"other": {"url": "https://o.test"}}}`, 0o600)
		before, steps := servers(t, p.Agents), 0
		p.hook = func() error {
			if steps++; steps == n {
				return errKilled
			}
			return nil
		}
		for _, w := range []Want{remote, remote, local} {
			err := p.connect(t.Context(), c, w)
			if errors.Is(err, errKilled) {
				died = true
				err = p.connect(t.Context(), c, w)
			}
			must(t, err)
			ours, _ := servers(t, p.Agents).(map[string]any)[serverName]
			if target(ours) != w.target() {
				t.Errorf("death at %d: the entry is %v", n, ours)
			}
		}
		_, err := p.disconnect(t.Context())
		if errors.Is(err, errKilled) {
			died = true
			_, err = p.disconnect(t.Context())
		}
		must(t, err)
		if after := servers(t, p.Agents); !reflect.DeepEqual(after, before) || exists(p.recordPath()) {
			t.Errorf("death at %d: %v, want %v", n, after, before)
		}
		if want := []string{
			"claude mcp add --transport http --scope user vitrine " + mcpURL, "claude mcp remove -s user vitrine",
			"claude mcp add -s user vitrine -- /opt/my tools/vitrine mcp --server " + server,
			"claude mcp remove -s user vitrine",
		}; !died && !slices.Equal(p.ran, want) {
			t.Errorf("ran %q", p.ran)
		}
	}
}

func TestAProgramThatOnlyReportsSuccessIsNotBelieved(t *testing.T) {
	p, c := newPrograms(t), client(t, claudeCode)
	p.broken = true
	if f := failure.Of(p.connect(t.Context(), c, remote)); !strings.Contains(f.Message, "does not have the entry") {
		t.Error(f)
	}
	p.broken = false
	must(t, p.connect(t.Context(), c, remote))
	p.broken = true
	if _, err := p.disconnect(t.Context()); err == nil || !strings.Contains(err.Error(), "still has the entry vitrine") {
		t.Error(err)
	}
	p.broken = false
	_, err := p.disconnect(t.Context())
	must(t, err)
}

func TestClientsAreSignedOutBeforeTheirEntryGoes(t *testing.T) {
	for id, want := range map[string][]string{
		claudeCode: {"claude mcp add --transport http --scope user vitrine " + mcpURL, "claude mcp logout vitrine",
			"claude mcp remove -s user vitrine"},
		codex:    {"codex mcp list --json", "codex mcp logout vitrine"},
		openCode: {"opencode mcp logout vitrine"},
		cursor:   nil,
	} {
		p := newPrograms(t)
		p.lists["codex mcp list"] = "warning\n[\n{\"name\":\"vitrine\",\"auth_status\":\"o_auth\"}]"
		must(t, p.connect(t.Context(), client(t, id), remote))
		said, err := p.disconnect(t.Context())
		if !slices.Equal(p.ran, want) || err != nil || (len(said) > 0) != (id == codex || id == cursor) {
			t.Errorf("%s: ran %q, said %q, %v", id, p.ran, said, err)
		}
	}
}

func TestGeminiLosesOurTokensAlone(t *testing.T) {
	const other = `{"serverName": "other", "token": {"accessToken": "x"}, "mcpServerUrl": "https://o.test"}`
	ours := `{"serverName": "vitrine", "token": {"accessToken": "a", "refreshToken": "r"}, "clientId": "oc_1",` +
		` "mcpServerUrl": "` + mcpURL + `/"}`
	for name, test := range map[string]struct {
		tokens, left, revoked, said string
		fails                       error
	}{
		"ours":              {tokens: "[" + ours + "]", revoked: "oc_1 r"},
		"ours and another":  {tokens: "[" + other + "," + ours + "]", left: "[" + other + "]", revoked: "oc_1 r"},
		"another alone":     {tokens: "[" + other + "]", left: "[" + other + "]"},
		"a server away":     {tokens: "[" + ours + "]", revoked: "oc_1 r", fails: errors.New("away"), said: "did not end"},
		"what is no list":   {tokens: "{", left: "{", said: "is not the file of tokens that it should be"},
		"ours of elsewhere": {tokens: "[" + strings.Replace(ours, mcpURL, "https://o.test", 1) + "]", left: "same"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgents(t)
			must(t, a.connect(t.Context(), client(t, gemini), remote))
			tokens := client(t, gemini).tokens(a.Machine)
			write(t, tokens, test.tokens, 0o600)
			all, err := a.Records(server, false)
			must(t, err)
			revoked := ""
			done, err := a.Remove(t.Context(), all[0], func(_ context.Context, id, token string) error {
				revoked = id + " " + token
				return test.fails
			})
			said := strings.Join(done.Notes, "")
			left, _ := os.ReadFile(tokens)
			var got, want any
			_, _ = json.Unmarshal(left, &got), json.Unmarshal([]byte(strings.Replace(test.left, "same", test.tokens, 1)), &want)
			if err != nil || revoked != test.revoked || !reflect.DeepEqual(got, want) ||
				exists(tokens) != (test.left != "") || !strings.Contains(said, test.said) ||
				test.said == "" && said != "" {
				t.Errorf("%v; revoked %q, left %s, said %q", err, revoked, left, done.Notes)
			}
		})
	}
}

// TestSignInsThatClientsForgetAreRevoked has files of tokens as Codex and OpenCode write them.
func TestSignInsThatClientsForgetAreRevoked(t *testing.T) {
	for id, tokens := range map[string]string{
		codex: `{"vitrine|1f": {"server_name": "vitrine", "server_url": "` + mcpURL + `/", "client_id": "oc_1",` +
			` "access_token": "a", "refresh_token": "r"}, "vitrine|2f": {"server_name": "vitrine",` +
			` "server_url": "https://o.test", "client_id": "oc_2", "access_token": "x"}}`,
		openCode: `{"other": {"serverUrl": "` + mcpURL + `", "tokens": {"accessToken": "x"}}, "vitrine": {"tokens":` +
			` {"accessToken": "a", "refreshToken": "r"}, "clientInfo": {"clientId": "oc_1"}, "serverUrl": "` + mcpURL + `/"}}`,
	} {
		for _, project := range []bool{false, true} {
			p, c, w := newPrograms(t), client(t, id), remote
			w.Project = project
			must(t, p.connect(t.Context(), c, w))
			write(t, c.tokens(p.Machine), tokens, 0o600)
			all, err := p.Records(server, project)
			must(t, err)
			var revoked []string
			done, err := p.Remove(t.Context(), all[0], func(_ context.Context, id, token string) error {
				revoked = append(revoked, id+" "+token)
				return nil
			})
			ran := slices.Contains(p.ran, c.program+" mcp logout vitrine")
			if err != nil || !slices.Equal(revoked, []string{"oc_1 r"}) || len(done.Notes) > 0 || ran == project {
				t.Errorf("%s, project %v: %v; revoked %q, ran %q, said %q", id, project, err, revoked, p.ran, done.Notes)
			}
		}
	}
}

// TestWhatListsSay has lists as the clients print them.
func TestWhatListsSay(t *testing.T) {
	for name, test := range map[string]struct {
		id, list string
		want     State
	}{
		"signed in":  {claudeCode, "vitrine:\n  Scope: User\n  Status: \x1b[32m✔ Connected\x1b[0m\n", Works},
		"signed out": {claudeCode, "vitrine:\n  Scope: User config\n  Status: ! Needs authentication\n", Listed},
		"absent":     {claudeCode, "No MCP server named vitrine", Listed},
		"disabled":   {gemini, "Configured MCP servers:\n\n○ vitrine: https://mcp.v.test (http) - Disabled\n", Listed},
		"another":    {gemini, "✓ vitrine-b: https://b.test (http) - Connected\n", Written},
		"Gemini": {gemini, "✓ b: https://b.test (http) - Connected\n✗ vitrine: https://v.test (http) - Disconnected\n",
			Listed},
		"connected": {gemini, "✓ vitrine: https://mcp.v.test (http) - Connected\n", Works},
		"OpenCode":  {openCode, "●  ✗ b failed\n●  ✓ vitrine \x1b[90mconnected\n│      \x1b[90mU\n", Works},
		"failed":    {openCode, "●  ✓ b connected\n●  ✗ vitrine \x1b[90mfailed\n", Listed},
		"Codex":     {codex, "w\n[\n {\"name\":\"vitrine\",\"transport\":{\"url\":\"https://mcp.v.test/\"}}]", Listed},
		"elsewhere": {codex, "[\n {\"name\":\"vitrine\",\"transport\":{\"url\":\"https://o.test\"}}]", Written},
		"Cursor":    {cursor, "vitrine connected", Written},
	} {
		p := newPrograms(t)
		p.lists[""] = test.list
		ch := Change{Client: client(t, test.id), Name: serverName, want: remote}
		if got := p.Ask(t.Context(), ch); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
