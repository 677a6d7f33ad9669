package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

// TestTwoPublishesOfAPathTakeTurns lets one wait at its upload, and another one run meanwhile and after its death.
func TestTwoPublishesOfAPathTakeTurns(t *testing.T) {
	p := newFakeServer()
	defer p.close()
	p.mu.Lock()
	p.arrived, p.gate = make(chan string, 10), make(chan struct{})
	p.mu.Unlock()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := site(t)
	first := start(t, p, nil, "publish", dir)
	<-p.arrived

	t.Setenv("TEST_TURN", "20ms")
	lines := start(t, p, nil, "publish", dir).end(t, failure.Conflict)
	want := " is just being published by process " + strconv.Itoa(first.Process.Pid)
	if !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "error publish_in_progress: ") && strings.HasSuffix(line, want)
	}) {
		t.Errorf("stderr %q, want %q", lines, want)
	}
	other := start(t, p, nil, "publish", site(t)) // another path does not wait
	<-p.arrived
	for _, run := range []*process{first, other} {
		if err := run.Process.Signal(os.Kill); err != nil {
			t.Fatal(err)
		}
		<-run.done
		run.Wait()
	}

	close(p.gate)
	t.Setenv("TEST_TURN", "5s")
	third := start(t, p, nil, "publish", dir)
	if lines := third.end(t, failure.OK); !slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "Continues the publish that was interrupted at ")
	}) {
		t.Errorf("stderr %q", lines)
	}
}

// TestAnInterruptSaysHowToContinue ends a publish at its upload.
func TestAnInterruptSaysHowToContinue(t *testing.T) {
	p := newFakeServer()
	defer p.close()
	uploads := func(route string) bool { return route == "create" }
	run := startInterrupted(t, p, uploads, os.Interrupt, nil, "publish", site(t))
	if lines := run.end(t, failure.Interrupted); !slices.Contains(lines,
		"Run the command again within a day to continue.") {
		t.Errorf("stderr %q", lines)
	}
}
