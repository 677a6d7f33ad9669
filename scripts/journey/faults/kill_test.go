package faults

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/port"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// devStack is the process behind scripts/dev.
type devStack struct {
	base    int
	command *exec.Cmd
	api     string
}

// buildDev compiles the process behind scripts/dev once.
var buildDev = sync.OnceValues(func() (string, error) {
	return harness.BuildProgram("journey-dev", "./scripts/internal/local", "functions", "scripts/internal",
		"scripts/testkit", "shared")
})

// startDev starts the stack on its data and returns when it says that it is ready.
func startDev(t testing.TB, data string, base int) *devStack {
	t.Helper()
	program, err := buildDev()
	if err != nil {
		t.Fatal(err)
	}
	s := &devStack{base: base, api: fmt.Sprintf("http://localhost:%d", base+1)}
	s.command = exec.Command(program, "--data", data, "--ports", strconv.Itoa(base), "--limits", "off")
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	s.command.Stderr = &said
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.kill()
		harness.WantNoSecrets(t, said.String())
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "ready") {
			go io.Copy(io.Discard, out)
			return s
		}
	}
	s.command.Wait()
	t.Fatalf("the stack did not start: %s", said.String())
	return nil
}

func (s *devStack) kill() {
	s.command.Process.Kill()
	s.command.Wait()
}

func TestEveryAcknowledgedArtifactSurvivesKillingTheStack(t *testing.T) {
	data, base := t.TempDir(), port.Base(t)
	var told []contract.Published // each has its title as the text
	for range 2 {
		told = append(told, publishUntilKilled(t, startDev(t, data, base))...)
	}
	s := startDev(t, data, base)
	g := harness.Must(wire.Discover(ctx, http.DefaultClient, s.api))(t)
	for _, p := range told {
		a, err := g.Do(ctx, "GET", p.RevisionContentURL, nil)
		if err != nil || a.Status != http.StatusOK || string(a.Body) != p.Title {
			t.Errorf("an acknowledged artifact answers %d (%v)", a.Status, err)
		}
		if r, err := g.Resolve(ctx, p.UnlistedURL); err != nil || r.AgentView.RevisionID != p.RevisionID {
			t.Errorf("its link does not open: %v", err)
		}
	}
	t.Logf("%d acknowledged artifacts open after 2 kills", len(told))
	s.command.Process.Signal(syscall.SIGINT)
	harness.NoError(t, s.command.Wait())
}

// publishUntilKilled publishes with several agents, kills the stack with SIGKILL in the middle, when many were told,
// and returns what they were told of.
func publishUntilKilled(t *testing.T, s *devStack) (told []contract.Published) {
	t.Helper()
	const many = 25
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	anyone := harness.Must(wire.Discover(ctx, &http.Client{Transport: transport}, s.api))(t)
	var publishers sync.WaitGroup
	var telling sync.Mutex
	for n := range 6 {
		publishers.Go(func() {
			g, _, err := anyone.Provision(ctx)
			for i := 0; err == nil; i++ {
				text := fmt.Sprintf("publisher %d, artifact %d", n, i)
				var p contract.Published
				p, err = g.PublishFiles(ctx, text, "", wire.File{
					Path: "index.txt",
					Body: []byte(text),
				}, wire.File{Path: "more.bin", Body: harness.RandomBytes(3, 50_000)})
				if err != nil {
					return
				}
				telling.Lock()
				if told = append(told, p); len(told) == many {
					s.kill()
				}
				telling.Unlock()
			}
		})
	}
	publishers.Wait()
	if len(told) < many {
		t.Fatalf("the publishers stopped before the kill, after %d", len(told))
	}
	return told
}
