// Package stdio has the journeys of vitrine mcp, the program that agents' clients start on their machine.
package stdio

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
)

// machine is a person's machine with a home, and a project in it in which the client starts the program.
type machine struct {
	*harness.BackendEnv
	person  *harness.FakeBrowser
	home    string
	project string
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	home := harness.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	m := &machine{
		BackendEnv: p,
		person:     p.SignedIn(t, "ada@example.org"),
		home:       home,
		project:    filepath.Join(home, "project"),
	}
	m.write(t, "project/index.html", "<title>Tides</title><p>High water at six")
	return m
}

// write writes a file of the home.
func (m *machine) write(t testing.TB, name, text string) {
	t.Helper()
	file := filepath.Join(m.home, name)
	harness.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	harness.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// command prepares the program as a client starts it: in the project, with no address in the environment.
func (m *machine) command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	like := m.Command(t, m.home, "", "mcp")
	// Its end is that of its input, and not that of the context, which comes first.
	run := exec.Command(like.Path, append(append([]string{"mcp"}, args...), "--server", m.Origins.API)...)
	run.Env = append(like.Env, "VITRINE_URL=http://127.0.0.1:1", "CLAUDE_PROJECT_DIR=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	run.Dir = m.project
	return run
}

var authorize = regexp.MustCompile(`http://\S+/oauth2/authorize\?\S+`)

// signIn runs the login, and follows each address that it prints. It returns how often the person was asked.
func (m *machine) signIn(t testing.TB) (asked int) {
	t.Helper()
	login := m.command(t, "login")
	said := harness.Must(login.StderrPipe())(t)
	harness.NoError(t, login.Start())
	for lines := bufio.NewScanner(said); lines.Scan(); {
		at := authorize.FindString(lines.Text())
		if at == "" {
			continue
		}
		sent := harness.Do(t, m.Anyone, "GET", at, nil)
		page := strings.TrimPrefix(sent.Header.Get("Location"), m.Origins.App)
		answer := m.person.Send(t, "GET", page, nil, "Sec-Fetch-Site", "none")
		back := answer.Header.Get("Location")
		if answer.Status == http.StatusOK {
			asked++
			back = m.person.AllowApp(t, harness.Must(url.Parse(page))(t).Query().Get("req")).String()
		}
		shown := harness.Must(http.Get(back))(t)
		if shown.Body.Close(); shown.StatusCode != http.StatusOK {
			t.Fatalf("the program answers the browser with %d", shown.StatusCode)
		}
	}
	harness.NoError(t, login.Wait())
	return asked
}

// agentClient is a client that has started the program.
type agentClient struct {
	in      io.WriteCloser
	out     *bufio.Reader
	run     *exec.Cmd
	waiting map[string]message // answers that came before they were wanted, by id
}

type message struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	line string
}

func (m *machine) start(t testing.TB, args ...string) *agentClient {
	t.Helper()
	run := m.command(t, args...)
	c := &agentClient{
		in:      harness.Must(run.StdinPipe())(t),
		out:     bufio.NewReader(harness.Must(run.StdoutPipe())(t)),
		run:     run,
		waiting: map[string]message{},
	}
	harness.NoError(t, run.Start())
	t.Cleanup(func() { c.close(t) })
	return c
}

// close ends the program by the end of its input.
func (c *agentClient) close(t testing.TB) {
	c.in.Close()
	rest, _ := io.ReadAll(c.out)
	if len(rest) > 0 {
		t.Errorf("unasked it writes %.300s", rest)
	}
	if c.run.ProcessState == nil {
		harness.NoError(t, c.run.Wait())
	}
}

func (c *agentClient) send(t testing.TB, line string) {
	t.Helper()
	harness.Must(io.WriteString(c.in, line+"\n"))(t)
}

// next is the next message of the program, which has to be one line of JSON.
func (c *agentClient) next(t testing.TB) (m message) {
	t.Helper()
	line := harness.Must(c.out.ReadString('\n'))(t)
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("it writes %.300q: %v", line, err)
	}
	m.line = strings.TrimSpace(line)
	return m
}

// answer is the answer to the request with an id.
func (c *agentClient) answer(t testing.TB, id string) message {
	t.Helper()
	for {
		if m, ok := c.waiting[id]; ok {
			delete(c.waiting, id)
			return m
		}
		m := c.next(t)
		c.waiting[string(m.ID)] = m
	}
}

// ask sends a request and returns its answer. A revision without a handshake is named in the request.
func (c *agentClient) ask(t testing.TB, revision, id, method string, params map[string]any) message {
	t.Helper()
	c.send(t, request(t, revision, id, method, params))
	return c.answer(t, id)
}

func request(t testing.TB, revision, id, method string, params map[string]any) string {
	t.Helper()
	p := maps.Clone(params)
	if p == nil {
		p = map[string]any{}
	}
	if revision == "2026-07-28" {
		p["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    revision,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "journey", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	body := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": p}
	return string(harness.Must(json.Marshal(body))(t))
}

// greet shakes hands.
func (c *agentClient) greet(t testing.TB, revision string, capabilities map[string]any) message {
	t.Helper()
	m := c.ask(t, revision, "0", "initialize", map[string]any{
		"protocolVersion": revision,
		"capabilities":    capabilities,
		"clientInfo":      map[string]any{"name": "journey", "version": "1"},
	})
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// toolResult is the result of a tool.
type toolResult struct {
	Content []struct{ Text string }
	Value   json.RawMessage `json:"structuredContent"`
	IsError bool            `json:"isError"`
}

// failure is what a tool that failed tells.
func (r toolResult) failure(t testing.TB) (code, said string) {
	t.Helper()
	var p struct {
		Error struct{ Code, Message, Hint string }
	}
	if !r.IsError || json.Unmarshal([]byte(r.Content[0].Text), &p) != nil || p.Error.Hint == "" {
		t.Fatalf("it does not fail with a next step: %+v", r)
	}
	return p.Error.Code, p.Error.Message + ". " + p.Error.Hint
}

// call calls a tool.
func (c *agentClient) call(t testing.TB, id, tool string, args map[string]any) (r toolResult) {
	t.Helper()
	m := c.ask(t, "2025-06-18", id, "tools/call", map[string]any{"name": tool, "arguments": args})
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil {
		t.Fatalf("%s answers %s", tool, m.line)
	}
	return r
}

// stored is what the file of logins has for the program.
type stored struct {
	APIURL  string    `json:"api_url"`
	MCPURL  string    `json:"mcp_url"`
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token"`
	Expires time.Time `json:"expires_at"`
}

// credentials reads the tokens of the program, and writes those that change makes of them.
func (m *machine) credentials(t testing.TB, change func(*stored)) (s stored) {
	t.Helper()
	name := filepath.Join(m.home, ".config/vitrine/credentials.json")
	var file struct {
		Version string                     `json:"schema_version"`
		All     map[string]json.RawMessage `json:"credentials"`
	}
	harness.NoError(t, json.Unmarshal(harness.Must(os.ReadFile(name))(t), &file))
	entry := "mcp " + m.Origins.API
	harness.NoError(t, json.Unmarshal(file.All[entry], &s))
	if change != nil {
		change(&s)
		file.All[entry] = harness.Must(json.Marshal(s))(t)
		harness.NoError(t, os.WriteFile(name, harness.Must(json.Marshal(file))(t), 0o600))
	}
	return s
}
