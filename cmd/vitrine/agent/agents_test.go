package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/manual"
)

const (
	server = "https://v.test"
	mcpURL = "https://mcp.v.test"
)

var (
	remote = Want{Server: server, URL: mcpURL}
	local  = Want{Server: server, URL: mcpURL, Command: []string{"/opt/my tools/vitrine", "mcp", "--server", server}}
)

// newAgents returns agents in an empty home, with a client's programs that are not there.
func newAgents(t *testing.T) *Agents {
	t.Helper()
	home := t.TempDir()
	a := &Agents{
		Machine: Machine{
			OS:       "linux",
			Home:     home,
			Dir:      filepath.Join(home, "project"),
			Env:      func(string) string { return "" },
			LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
		},
		Folder: filepath.Join(home, ".config", "vitrine"),
		Run: func(_ context.Context, program string, args ...string) (string, error) {
			t.Errorf("ran %s %q", program, args)
			return "", exec.ErrNotFound
		},
	}
	for _, folder := range []string{a.Dir, a.Folder} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func client(t *testing.T, id string) Client {
	t.Helper()
	c, ok := Find(id)
	if !ok {
		t.Fatalf("no client %s", id)
	}
	return c
}

func (a *Agents) connect(ctx context.Context, c Client, w Want) error {
	ch, err := a.Plan(c, w)
	if err == nil {
		err = a.Write(ctx, ch)
	}
	return err
}

// disconnect takes back everything, and returns what it says.
func (a *Agents) disconnect(ctx context.Context) (said []string, err error) {
	for _, project := range []bool{false, true} {
		all, err := a.Records(server, project)
		if err != nil {
			return said, err
		}
		for _, r := range all {
			done, err := a.Remove(ctx, r, func(context.Context, string, string) error { return nil })
			if err != nil {
				return said, err
			}
			said = append(said, done.Notes...)
		}
	}
	return said, nil
}

func write(t *testing.T, name, text string, mode fs.FileMode) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tree returns everything below a folder: texts, modes and links.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + " "
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			leads, _ := os.Readlink(name)
			text += leads
		case !d.IsDir():
			body, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text += string(body)
		}
		all[strings.TrimPrefix(name, folder)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantTree(t *testing.T, a *Agents, want map[string]string) {
	t.Helper()
	got := tree(t, a.Home)
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%s is\n%s\nwant\n%s", name, got[name], want[name])
		}
	}
	for name := range want {
		if _, there := got[name]; !there {
			t.Errorf("%s is gone", name)
		}
	}
}

// scopes are the clients whose files are edited here, in each scope that they have.
func scopes(t *testing.T, do func(t *testing.T, c Client, project bool)) {
	for _, c := range All() {
		for _, project := range []bool{false, true} {
			if project && !c.HasProjects() || !project && c.ID == claudeCode {
				continue
			}
			t.Run(fmt.Sprintf("%s, project %v", c.ID, project), func(t *testing.T) { do(t, c, project) })
		}
	}
}

func TestEveryFileIsAsBeforeAfterDisconnect(t *testing.T) {
	texts := map[string]string{"none": "", "empty": "", "an object": "{}", "others": "{\r\n\t\"a\": [1]\r\n}"}
	for name, text := range texts {
		scopes(t, func(t *testing.T, c Client, project bool) {
			a := newAgents(t)
			text := text
			if c.ID == codex && text != "" {
				text = "# mine\n[mcp_servers.other]\nurl = 'https://other.test'"
			}
			if name != "none" {
				write(t, c.File(a.Machine, project), text, 0o640)
			}
			before := tree(t, a.Home)
			for _, w := range []Want{remote, local, local} {
				if w.Project = project; !w.isLocal() && !c.TakesRemote() {
					continue
				}
				if err := a.connect(t.Context(), c, w); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_, leadsTo, err := a.find(c, Record{File: c.File(a.Machine, project), Name: serverName, Project: project})
				if leadsTo != w.target() || err != nil {
					t.Errorf("%s: it leads to %q, %v", name, leadsTo, err)
				}
			}
			if _, err := a.disconnect(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			wantTree(t, a, before)
		})
	}
}

// TestTheFormOfEntries holds each entry against the form that the client documents.
func TestTheFormOfEntries(t *testing.T) {
	a := newAgents(t)
	for id, want := range map[string][2]string{
		claudeCode: {`{"type":"http","url":"U"}`, `{"type":"stdio","command":"B","args":["mcp"]}`},
		gemini:     {`{"url":"U","type":"http"}`, `{"command":"B","args":["mcp"]}`},
		openCode:   {`{"type":"remote","url":"U"}`, `{"type":"local","command":["B","mcp"]}`},
		cursor:     {`{"url":"U"}`, `{"command":"B","args":["mcp"]}`},
		vsCode:     {`{"type":"http","url":"U"}`, `{"type":"stdio","command":"B","args":["mcp"]}`},
		"copilot-cli": {`{"tools":["*"],"type":"http","url":"U"}`,
			`{"tools":["*"],"type":"local","command":"B","args":["mcp"]}`},
		"claude-desktop": {"", `{"command":"B","args":["mcp"]}`},
		"windsurf":       {`{"serverUrl":"U"}`, `{"command":"B","args":["mcp"]}`},
		"zed": {`{"source":"custom","type":"http","url":"U","headers":{}}`,
			`{"source":"custom","command":"B","args":["mcp"],"env":{}}`},
	} {
		c := client(t, id)
		for i, w := range []Want{{URL: "U"}, {Command: []string{"B", "mcp"}}} {
			if want[i] == "" {
				continue
			}
			got, err := c.Instructions(a.Machine, w)
			text, _ := got.Entry.MarshalJSON()
			if err != nil || string(text) != want[i] || !strings.Contains(got.Text, `"`+got.Key+`": {`) {
				t.Errorf("%s: %s, %v, want %s, in\n%s", id, text, err, want[i], got.Text)
			}
		}
	}
	got, err := client(t, codex).Instructions(a.Machine, local)
	want := "[mcp_servers.vitrine]\ncommand = \"/opt/my tools/vitrine\"\n" +
		"args = [\"mcp\",\"--server\",\"" + server + "\"]\n"
	if got.Text != want || err != nil {
		t.Errorf("%v\n%s", err, got.Text)
	}
}

func TestLinksAndCommandsInstallTheEntry(t *testing.T) {
	a := newAgents(t)
	w := Want{URL: "https://mcp.example.com/"}
	for id, want := range map[string][2]string{
		cursor: {"", "cursor://anysphere.cursor-deeplink/mcp/install?name=vitrine&config=" +
			"eyJ1cmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS8ifQ%3D%3D"},
		vsCode: {`code --add-mcp {"name":"vitrine","type":"http","url":"https://mcp.example.com/"}`,
			"vscode:mcp/install?%7B%22name%22%3A%22vitrine%22%2C%22type%22%3A%22http%22%2C%22url%22%3A%22" +
				"https%3A%2F%2Fmcp.example.com%2F%22%7D"},
		"zed": {"", ""},
	} {
		got, err := client(t, id).Instructions(a.Machine, w)
		if command := strings.Join(got.Command, " "); err != nil || command != want[0] || got.Link != want[1] {
			t.Errorf("%s: %q, %q, %v", id, command, got.Link, err)
		}
	}
	for _, told := range manual.Clients(w.URL) { // by pages and docs
		c := clients[slices.IndexFunc(clients, func(c Client) bool { return c.Name == told.Name })]
		got, err := c.Instructions(a.Machine, w)
		if command := strings.Join(got.Command, " "); err != nil || command != told.Add || got.Link != "" {
			t.Errorf("%s: %q, not %q; %q, %v", told.Name, command, told.Add, got.Link, err)
		}
	}
	w.URL = "https://mcp.example.com/%41"
	if got, err := client(t, vsCode).Instructions(a.Machine, w); got.Link != "" || err != nil {
		t.Errorf("a link that is decoded twice: %q, %v", got.Link, err)
	}
}

func TestWhatCannotBeHandledIsRefusedAndNothingChanged(t *testing.T) {
	const foreign = "that vitrine connect has not written"
	for name, test := range map[string]struct {
		client string
		text   string
		spoil  func(t *testing.T, file string)
		exit   failure.Exit
		says   string
	}{
		"half a file":          {cursor, `{"mcpServers": {"a": {"token": "s3cret`, nil, 4, "not JSON at line 2, column 1"},
		"half a TOML file":     {codex, "a = 1\nb = \"s3cret", nil, 4, "it is not TOML at line 2, column"},
		"a list":               {cursor, `[]`, nil, 4, "it does not hold an object"},
		"servers in a list":    {cursor, `{"mcpServers": []}`, nil, 4, "mcpServers in it is not an object"},
		"servers twice":        {cursor, `{"mcpServers": {}, "mcpServers": {}}`, nil, 4, "it has mcpServers twice"},
		"the entry twice":      {cursor, `{"mcpServers": {"vitrine": {}, "v\u0069trine": {}}}`, nil, 4, "vitrine twice"},
		"a table twice":        {codex, "[a]\n[a]\n", nil, 4, "it is not TOML"},
		"an inline table":      {codex, "mcp_servers = {}\n", nil, 4, "a table cannot be added to"},
		"another address":      {cursor, `{"mcpServers": {"vitrine": {"url": "https://other.test"}}}`, nil, 7, foreign},
		"another command":      {"zed", `{"context_servers": {"vitrine": {"command": "x"}}}`, nil, 7, foreign},
		"something else":       {codex, "[mcp_servers.vitrine]\nenabled = true\n", nil, 7, foreign},
		"a server of OpenCode": {openCode, `{"mcp": {"servers": {"vitrine": {"url": "U"}}}}`, nil, 7, foreign},
		"a read-only file": {cursor, `{}`, func(t *testing.T, file string) { must(t, os.Chmod(file, 0o444)) }, 4,
			"it may only be read"},
		"a read-only folder": {cursor, `{}`, func(t *testing.T, file string) {
			must(t, os.Chmod(filepath.Dir(file), 0o555))
			t.Cleanup(func() { must(t, os.Chmod(filepath.Dir(file), 0o755)) })
		}, 4, "its folder may only be read"},
		"a folder": {cursor, ``, func(t *testing.T, file string) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o755))
		}, 4, "it is not a regular file"},
		"a broken link": {cursor, ``, func(t *testing.T, file string) {
			must(t, os.Remove(file))
			must(t, os.Symlink("nowhere", file))
		}, 4, "it is a link that leads nowhere"},
		"too large a file": {cursor, ``, func(t *testing.T, file string) { must(t, os.Truncate(file, maxFile+1)) }, 4,
			"it has more than 16 MiB"},
		"no program": {claudeCode, `{}`, nil, 4, "there is no claude in PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := newAgents(t), client(t, test.client)
			file := c.File(a.Machine, false)
			if write(t, file, test.text, 0o644); test.spoil != nil {
				test.spoil(t, file)
			}
			before := tree(t, a.Home)
			f := failure.Of(a.connect(t.Context(), c, remote))
			if f.Exit != test.exit || !strings.Contains(f.Message, test.says) || f.Hint == "" ||
				!strings.Contains(f.Message, file) || strings.Contains(f.Message, "s3cret") {
				t.Errorf("exit code %d: %s; %s", f.Exit, f.Message, f.Hint)
			}
			wantTree(t, a, before)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestALargeFileBehindALinkKeepsItsMode(t *testing.T) {
	a, c := newAgents(t), client(t, cursor)
	text := "{\"big\": \"" + strings.Repeat("x", 5<<20) + "\"}"
	write(t, filepath.Join(a.Home, "dotfiles", "mcp.json"), text, 0o604)
	must(t, os.Mkdir(filepath.Join(a.Home, ".cursor"), 0o755))
	must(t, os.Symlink("../dotfiles/mcp.json", c.File(a.Machine, false)))
	before := tree(t, a.Home)
	must(t, a.connect(t.Context(), c, remote))
	during := tree(t, a.Home)
	if got := during["/dotfiles/mcp.json"]; !strings.HasPrefix(got, "-rw----r-- {\"mcpServers\":") ||
		during["/.cursor/mcp.json"] != before["/.cursor/mcp.json"] {
		t.Errorf("%.80s, %s", got, during["/.cursor/mcp.json"])
	}
	if _, err := a.disconnect(t.Context()); err != nil {
		t.Error(err)
	}
	wantTree(t, a, before)
}

// TestADeathAtAnyStepLeavesNothing kills connect and disconnect before each step of a write, and runs them again.
func TestADeathAtAnyStepLeavesNothing(t *testing.T) {
	for _, there := range []string{"", "{}", "{\n  \"mcpServers\": {\"other\": {\"url\": \"U\"}} // mine\n}\n"} {
		deaths := 0
		for n, died := 1, true; died; n++ {
			died = false
			a, c := newAgents(t), client(t, cursor)
			if there != "" {
				write(t, c.File(a.Machine, false), there, 0o600)
			}
			before := tree(t, a.Home)
			steps := 0
			a.hook = func() error {
				if steps++; steps == n {
					return errKilled
				}
				return nil
			}
			attempt := func(do func() error) {
				err := do()
				if errors.Is(err, errKilled) {
					died = true
					deaths++
					err = do()
				}
				must(t, err)
			}
			attempt(func() error { return a.connect(t.Context(), c, remote) })
			attempt(func() error { return a.connect(t.Context(), c, local) })
			attempt(func() error { _, err := a.WriteSkill([]byte("one"), false); return err })
			attempt(func() error { _, err := a.WriteSkill([]byte("two"), false); return err })
			attempt(func() error { _, err := a.disconnect(t.Context()); return err })
			attempt(func() error { _, err := a.RemoveSkill(false); return err })
			wantTree(t, a, before)
		}
		if deaths < 15 {
			t.Errorf("only %d deaths", deaths)
		}
	}
}
