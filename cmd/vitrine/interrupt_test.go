package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/cmd/vitrine/failure"
)

// process is a run of the program in its own process, with real signals.
type process struct {
	*exec.Cmd
	out   bytes.Buffer
	lines []string // of stderr, complete when done is closed
	done  chan struct{}
	waits chan struct{} // closed when the program says that it delays an interrupt
}

func start(t *testing.T, p *fakeServer, in io.Reader, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	run := &process{
		Cmd:   exec.CommandContext(ctx, "vitrine", args...),
		done:  make(chan struct{}),
		waits: make(chan struct{}),
	}
	if os.Getenv("XDG_STATE_HOME") == "" { // all processes of a test have the same journal
		t.Setenv("XDG_STATE_HOME", t.TempDir())
	}
	run.Env = append(os.Environ(), "VITRINE_URL="+p.api.URL, "VITRINE_API_KEY="+memberKey, "XDG_CONFIG_HOME="+t.TempDir(),
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "GORACE=atexit_sleep_ms=0")
	run.Stdin, run.Stdout = in, &run.out
	pipe, err := run.StderrPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(run.done)
		for s := bufio.NewScanner(pipe); s.Scan(); {
			if run.lines = append(run.lines, s.Text()); strings.HasPrefix(s.Text(), "Interrupted; ") {
				close(run.waits)
			}
		}
	}()
	return run
}

// end waits for the process, which must have this exit code, and returns the lines of stderr.
func (p *process) end(t *testing.T, code failure.Exit) []string {
	t.Helper()
	<-p.done
	p.Wait()
	if got := p.ProcessState.ExitCode(); got != int(code) {
		t.Errorf("exit code %d, want %d; stderr %q", got, code, p.lines)
	}
	return p.lines
}

// startInterrupted starts a process that gets a signal when the server is about to answer one of its calls, and is
// answered once it has said that it waits or has ended.
func startInterrupted(
	t *testing.T, p *fakeServer, at func(route string) bool, signal os.Signal, in io.Reader, args ...string,
) *process {
	t.Helper()
	var run *process
	started := make(chan struct{})
	p.mu.Lock() // the race detector does not know that the command starts later
	p.onCall = func(route string) {
		<-started
		if !at(route) {
			return
		}
		if err := run.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		select {
		case <-run.waits:
		case <-run.done:
		}
	}
	p.mu.Unlock()
	run = start(t, p, in, args...)
	close(started)
	return run
}

// site is a folder with one page.
func site(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "index.html"), []byte("hello"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var signals = map[os.Signal]failure.Exit{os.Interrupt: failure.Interrupted, syscall.SIGTERM: failure.Terminated}

const interrupted = "error interrupted: interrupted before the server confirmed"

func TestAnInterruptEndsAnUpload(t *testing.T) {
	for signal, code := range signals {
		t.Run(signal.String(), func(t *testing.T) {
			p := newFakeServer()
			defer p.close()
			p.arrived, p.gate = make(chan string, 10), make(chan struct{})
			run := start(t, p, nil, "publish", site(t))
			<-p.arrived
			if err := run.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if lines := run.end(t, code); !slices.Contains(lines, interrupted) {
				t.Errorf("stderr %q", lines)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if last := p.calls[len(p.calls)-1]; last != "put index.html" {
				t.Errorf("%s was called after the interrupt", last)
			}
		})
	}
}

func TestAnInterruptLeavesNoDraft(t *testing.T) {
	for _, args := range [][]string{{"publish", site(t), "--artifact-id", artifact}, {"edit", artifact, "index.html"}} {
		t.Run(args[0], func(t *testing.T) {
			p := newFakeServer()
			defer p.close()
			edits := strings.NewReader(`[{"old_string":"Two","new_string":"Three"}]`)
			finalizes := func(route string) bool { return route == "finalize" }
			run := startInterrupted(t, p, finalizes, os.Interrupt, edits, args...)
			run.end(t, failure.OK)
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.world.draft != nil || len(p.world.revisions) != 3 || !strings.Contains(run.out.String(), artifact) ||
				len(p.wrong) > 0 {
				t.Errorf("draft %v, %d revisions, stdout %q, objections %q", p.world.draft, len(p.world.revisions), &run.out,
					p.wrong)
			}
		})
	}
}

func TestAnInterruptEndsTheReadingOfEdits(t *testing.T) {
	p := newFakeServer()
	defer p.close()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	run := start(t, p, out, "edit", artifact, "index.html")
	if _, err := in.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil { // more than a pipe buffers
		t.Fatal(err)
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if lines := run.end(t, failure.Interrupted); !slices.Contains(lines, interrupted) {
		t.Errorf("stderr %q", lines)
	}
}

func TestAnInterruptEndsAWatchOnceItsRevisionIsPublished(t *testing.T) {
	for signal, code := range signals {
		t.Run(signal.String(), func(t *testing.T) {
			p := newFakeServer()
			defer p.close()
			publishes := func(route string) bool { return route == "publish" }
			run := startInterrupted(t, p, publishes, signal, nil, "watch", site(t))
			lines := run.end(t, code)
			if out := run.out.String(); !strings.HasPrefix(out, "http://app.test/v/"+artifact+"\n") ||
				!strings.HasSuffix(out, "\n"+stoppedLine+"\n") || strings.Contains(strings.Join(lines, "\n"), "error") {
				t.Errorf("stdout %q, stderr %q", out, lines)
			}
		})
	}
}
