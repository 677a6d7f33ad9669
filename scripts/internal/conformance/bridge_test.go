//go:build conformance

package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/journey/harness"
)

// bridge serves vitrine mcp, which speaks stdio, by HTTP, which the suite speaks. It passes on bodies alone, because
// stdio has no headers, and gives errors the status that the host gives them.
type bridge struct {
	program *exec.Cmd // is never started itself

	asking sync.Mutex // one message at a time, because clients of the suite use the same ids
	run    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
}

// bridged signs a person in for vitrine mcp and serves it.
func bridged(t *testing.T, p *harness.BackendEnv) string {
	t.Helper()
	home := t.TempDir()
	login := p.Command(t, home, "", "mcp", "login")
	said := harness.Must(login.StderrPipe())(t)
	harness.NoError(t, login.Start())
	consent(t, p.SignedIn(t, "ada@example.org"), said)
	harness.NoError(t, login.Wait())
	b := &bridge{program: p.Command(t, home, "", "mcp")}
	harness.NoError(t, b.start())
	t.Cleanup(func() { harness.NoError(t, b.end()) })
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// start starts the program.
func (b *bridge) start() error {
	b.run = exec.Command(b.program.Path, b.program.Args[1:]...)
	b.run.Env, b.run.Dir = b.program.Env, b.program.Dir
	in, err1 := b.run.StdinPipe()
	out, err2 := b.run.StdoutPipe()
	b.in, b.out = in, bufio.NewReader(out)
	return errors.Join(err1, err2, b.run.Start())
}

// end ends the program as clients do, by the end of its input.
func (b *bridge) end() error {
	closed := b.in.Close()
	rest, err := io.ReadAll(b.out)
	if len(rest) > 0 {
		err = fmt.Errorf("unasked it writes %.300s", rest)
	}
	return errors.Join(closed, err, b.run.Wait())
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	answer, err := b.pass(r.Body)
	var m struct{ Error *struct{ Code int } }
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	case answer == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	case json.Unmarshal(answer, &m) != nil:
		http.Error(w, "no JSON: "+string(answer), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case m.Error != nil && m.Error.Code == -32601:
		w.WriteHeader(http.StatusNotFound)
	case m.Error != nil:
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(answer)
}

// pass passes a message on and returns the answer; nil where a message gets none. It starts a new process for each
// handshake, as clients do.
func (b *bridge) pass(message io.Reader) ([]byte, error) {
	b.asking.Lock()
	defer b.asking.Unlock()
	body, err := io.ReadAll(message)
	var m, a struct {
		ID     json.RawMessage
		Method string
	}
	if err = errors.Join(err, json.Unmarshal(body, &m)); err == nil && m.Method == "initialize" {
		err = errors.Join(b.end(), b.start())
	}
	if err != nil {
		return nil, err
	}
	line := append(bytes.ReplaceAll(body, []byte("\n"), []byte(" ")), '\n')
	if _, err := b.in.Write(line); err != nil || m.ID == nil || m.Method == "" {
		return nil, err
	}
	answer, err := b.out.ReadBytes('\n')
	if err = errors.Join(err, json.Unmarshal(answer, &a)); err == nil && !bytes.Equal(a.ID, m.ID) {
		err = fmt.Errorf("%s is answered by %s", line, answer)
	}
	return answer, err
}

// ofHeaders are the scenarios with checks that look at what only headers of HTTP say: how many of these checks pass on
// the host alone, and what the suite says where they fail through vitrine mcp. A check that fails may keep others from
// being made.
var ofHeaders = map[string]struct {
	lost int
	says *regexp.Regexp
}{
	// The header alone names the revision where _meta leaves it out, or names another one than _meta. Without a header
	// the two messages that name none are of a revision with a handshake, in which the method is unknown.
	"server-stateless": {5, regexp.MustCompile(`^sep-2575-(request-meta-invalid-missing-(meta|protocol-version): ` +
		`Expected error code -32602, got -32601|http-server-meta-invalid-400: .* got status code 404|` +
		`http-server-header-mismatch-400: .* with code -32022)$`)},
	// The headers Host and Origin name a site that may not call the host.
	"dns-rebinding-protection": {1, regexp.MustCompile(`^localhost-host-rebinding-rejected: .* got 200$`)},
	// The headers with the method and the name are missing, or do not fit the message.
	"http-header-validation": {10, regexp.MustCompile(`^sep-2243-server-reject-invalid-headers: .* got 200\.`)},
	"tasks-request-headers":  {1, regexp.MustCompile(`^tasks-headers-reject-mismatched-method: .* got -32602$`)},
}

// TestScenariosPassThroughVitrineMCPAsOnTheHost covers a revision without a handshake and one with it.
func TestScenariosPassThroughVitrineMCPAsOnTheHost(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	through, host := bridged(t, p), proxied(t, p, p.NewMember(t))
	for required, score := range map[string]int{"2025-11-25": 35, revision: 70} {
		t.Run(required, func(t *testing.T) {
			got := runSuite(t, nil, "server", "--url", through, "--requirements", required)
			for name, want := range runSuite(t, nil, "server", "--url", host, "--requirements", required) {
				wantSame(t, name, got[name], want)
			}
			if passed, failed := got.total(); passed != score {
				t.Errorf("%d checks passed and %d failed; docs/mcp.md says that %d pass", passed, failed, score)
			}
		})
	}
	for _, name := range []string{"sep-2640-skills-enumeration", "sep-2640-skills-manifest"} {
		wantSame(t, name, runScenario(t, through, name), runScenario(t, host, name))
	}
}

// wantSame checks that all checks of a scenario have the result that they have on the host, except those of headers.
func wantSame(t *testing.T, scenario string, got, want *score) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is not run", scenario)
		return
	}
	headers := ofHeaders[scenario]
	var more []string
	for _, reason := range got.reasons {
		if !slices.Contains(want.reasons, reason) && (headers.lost == 0 || !headers.says.MatchString(reason)) {
			more = append(more, reason)
		}
	}
	if len(more) > 0 || got.passed != want.passed-headers.lost || headers.lost == 0 && got.failed != want.failed {
		t.Errorf("%s: %d passed and %d failed, on the host %d and %d:\n\t%s", scenario,
			got.passed, got.failed, want.passed, want.failed, strings.Join(more, "\n\t"))
	}
}
